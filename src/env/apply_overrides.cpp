// Keywords of a caller become attributes like those of the file, so both are read and judged in one way.
// Their "place" in messages is "keyword reward.progress.weight".
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "env/env_spec.h"

namespace mvsim {
namespace {

using Kind = OverrideValue::Kind;

SourceLocation keyword(const std::string& path) {
  return {std::make_shared<const std::string>("keyword " + path), 0, 0};
}

[[noreturn]] void fail(const std::string& path, const OverrideValue& value, const std::string& expected) {
  static constexpr const char* kKinds[] = {"None", "a bool", "a number", "a text", "a list", "a dict"};
  throw WorldFileError(
      keyword(path), std::string("found ") + kKinds[static_cast<int>(value.kind)] + ", expected " + expected);
}

std::string number_text(double number) {
  char buffer[32];
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, number);
  return std::string(buffer, end);
}

// A value as it would stand in an attribute: lists become numbers with blanks between them.
std::string attribute_text(const std::string& path, const OverrideValue& value) {
  switch (value.kind) {
    case Kind::kBool:
      return value.boolean ? "true" : "false";
    case Kind::kNumber:
      return number_text(value.number);
    case Kind::kText:
      return value.text;
    case Kind::kList: {
      std::string out;
      for (const OverrideValue& item : value.items) {
        if (item.kind != Kind::kNumber && item.kind != Kind::kText)
          fail(path, item, "numbers or texts in the list");
        out += (out.empty() ? "" : " ") + attribute_text(path, item);
      }
      return out;
    }
    default:
      fail(path, value, "a number, bool, text or list");
  }
}

void set_attribute(TermSpec& term, const std::string& path, const std::string& name,
                   const OverrideValue& value) {
  std::vector<NamedText>& values = term.params.values;
  const auto same = [&](const NamedText& v) { return v.name == name; };
  values.erase(std::remove_if(values.begin(), values.end(), same), values.end());
  if (value.kind == Kind::kNone) return;  // back to the default
  const std::string full = path + "." + name;
  values.push_back({name, attribute_text(full, value), keyword(full)});
}

// How terms of one tag are told apart and what a bare value (no dict) sets.
struct Family {
  const char* tag;
  const char* identity;   // attribute that a new term's name is
  const char* shorthand;  // attribute that a bare value sets, nullptr: none
};

void set_identity(TermSpec& term, const Family& family) {
  if (std::string_view(family.identity) == "class") term.params.class_name = term.name;
  term.params.values.insert(term.params.values.begin(), {family.identity, term.name, term.params.where});
}

void set_class(TermSpec& term, const std::string& path, const OverrideValue& value) {
  if (value.kind != Kind::kText) fail(path + ".class", value, "the name of a class");
  if (term.params.class_name == value.text) return;
  term.params.class_name = value.text;
  term.params.where = keyword(path);
  term.params.values.clear();  // attributes of another class
}

void edit_term(TermSpec& term, const std::string& path, const Family& family, const OverrideValue& value) {
  if (value.kind == Kind::kDict) {
    for (size_t i = 0; i < value.keys.size(); ++i)
      if (value.keys[i] == "class") set_class(term, path, value.items[i]);
    for (size_t i = 0; i < value.keys.size(); ++i)
      if (value.keys[i] != "class") set_attribute(term, path, value.keys[i], value.items[i]);
  } else if (value.kind != Kind::kBool) {
    if (!family.shorthand) fail(path, value, "a dict of attributes, or False to leave it out");
    set_attribute(term, path, family.shorthand, value);
  }
}

[[noreturn]] void fail_no_term(const std::string& path, const std::string& name,
                               const std::vector<TermSpec>& terms) {
  std::vector<std::string> known(terms.size());
  std::transform(terms.begin(), terms.end(), known.begin(), [](const TermSpec& t) { return t.name; });
  throw WorldFileError(keyword(path),
                       "found no term '" + name + "' to leave out" + did_you_mean(name, known));
}

void edit_terms(std::vector<TermSpec>& terms, const Family& family, const std::string& path,
                const OverrideValue& value) {
  if (value.kind == Kind::kBool && !value.boolean) {
    terms.clear();
    return;
  }
  if (value.kind != Kind::kDict) fail(path, value, "a dict from the names of terms to values");
  for (size_t i = 0; i < value.keys.size(); ++i) {
    const std::string& name = value.keys[i];
    const OverrideValue& item = value.items[i];
    std::string where = path;
    where.append(".").append(name);
    const auto it =
        std::find_if(terms.begin(), terms.end(), [&](const TermSpec& t) { return t.name == name; });
    if (item.kind == Kind::kNone || (item.kind == Kind::kBool && !item.boolean)) {
      if (it == terms.end()) fail_no_term(where, name, terms);
      terms.erase(it);
      continue;
    }
    if (it != terms.end()) {
      edit_term(*it, where, family, item);
      continue;
    }
    TermSpec added;
    added.name = name;
    added.params.tag = family.tag;
    added.params.where = keyword(where);
    set_identity(added, family);
    edit_term(added, where, family, item);
    append_term(terms, std::move(added));
  }
}

constexpr Family kAction{"action", "class", nullptr};
constexpr Family kObserve{"observe", "class", nullptr};
constexpr Family kReset{"", "", nullptr};
constexpr Family kReward{"reward", "class", "weight"};
constexpr Family kTerminate{"terminate", "class", nullptr};
constexpr Family kRandomize{"randomize", "of", "scale"};

// Reset terms are told apart by their tag.
void edit_resets(EnvSpec& spec, const OverrideValue& value) {
  if (value.kind == Kind::kDict) {
    for (size_t i = 0; i < value.keys.size(); ++i) {
      const std::string& name = value.keys[i];
      const OverrideValue& item = value.items[i];
      if (item.kind == Kind::kNone || (item.kind == Kind::kBool && !item.boolean)) continue;
      const bool known = std::any_of(spec.resets.begin(), spec.resets.end(),
                                     [&](const TermSpec& t) { return t.name == name; });
      if (known) continue;
      TermSpec added;
      added.name = name;
      added.params.tag = name;
      added.params.where = keyword("reset." + name);
      append_term(spec.resets, std::move(added));
    }
  }
  edit_terms(spec.resets, kReset, "reset", value);
}

double number_of(const std::string& name, const OverrideValue& value, double min, double max) {
  if (value.kind != Kind::kNumber) fail(name, value, "a number");
  if (value.number >= min && value.number <= max) return value.number;
  throw WorldFileError(keyword(name), "found " + number_text(value.number) + ", expected a number from " +
                                          number_text(min) + " to " + number_text(max));
}

int integer_of(const std::string& name, const OverrideValue& value, int min, int max) {
  const double number = number_of(name, value, min, max);
  if (number != static_cast<int>(number)) fail(name, value, "an integer");
  return static_cast<int>(number);
}

const std::string& text_of(const std::string& name, const OverrideValue& value) {
  if (value.kind != Kind::kText) fail(name, value, "a text");
  return value.text;
}

// A file that the caller names: relative to the working folder, and its folder may be read.
std::string caller_path(EnvSpec& spec, const char* name, const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    throw WorldFileError(keyword(name),
                         "found '" + shortened(path) + "', expected the path of a file" + reason);
  };
  if (path.empty()) refuse("");
  std::error_code error;
  std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) refuse(": " + error.message());
  spec.roots.push_back(folder_of(absolute));
  return absolute;
}

struct Field {
  const char* name;
  void (*set)(EnvSpec& spec, const OverrideValue& value);
};

const Field kFields[] = {
    {"world",
     [](EnvSpec& s, const OverrideValue& v) {
       s.world = {"world", caller_path(s, "world", text_of("world", v)), keyword("world")};
     }},
    {"variants", [](EnvSpec& s, const OverrideValue& v) { s.variants = integer_of("variants", v, 1, 1000); }},
    {"world_seed",
     [](EnvSpec& s, const OverrideValue& v) {
       s.world_seed = number_of("world_seed", v, 0, 9007199254740992.0);
     }},
    {"control_period",
     [](EnvSpec& s, const OverrideValue& v) {
       s.control_period = number_of("control_period", v, kShortestControlPeriod, kLongestControlPeriod);
       s.control_where = keyword("control_period");
     }},
    {"time_limit",
     [](EnvSpec& s, const OverrideValue& v) {
       s.time_limit = v.kind == Kind::kNone ? 0 : number_of("time_limit", v, 0, kMostNumber);
     }},
    {"substeps",
     [](EnvSpec& s, const OverrideValue& v) {
       s.substeps = integer_of("substeps", v, 1, 1000000);
       s.control_where = keyword("substeps");
     }},
    {"vehicle",
     [](EnvSpec& s, const OverrideValue& v) {
       if (s.agents.size() > 1) fail("vehicle", v, "no such keyword where there are several agents");
       s.agents[0].vehicle = text_of("vehicle", v);
       s.agents[0].vehicle_where = keyword("vehicle");
     }},
    {"action",
     [](EnvSpec& s, const OverrideValue& v) {
       if (v.kind != Kind::kDict) fail("action", v, "a dict of attributes (an agent has one action)");
       for (AgentSpec& agent : s.agents) edit_term(agent.action, "action", kAction, v);
     }},
    {"observe",
     [](EnvSpec& s, const OverrideValue& v) {
       for (AgentSpec& agent : s.agents) {
         edit_terms(agent.observations, kObserve, "observe", v);
         if (agent.observations.empty())
           throw WorldFileError(
               keyword("observe"),
               "leaves out every observation, expected at least one, as in observe={\"goal\": "
               "True} or in the environment file");
       }
     }},
    {"reset", [](EnvSpec& s, const OverrideValue& v) { edit_resets(s, v); }},
    {"reward",
     [](EnvSpec& s, const OverrideValue& v) {
       for (AgentSpec& agent : s.agents) edit_terms(agent.rewards, kReward, "reward", v);
     }},
    {"terminate",
     [](EnvSpec& s, const OverrideValue& v) {
       for (AgentSpec& agent : s.agents) edit_terms(agent.terminations, kTerminate, "terminate", v);
     }},
    {"randomize",
     [](EnvSpec& s, const OverrideValue& v) { edit_terms(s.randomizations, kRandomize, "randomize", v); }},
};

// Several files: a world is compiled for each.
void set_files(EnvSpec& spec, KnobSpec& knob, const std::string& name, const OverrideValue& value) {
  if (value.kind == Kind::kList && value.items.empty())
    throw WorldFileError(keyword(name), "found an empty list, expected one file or several");
  const std::vector<OverrideValue> items = value.kind == Kind::kList ? value.items : std::vector{value};
  knob.choices.clear();
  for (const OverrideValue& item : items) {
    if (item.kind != Kind::kText) fail(name, item, "the path of a file, or a list of some");
    knob.choices.push_back(caller_path(spec, name.c_str(), item.text));
  }
  knob.value.text = knob.choices.front();
}

bool set_knob(EnvSpec& spec, const std::string& name, const OverrideValue& value) {
  for (KnobSpec& knob : spec.knobs) {
    if (knob.value.name != name) continue;
    if (knob.is_file) {
      set_files(spec, knob, name, value);
      knob.value.where = keyword(name);
      return true;
    }
    knob.value.text = attribute_text(name, value);
    knob.value.where = keyword(name);
    return true;
  }
  return false;
}

}  // namespace

OverrideValue OverrideValue::of(bool value) {
  OverrideValue out;
  out.kind = Kind::kBool;
  out.boolean = value;
  return out;
}

OverrideValue OverrideValue::of(double value) {
  OverrideValue out;
  out.kind = Kind::kNumber;
  out.number = value;
  return out;
}

OverrideValue OverrideValue::of(std::string value) {
  OverrideValue out;
  out.kind = Kind::kText;
  out.text = std::move(value);
  return out;
}

OverrideValue OverrideValue::list(std::vector<OverrideValue> items) {
  OverrideValue out;
  out.kind = Kind::kList;
  out.items = std::move(items);
  return out;
}

OverrideValue OverrideValue::dict(const std::vector<std::pair<std::string, OverrideValue>>& items) {
  OverrideValue out;
  out.kind = Kind::kDict;
  for (const auto& [key, item] : items) {
    out.keys.push_back(key);
    out.items.push_back(item);
  }
  return out;
}

std::vector<std::string> override_names(const EnvSpec& spec) {
  std::vector<std::string> names;
  for (const Field& f : kFields) names.emplace_back(f.name);
  for (const KnobSpec& knob : spec.knobs) names.push_back(knob.value.name);
  return names;
}

void apply_overrides(EnvSpec& spec, const OverrideValue& overrides) {
  if (overrides.kind != Kind::kDict) throw Error("overrides: expected a dict");
  if (!overrides.keys.empty() && !spec.as_written) spec.as_written = std::make_shared<const EnvSpec>(spec);
  for (size_t i = 0; i < overrides.keys.size(); ++i) {
    const std::string& name = overrides.keys[i];
    spec.keywords.push_back(name);
    const auto* field =
        std::find_if(std::begin(kFields), std::end(kFields), [&](const Field& f) { return f.name == name; });
    if (field != std::end(kFields)) {
      field->set(spec, overrides.items[i]);
      continue;
    }
    if (set_knob(spec, name, overrides.items[i])) continue;
    throw UnknownKeyword("unknown keyword '" + name + "'" + did_you_mean(name, override_names(spec)));
  }
}

}  // namespace mvsim
