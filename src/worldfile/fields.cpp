#include "worldfile/fields.h"

#include <algorithm>

#include "base/text.h"

namespace mvsim {
namespace {

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The first text directly inside the element; a second one (after a comment or a child) would be lost
// silently.
const char* raw_text(LoadState& state, const Element& e) {
  const char* text = nullptr;
  for (const pugi::xml_node& child : e.node.children()) {
    if (child.type() != pugi::node_pcdata && child.type() != pugi::node_cdata) continue;
    if (text)
      state.warnings.add(
          "split text " + std::string(e.tag()), e.where(),
          "<" + std::string(e.tag()) + ">: only the text before the comment or tag inside is read");
    else
      text = child.value();
  }
  return text ? text : "";
}

}  // namespace

NamedText text_of(LoadState& state, const Element& e, const Scope& scope) {
  const SourceLocation where = e.where();
  return {std::string(e.tag()), state.expander.expand(raw_text(state, e), scope, where), where};
}

NamedText text_of(LoadState& state, const Element& e, const pugi::xml_attribute& attribute,
                  const Scope& scope) {
  const SourceLocation where = e.where(attribute);
  return {attribute.name(), state.expander.expand(attribute.value(), scope, where), where};
}

std::optional<NamedText> attribute_of(LoadState& state, const Element& e, const char* name,
                                      const Scope& scope) {
  const pugi::xml_attribute attribute = e.node.attribute(name);
  if (!attribute) return std::nullopt;
  return text_of(state, e, attribute, scope);
}

NamedText required_attribute(LoadState& state, const Element& e, const char* name, const Scope& scope) {
  std::optional<NamedText> value = attribute_of(state, e, name, scope);
  if (value) value->text = trimmed(value->text);
  if (!value || value->text.empty())
    throw WorldFileError(value ? value->where : e.where(),
                         "<" + std::string(e.tag()) + "> has no " + name + ", expected " + name + "=\"...\"");
  return *value;
}

std::optional<NamedText> object_name(LoadState& state, const Element& e, const Scope& scope) {
  constexpr size_t kLongest = 200;
  if (!e.node.attribute("name")) return std::nullopt;
  NamedText name = required_attribute(state, e, "name", scope);
  if (name.text.size() > kLongest)
    throw WorldFileError(name.where, "the name is longer than " + std::to_string(kLongest) + " characters");
  if (find_not_text(name.text) != std::string::npos)  // from the name of a folder, say
    throw WorldFileError(name.where, "the name '" + shortened(name.text) + "' is not UTF-8 text");
  return name;
}

std::string class_name_of(LoadState& state, const Element& e) {
  if (const std::optional<NamedText> name = object_name(state, e, {})) return name->text;
  throw WorldFileError(e.where(), "<" + std::string(e.tag()) + "> has no name, expected name=\"...\"");
}

std::string class_of(LoadState& state, const Element& e) {
  const std::optional<NamedText> given = attribute_of(state, e, "class", {});
  return given ? std::string(trimmed(given->text)) : "";
}

Color parse_color(const NamedText& value) {
  const std::string_view text = trimmed(value.text);
  const auto byte_at = [&](size_t i) {
    return i + 1 < text.size() && hex_digit(text[i]) >= 0 && hex_digit(text[i + 1]) >= 0
               ? hex_digit(text[i]) * 16 + hex_digit(text[i + 1])
               : -1;
  };
  const bool has_alpha = text.size() == 9;
  const int r = byte_at(1), g = byte_at(3), b = byte_at(5), a = has_alpha ? byte_at(7) : 255;
  if (!text.starts_with('#') || (text.size() != 7 && !has_alpha) || std::min({r, g, b, a}) < 0)
    throw WorldFileError(value.where, "<" + value.name + ">: found '" + shortened(text) +
                                          "', expected a colour as #RRGGBB or #RRGGBBAA");
  return {static_cast<uint8_t>(r), static_cast<uint8_t>(g), static_cast<uint8_t>(b), static_cast<uint8_t>(a)};
}

Matrix parse_matrix(const NamedText& value, size_t max, const std::string& expected) {
  const auto fail = [&](const std::string& found) {
    throw WorldFileError(value.where, "<" + value.name + ">: found " + found + ", expected " + expected);
  };
  std::string_view rest = trimmed(value.text);
  if (rest.starts_with('[') && rest.ends_with(']') && rest.size() > 1) rest = rest.substr(1, rest.size() - 2);
  const char end_of_row = rest.find(';') != std::string_view::npos ? ';' : '\n';
  Matrix out;
  while (!trimmed(rest).empty()) {
    const size_t end = std::min(rest.find(end_of_row), rest.size());
    NamedText row{value.name, std::string(rest.substr(0, end)), value.where};
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::replace(row.text.begin(), row.text.end(), ',', ' ');
    if (end_of_row == '\n' && trimmed(row.text).empty()) continue;
    const std::vector<double> numbers = parse_numbers(row, 1, kMaxTextBytes, expected.c_str());
    if (out.rows > 0 && numbers.size() != static_cast<size_t>(out.columns))
      fail("a row of " + std::to_string(numbers.size()) + " numbers after rows of " +
           std::to_string(out.columns));
    out.columns = static_cast<int>(numbers.size());
    ++out.rows;
    out.values.insert(out.values.end(), numbers.begin(), numbers.end());
    if (out.values.size() > max) fail("more than " + std::to_string(max) + " numbers");
  }
  if (out.rows == 0) fail("no number");
  return out;
}

// Whether two sides of the closed outline cross; touching ends do not count.
static bool crosses_itself(const Polygon& p) {
  const auto side = [](Vec2 a, Vec2 b, Vec2 c) { return cross(b - a, c - a); };
  for (size_t i = 0; i < p.size(); ++i)
    for (size_t j = i + 2; j < p.size(); ++j) {
      const Vec2 a = p[i], b = p[i + 1], c = p[j], d = p[(j + 1) % p.size()];
      if (side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0) return true;
    }
  return false;
}

void warn_of_crossing(LoadState& state, const Element& shape, const Polygon& outline) {
  if (crosses_itself(outline))
    state.warnings.add(
        "crossing " + shape.where().text(), shape.where(),
        "<shape>: its sides cross each other: the hull of its points is taken, expected them in "
        "order around the outline");
}

Polygon parse_polygon(LoadState& state, const Element& shape, size_t max_points, const Scope& scope) {
  Polygon out;
  for (const Element& e : children_of(shape)) {
    state.budget.work(1, e);
    if (e.tag() != "pt") {
      state.warnings.add("unknown in shape " + std::string(e.tag()), e.where(),
                         "<" + std::string(e.tag()) + "> is unknown in <shape> and ignored, expected <pt>");
      continue;
    }
    const std::vector<double> xy = parse_numbers(text_of(state, e, scope), 2, 2, "two numbers x y");
    if (out.size() == max_points)
      throw WorldFileError(e.where(), "<shape> has more than " + std::to_string(max_points) + " points <pt>");
    out.push_back({xy[0], xy[1]});
  }
  return out;
}

Fields::Fields(LoadState& state, Scope scope, const Element& only) : Fields(state, std::move(scope)) {
  add({only, children_of(only)});
}

void Fields::add(FieldGroup group) {
  if (!group.children.empty())
    state_.budget.work(static_cast<int64_t>(group.children.size()), group.children.front());
  groups_.push_back(std::move(group));
}

void Fields::add_class(const Element& e, const std::string& name, const ClassBodies& classes) {
  if (name.empty()) return;
  const auto found = classes.find(name);
  if (found == classes.end())
    throw WorldFileError(e.where(), "the " + std::string(e.tag()) + " class '" + shortened(name) +
                                        "' is not defined" + did_you_mean(name, names_of(classes)));
  add({found->second.element, found->second.children});
}

std::optional<NamedText> Fields::scalar(std::string_view name) const {
  for (const FieldGroup& group : groups_) {
    for (auto child = group.children.rbegin(); child != group.children.rend(); ++child)
      if (child->tag() == name) return text_of(state_, *child, scope_);
    if (!group.owner) continue;
    for (const pugi::xml_attribute& attribute : group.owner->node.attributes())
      if (attribute.name() == name) return text_of(state_, *group.owner, attribute, scope_);
  }
  return std::nullopt;
}

const Element* Fields::node(std::string_view name) const {
  for (const FieldGroup& group : groups_)
    for (const Element& child : group.children)
      if (child.tag() == name) return &child;
  return nullptr;
}

std::vector<Element> Fields::nodes(std::string_view name) const {
  std::vector<Element> out;
  for (const FieldGroup& group : groups_)
    for (const Element& child : group.children)
      if (child.tag() == name) out.push_back(child);
  return out;
}

void Fields::warn_unknown(std::string_view tag, std::span<const std::string_view> known) const {
  const auto warn = [&](const char* name, const SourceLocation& where, const char* left, const char* right) {
    const std::string kind = "unknown in " + std::string(tag) + " " + name;
    std::string text;
    if (state_.warnings.is_new(kind))
      text = left + std::string(name) + right + " is unknown in <" + std::string(tag) + "> and ignored" +
             did_you_mean(name, {known.begin(), known.end()});
    state_.warnings.add(kind, where, text);
  };
  for (const FieldGroup& group : groups_) {
    for (const Element& child : group.children)
      if (!contains(known, child.node.name())) warn(child.node.name(), child.where(), "<", ">");
    if (!group.owner) continue;
    for (const pugi::xml_attribute& attribute : group.owner->node.attributes()) {
      const std::string_view name = attribute.name();
      if (name != "name" && name != "class" && !contains(known, name))
        warn(attribute.name(), group.owner->where(attribute), "the attribute ", "");
    }
  }
}

ParamSet read_param_set(LoadState& state, const Element& e, const Scope& scope,
                        std::span<const std::string_view> skip) {
  ParamSet out{std::string(e.tag()), {}, e.where(), {}};
  for (const pugi::xml_attribute& attribute : e.node.attributes()) {
    const std::string_view name = attribute.name();
    if (name == "class")
      out.class_name = trimmed(text_of(state, e, attribute, scope).text);
    else if (!contains(skip, name))
      out.values.push_back(text_of(state, e, attribute, scope));
  }
  for (const Element& child : children_of(e)) {
    state.budget.work(1, child);
    if (!contains(skip, child.tag())) out.values.push_back(text_of(state, child, scope));
  }
  state.budget.values(out.values.size(), out.where);
  return out;
}

void refuse(const Element& e, const std::string& what, const std::string& remedy) {
  throw WorldFileError(e.where(), what + " is not supported yet" + (remedy.empty() ? "" : ": " + remedy));
}

void warn_no_effect(LoadState& state, std::string_view tag, const SourceLocation& where) {
  state.warnings.add("no effect " + std::string(tag), where,
                     "<" + std::string(tag) + "> has no effect in this version");
}

}  // namespace mvsim
