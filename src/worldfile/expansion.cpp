#include "worldfile/expansion.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "worldfile/expression.h"

namespace mvsim {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr std::string_view kFolderName = "MVSIM_CURRENT_FILE_DIRECTORY";
constexpr int kMaxPasses = 10;

// Offset of the brace that closes the one before `from`, inner pairs skipped.
size_t closing_brace(std::string_view text, size_t from) {
  int depth = 1;
  for (size_t i = from; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return kNone;
}

// A world may read only these environment variables, so that it cannot read secrets of the user.
const char* allowed_environment(std::string_view name) {
  return name.starts_with("MVSIM_") ? std::getenv(std::string(name).c_str()) : nullptr;
}

struct Reference {
  std::string_view name, fallback;  // an empty fallback is none
};

Reference parse_reference(std::string_view inner) {
  const size_t bar = inner.find('|');
  return bar == kNone ? Reference{inner, {}} : Reference{inner.substr(0, bar), inner.substr(bar + 1)};
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<std::string> some_names(const NamedValues& values, const Scope& scope) {
  constexpr size_t kMost = 500;
  std::vector<std::string> out;
  for (const NamedValues* from : {&scope, &values})
    for (const auto& [name, value] : *from)
      if (out.size() < kMost) out.push_back(name);
  return out;
}

}  // namespace

Expander::Expander(uint64_t world_seed, Budget& budget)
    : budget_(budget), random_(world_seed, 0, StreamPurpose::kWorldExpression) {
  set_variable("MVSIM_WORLD_SEED", std::to_string(world_seed));
}

void Expander::set_variable(const std::string& name, std::string value) {
  by_lower_name_[lower_case(name)] = value;
  variables_[name] = std::move(value);
}

bool Expander::has_asked_for(std::string_view variable) const {
  return asked_.contains(lower_case(variable));
}

std::vector<std::string> Expander::asked_names() const {
  std::vector<std::string> out;
  constexpr size_t kMax = 500;  // for suggestions, whose cost is bounded so
  for (const auto& [lower_name, name] : asked_)
    if (out.size() < kMax) out.push_back(name);
  return out;
}

const std::string* Expander::find_variable(std::string_view name) {
  asked_.emplace(lower_case(name), name);
  const auto variable = variables_.find(name);
  return variable == variables_.end() ? nullptr : &variable->second;
}

const std::string* Expander::find(std::string_view name, const Scope& scope) {
  if (const auto local = scope.find(name); local != scope.end()) return &local->second;
  return name == kFolderName ? &folder_ : find_variable(name);
}

void Expander::fail_undefined(std::string_view name, const Scope& scope, const SourceLocation& where) const {
  const std::vector<std::string> names = some_names(variables_, scope);
  std::string known;
  for (size_t i = 0; i < std::min<size_t>(names.size(), 20); ++i)
    known += (i == 0 ? "" : ", ") + shortened(names[i]);
  throw WorldFileError(where, "the variable '" + shortened(name) + "' is not defined" +
                                  did_you_mean(name, names) + " (known: " + (known.empty() ? "none" : known) +
                                  (names.size() > 20 ? ", ...)" : ")"));
}

// --- Layer B ---

std::string Expander::expand(std::string_view text, const Scope& scope, const SourceLocation& where) {
  budget_.text(text.size(), where);
  std::string now(text);
  for (int pass = 0; now.find('$') != std::string::npos; ++pass) {
    std::string next = expand_references(now, scope, where);
    next = expand_environment(next, where);
    if (const size_t command = next.find("$("); command != std::string::npos)
      throw WorldFileError(
          where, "running the command '" +
                     shortened(next.substr(command + 2, next.find(')', command) - command - 2), 200) +
                     "' is refused: a world file never runs programs");
    next = expand_expressions(next, scope, where);
    if (next == now) break;
    if (pass == kMaxPasses)
      throw WorldFileError(where, "'" + shortened(text) + "' still changes after " +
                                      std::to_string(kMaxPasses) + " rounds of expansion");
    now = std::move(next);
  }
  return now;
}

std::string Expander::expand_references(const std::string& text, const Scope& scope,
                                        const SourceLocation& where) {
  std::string out;
  size_t copied = 0;
  for (size_t at = text.find("${"); at != std::string::npos; at = text.find("${", copied)) {
    const size_t end = closing_brace(text, at + 2);
    if (end == kNone) throw WorldFileError(where, "'" + shortened(text.substr(at)) + "' has no closing '}'");
    const Reference reference = parse_reference(std::string_view(text).substr(at + 2, end - at - 2));
    out.append(text, copied, at - copied);
    const size_t before = out.size();
    if (const std::string* value = find(reference.name, scope))
      out += *value;
    else if (!reference.fallback.empty())
      out += reference.fallback;
    else
      fail_undefined(reference.name, scope, where);
    budget_.expanded(out.size() - before, where);
    copied = end + 1;
  }
  out.append(text, copied);
  return out;
}

std::string Expander::expand_environment(const std::string& text, const SourceLocation& where) {
  constexpr std::string_view kOpen = "$env{";
  std::string out;
  size_t copied = 0;
  for (size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, copied)) {
    const size_t start = at + kOpen.size(), end = text.find('}', start);
    if (end == std::string::npos)
      throw WorldFileError(where, "'" + shortened(text.substr(at)) + "' has no closing '}'");
    const std::string name = text.substr(start, end - start);
    if (!name.starts_with("MVSIM_"))
      throw WorldFileError(where, "the environment variable '" + shortened(name) +
                                      "' may not be read: only names that begin with MVSIM_");
    const char* value = allowed_environment(name);
    if (!value) throw WorldFileError(where, "the environment variable '" + shortened(name) + "' is not set");
    if (find_not_text(value) != kNone)
      throw WorldFileError(where, "the environment variable '" + shortened(name) + "' is not UTF-8 text");
    out.append(text, copied, at - copied);
    budget_.expanded(std::string_view(value).size(), where);
    out += value;
    copied = end + 1;
  }
  out.append(text, copied);
  return out;
}

// The innermost of nested $f{$f{}} first; all of them, left to right.
std::string Expander::expand_expressions(const std::string& text, const Scope& scope,
                                         const SourceLocation& where) {
  constexpr std::string_view kOpen = "$f{";
  std::string out;
  size_t copied = 0;
  for (size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, copied)) {
    const size_t end = text.find('}', at);
    if (end == std::string::npos)
      throw WorldFileError(where, "'" + shortened(text.substr(at)) + "' has no closing '}'");
    at = text.rfind(kOpen, end);
    const size_t start = at + kOpen.size();
    out.append(text, copied, at - copied);
    const std::string value = evaluate(std::string_view(text).substr(start, end - start), scope, where);
    budget_.expanded(value.size(), where);
    out += value;
    copied = end + 1;
  }
  out.append(text, copied);
  return out;
}

std::string Expander::evaluate(std::string_view expression, const Scope& scope, const SourceLocation& where) {
  const VariableText variable = [&](const std::string& lower_name) -> const std::string* {
    for (const auto& [name, value] : scope)
      if (lower_case(name) == lower_name) return &value;
    asked_.emplace(lower_name, lower_name);
    const auto found = by_lower_name_.find(lower_name);
    return found == by_lower_name_.end() ? nullptr : &found->second;
  };
  try {
    return number_text(evaluate_expression(expression, variable, random_));
  } catch (const ExpressionError& e) {
    std::string hint;
    if (!e.unknown_name().empty()) {
      std::vector<std::string> names = some_names(variables_, scope);
      for (std::string& name : expression_function_names()) names.push_back(std::move(name));
      hint = did_you_mean(e.unknown_name(), names);
    }
    throw WorldFileError(where, "$f{" + shortened(expression) + "}: " + shortened(e.what(), 200) + hint);
  }
}

// --- Layer A ---

// The text that stands for `${inner}`, escaped when it goes into XML text; false when there is none.
bool Expander::parameter_text(std::string_view inner, const IncludeParameters& parameters, bool is_xml,
                              Active& active, int depth, const SourceLocation& where, std::string& out) {
  const auto [name, fallback] = parse_reference(inner);
  if (parameters.keep_names && (name == "NAME" || name == "PARENT_NAME")) return false;
  if (depth > kMaxExpansionDepth)
    throw WorldFileError(
        where, "'${" + shortened(inner) + "}' is nested deeper than " + std::to_string(kMaxExpansionDepth));
  const std::string* value = nullptr;
  const auto parameter = parameters.values.find(name);
  // a parameter X="${X}" means the world's variable X
  const bool is_active = std::find(active.begin(), active.end(), name) != active.end();
  const char* environment = nullptr;
  if (parameter != parameters.values.end() && !is_active)
    value = &parameter->second;
  else if (name == kFolderName)
    value = &parameters.folder;
  else if (const std::string* variable = find_variable(name))
    value = variable;
  else
    environment = allowed_environment(name);
  if (value) {
    active.push_back(name);
    out = substitute_value(*value, parameters, false, active, depth, where);
    active.pop_back();
    if (is_xml) out = xml_escaped(out);
  } else if (environment) {
    out = is_xml ? xml_escaped(environment) : environment;
  } else if (!fallback.empty()) {
    out = substitute_value(fallback, parameters, is_xml, active, depth, where);
  } else {
    return false;
  }
  budget_.expanded(out.size(), where);
  return true;
}

std::string Expander::substitute_value(std::string_view text, const IncludeParameters& parameters,
                                       bool is_xml, Active& active, int depth, const SourceLocation& where) {
  std::string out, value;
  size_t copied = 0;
  for (size_t at = text.find("${"); at != kNone; at = text.find("${", copied)) {
    const size_t end = closing_brace(text, at + 2);
    if (end == kNone) throw WorldFileError(where, "'" + shortened(text.substr(at)) + "' has no closing '}'");
    out.append(text.substr(copied, at - copied));
    if (parameter_text(text.substr(at + 2, end - at - 2), parameters, is_xml, active, depth + 1, where,
                       value))
      out += value;
    else
      out.append(text.substr(at, end + 1 - at));
    copied = end + 1;
  }
  out.append(text.substr(copied));
  return out;
}

EditedText Expander::substitute(const SourceText& file, const IncludeParameters& parameters) {
  const std::string_view text = file.text();
  EditedText out;
  out.text.reserve(text.size());
  size_t copied = 0;
  const auto copy_to = [&](size_t end) {
    out.map.add(out.text.size(), copied, true);
    out.text.append(text.substr(copied, end - copied));
    copied = end;
  };
  Active active;
  std::string value;
  size_t at = 0;
  for (size_t i = 0; i < text.size();) {
    if (at <= i) at = std::min(text.find("${", i), text.size());
    const size_t comment = text.substr(0, at).find("<!--", i);
    if (comment != kNone) {
      const size_t end = text.find("-->", comment);
      i = end == kNone ? text.size() : end + 3;
      continue;
    }
    if (at == text.size()) break;
    const SourceLocation where = file.where(at);
    const size_t end = closing_brace(text, at + 2);
    if (end == kNone) throw WorldFileError(where, "'" + shortened(text.substr(at)) + "' has no closing '}'");
    if (parameter_text(text.substr(at + 2, end - at - 2), parameters, true, active, 0, where, value)) {
      copy_to(at);
      out.map.add(out.text.size(), at, false);
      out.text += value;
      copied = end + 1;
    }
    i = end + 1;
  }
  copy_to(text.size());
  return out;
}

}  // namespace mvsim
