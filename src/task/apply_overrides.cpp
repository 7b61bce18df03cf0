// Applies the keywords of a caller to an EnvSpec. They become attributes like those of the file, so both are
// read and checked by the same code. Their place in messages is "keyword reward.progress.weight".
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/text.h"
#include "task/env_spec.h"
#include "task/track/tracker.h"

namespace mvsim {
namespace {

using Path = std::vector<std::string>;

std::string dotted(const Path& path, size_t parts) {
  std::string out;
  for (size_t i = 0; i < std::min(parts, path.size()); ++i) out += (i > 0 ? "." : "") + path[i];
  return out;
}

SourceLocation keyword(const std::string& name) {
  return {std::make_shared<const std::string>("keyword " + name), 0, 0};
}

[[noreturn]] void fail(const std::string& name, const std::string& text) {
  throw WorldFileError(keyword(name), text);
}

// Checks that a path has the length of a meaningful keyword.
void require_length(const Override& change, size_t min, size_t max) {
  if (change.path.size() >= min && change.path.size() <= max) return;
  fail(dotted(change.path, change.path.size()), "found no such place in an environment file");
}

bool is_empty(const Override& change) {
  return std::holds_alternative<std::monostate>(change.value);
}

// The text of a keyword that is a field or a knob.
std::string field_text(const Override& change) {
  require_length(change, 1, 1);
  if (is_empty(change)) fail(change.path[0], "found nothing, expected a value");
  return text_of(change.value);
}

std::string shortest_text(double number) {
  char buffer[32];
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, number);
  return std::string(buffer, end);
}

double number_of(const Override& change, double min, double max) {
  const std::string text = field_text(change);
  const double* number_given = std::get_if<double>(&change.value);
  if (!number_given) fail(change.path[0], "found '" + shortened(text) + "', expected a number");
  const double number = *number_given;
  if (number >= min && number <= max) return number;
  fail(change.path[0], "found " + shortest_text(number) + ", expected a number from " + shortest_text(min) +
                           " to " + shortest_text(max));
}

int integer_of(const Override& change, int min, int max) {
  const double number = number_of(change, min, max);
  if (number != static_cast<int>(number)) fail(change.path[0], "found a number, expected an integer");
  return static_cast<int>(number);
}

OnEnd on_end_of(const Override& change) {
  const std::string text = field_text(change);
  const std::vector<std::string> names = on_end_names();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    fail("on_end", "found '" + shortened(text) + "', expected wait, respawn or end_all");
  return static_cast<OnEnd>(found - names.begin());
}

// Returns a file that the caller names. It is relative to the working folder, and its folder may be read.
std::string caller_path(EnvSpec& spec, const Override& change) {
  const std::string path = field_text(change);
  const auto refuse = [&](const std::string& reason) {
    fail(change.path[0], "found '" + shortened(path) + "', expected the path of a file" + reason);
  };
  if (path.empty()) refuse("");
  std::error_code error;
  std::string absolute = std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) refuse(": " + error.message());
  spec.roots.push_back(folder_of(absolute));
  return absolute;
}

// Sets the attribute at the end of a path whose first `parts` name the term.
void set_attribute(TermSpec& term, const Override& change, size_t parts) {
  const std::string &name = change.path[parts], place = dotted(change.path, parts);
  if (name == "class") {
    if (is_empty(change)) fail(place + ".class", "found nothing, expected the name of a class");
    const std::string text = text_of(change.value);
    if (term.params.class_name == text) return;
    term.params.class_name = text;
    term.params.where = keyword(place);
    term.params.values.clear();  // drops the attributes of the former class
    return;
  }
  std::vector<NamedText>& values = term.params.values;
  values.erase(
      std::remove_if(values.begin(), values.end(), [&](const NamedText& v) { return v.name == name; }),
      values.end());
  if (!is_empty(change)) values.push_back({name, text_of(change.value), keyword(place + "." + name)});
}

// Makes a term with a name that the file does not have. `identity` is the attribute that holds the name;
// nullptr: the tag is the name.
TermSpec new_term(const Override& change, const char* identity) {
  TermSpec term;
  term.name = change.path[1];
  term.params.tag = identity ? change.path[0] : term.name;
  term.params.where = keyword(dotted(change.path, 2));
  if (!identity) return term;
  if (std::string_view(identity) == "class") term.params.class_name = term.name;
  term.params.values.push_back({identity, term.name, term.params.where});
  return term;
}

[[noreturn]] void fail_no_term(const Override& change, const std::vector<TermSpec>& terms) {
  fail(dotted(change.path, 2),
       "found no term '" + change.path[1] + "' to leave out" + did_you_mean(change.path[1], names_in(terms)));
}

void edit_terms(std::vector<TermSpec>& terms, const char* identity, const Override& change) {
  require_length(change, is_empty(change) ? 1 : 2, 3);
  if (change.path.size() == 1) {
    terms.clear();
    return;
  }
  auto it =
      std::find_if(terms.begin(), terms.end(), [&](const TermSpec& t) { return t.name == change.path[1]; });
  if (change.path.size() == 2 && is_empty(change)) {
    if (it == terms.end()) fail_no_term(change, terms);
    terms.erase(it);
    return;
  }
  if (const std::string text = text_of(change.value); change.path.size() == 2 && !text.empty())
    fail(dotted(change.path, 2), "found '" + shortened(text) + "', expected a dict of attributes");
  if (it == terms.end()) {
    append_term(terms, new_term(change, identity));
    it = terms.end() - 1;
  }
  if (change.path.size() == 3) set_attribute(*it, change, 2);
}

// Edits movers. <people> and <move> share one list; a new element gets the tag of the keyword.
void edit_movers(std::vector<TermSpec>& terms, const Override& change) {
  const std::string& tag = change.path[0];
  require_length(change, is_empty(change) ? 1 : 2, 3);
  if (change.path.size() == 1) {
    std::erase_if(terms, [&](const TermSpec& t) { return t.params.tag == tag; });
    return;
  }
  const auto it =
      std::find_if(terms.begin(), terms.end(), [&](const TermSpec& t) { return t.name == change.path[1]; });
  if (it != terms.end() && it->params.tag != tag)
    fail(dotted(change.path, 2),
         "found the name of a <" + it->params.tag + ">, expected that of a <" + tag + ">");
  edit_terms(terms, "name", change);
}

// Changes attributes of the one element that declares a tracker. A keyword may also add it or leave it out.
void edit_tracker(EnvSpec& spec, const Override& change) {
  const std::string& tag = change.path[0];
  require_length(change, 1, 2);
  const auto it = std::ranges::find_if(spec.trackers, [&](const TermSpec& t) { return t.params.tag == tag; });
  if (change.path.size() == 1) {
    if (!is_empty(change)) fail(tag, "found a value, expected a dict of attributes");
    if (it != spec.trackers.end()) spec.trackers.erase(it);
    return;
  }
  if (it != spec.trackers.end()) return set_attribute(*it, change, 1);
  TermSpec& added = spec.trackers.emplace_back();
  added.params.tag = tag;
  added.params.where = keyword(tag);
  set_attribute(added, change, 1);
}

struct Field {
  const char* name;
  const char* kind;  // as keyword_kinds() has it
  void (*set)(EnvSpec& spec, const Override& change);
};

const Field kFields[] = {
    {"world", "path",
     [](EnvSpec& s, const Override& c) {
       s.world = {"world", caller_path(s, c), keyword("world")};
     }},
    {"centreline", "path",
     [](EnvSpec& s, const Override& c) {
       s.centreline = {"centreline", caller_path(s, c), keyword("centreline")};
     }},
    {"variants", "number",
     [](EnvSpec& s, const Override& c) { s.variants = integer_of(c, 1, kMaxVariants); }},
    {"world_seed", "number",
     [](EnvSpec& s, const Override& c) { s.world_seed = number_of(c, 0, kMaxWorldSeed); }},
    {"control_period", "number",
     [](EnvSpec& s, const Override& c) {
       s.control_period = number_of(c, kShortestControlPeriod, kLongestControlPeriod);
       s.control_where = keyword("control_period");
     }},
    {"time_limit", "number",
     [](EnvSpec& s, const Override& c) { s.time_limit = number_of(c, 0, kMaxNumber); }},
    {"substeps", "number",
     [](EnvSpec& s, const Override& c) {
       s.substeps = integer_of(c, 1, kMaxSubsteps);
       s.control_where = keyword("substeps");
     }},
    {"on_end", "value", [](EnvSpec& s, const Override& c) { s.on_end = on_end_of(c); }},
    {"vehicle", "text",
     [](EnvSpec& s, const Override& c) {
       if (s.agents.size() > 1 || !s.agents[0].vehicles.empty())
         fail("vehicle", "found a text, expected no such keyword where there are several agents");
       s.agents[0].vehicle = field_text(c);
       s.agents[0].vehicle_where = keyword("vehicle");
     }},
    {"action", "action",
     [](EnvSpec& s, const Override& c) {
       require_length(c, 2, 2);
       for (AgentSpec& agent : s.agents) set_attribute(agent.action, c, 1);
     }},
    {"observe", "terms",
     [](EnvSpec& s, const Override& c) {
       for (AgentSpec& agent : s.agents) edit_terms(agent.observations, "class", c);
     }},
    {"reset", "terms", [](EnvSpec& s, const Override& c) { edit_terms(s.resets, nullptr, c); }},
    {"reward", "terms",
     [](EnvSpec& s, const Override& c) {
       for (AgentSpec& agent : s.agents) edit_terms(agent.rewards, "class", c);
     }},
    {"terminate", "terms",
     [](EnvSpec& s, const Override& c) {
       for (AgentSpec& agent : s.agents) edit_terms(agent.terminations, "class", c);
     }},
    {"randomize", "terms",
     [](EnvSpec& s, const Override& c) {
       if (c.path.size() == 1)
         s.randomize_level = {"level", is_empty(c) ? "none" : text_of(c.value), keyword("randomize")};
       if (c.path.size() > 1 || is_empty(c)) edit_terms(s.randomizations, "of", c);
     }},
    {"people", "terms", [](EnvSpec& s, const Override& c) { edit_movers(s.movers, c); }},
    {"move", "terms", [](EnvSpec& s, const Override& c) { edit_movers(s.movers, c); }},
};

void set_knob(EnvSpec& spec, KnobSpec& knob, const Override& change, bool first) {
  knob.value.where = keyword(knob.value.name);
  if (!knob.is_file) {
    knob.value.text = field_text(change);
    return;
  }
  if (first) knob.choices.clear();
  knob.choices.push_back(caller_path(spec, change));
  knob.value.text = knob.choices.front();
}

void apply(EnvSpec& spec, const Override& change, bool first) {
  const std::string& name = change.path.at(0);
  for (const Field& field : kFields)
    if (field.name == name) return field.set(spec, change);
  const std::vector<std::string> tags = tracker_tags();
  if (std::ranges::find(tags, name) != tags.end()) return edit_tracker(spec, change);
  for (KnobSpec& knob : spec.knobs)
    if (knob.value.name == name) return set_knob(spec, knob, change, first);
  throw UnknownKeyword("unknown keyword '" + name + "'" + did_you_mean(name, override_names(spec)));
}

}  // namespace

std::string text_of(const OverrideValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const double* number = std::get_if<double>(&value)) return shortest_text(*number);
  if (const std::string* text = std::get_if<std::string>(&value)) return *text;
  std::string out;
  if (const auto* items = std::get_if<std::vector<std::variant<double, std::string>>>(&value))
    for (const auto& item : *items) {
      const double* number = std::get_if<double>(&item);
      out += (&item == items->data() ? "" : " ") +
             (number ? shortest_text(*number) : std::get<std::string>(item));
    }
  return out;
}

std::vector<std::string> field_names() {
  std::vector<std::string> names = names_in(kFields);
  for (std::string& tag : tracker_tags()) names.push_back(std::move(tag));
  return names;
}

std::vector<std::pair<std::string, std::string_view>> keyword_kinds(const EnvSpec& spec) {
  std::vector<std::pair<std::string, std::string_view>> out;
  for (const Field& f : kFields) out.emplace_back(f.name, f.kind);
  for (std::string& tag : tracker_tags()) out.emplace_back(std::move(tag), "tracker");
  for (const KnobSpec& knob : spec.knobs) out.emplace_back(knob.value.name, knob.is_file ? "file" : "knob");
  return out;
}

std::vector<std::string> override_names(const EnvSpec& spec) {
  std::vector<std::string> names;
  for (auto& [name, kind] : keyword_kinds(spec)) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> keywords_of(const std::vector<Override>& overrides) {
  std::vector<std::string> names;
  for (const Override& change : overrides)
    if (std::find(names.begin(), names.end(), change.path[0]) == names.end()) names.push_back(change.path[0]);
  return names;
}

void apply_overrides(EnvSpec& spec, const std::vector<Override>& overrides) {
  if (overrides.empty()) return;
  if (!spec.as_written) spec.as_written = std::make_shared<const EnvSpec>(spec);
  for (auto it = overrides.begin(); it != overrides.end(); ++it) {
    const bool first = std::none_of(overrides.begin(), it,
                                    [&](const Override& other) { return other.path[0] == it->path.at(0); });
    apply(spec, *it, first);
    spec.overrides.push_back(*it);
  }
  for (const AgentSpec& agent : spec.agents)
    if (agent.observations.empty())
      fail("observe",
           "leaves out every observation, expected at least one, as in observe={\"goal\": True} or in the "
           "environment file");
}

}  // namespace mvsim
