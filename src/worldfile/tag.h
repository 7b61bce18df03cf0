// One row a tag: what a scalar of a world's element is called, what it may be, where it goes and what it
// does. Reading, messages, nearest names, the tables of docs/world-*.md, the tests of bad values and the
// parameters that an environment may randomise come from these rows (tags.h has the tables).
#pragma once

#include <span>
#include <stdexcept>
#include <variant>

#include "worldfile/fields.h"

namespace mvsim {

// kOwn is read by its element itself: a structure, a pose, a text that another tag needs.
enum class TagType { kNumber, kDegrees, kInt, kBool, kColor, kChoice, kText, kPoint, kOwn };
enum class TagEffect { kUsed, kNone, kRefused };

struct TagInfo {
  ParamInfo range;  // with name and unit
  TagType type = TagType::kOwn;
  std::string_view text{};  // what it is, for the docs
  TagEffect effect = TagEffect::kUsed;
  bool is_randomised = false;    // a parameter of the Model, which an environment may draw
  std::optional<double> also{};  // a value beside the range
  std::string_view also_means{};

  constexpr std::string_view name() const { return range.name; }
  constexpr TagInfo without_effect() const {
    TagInfo out = *this;
    out.effect = TagEffect::kNone;
    return out;
  }
  constexpr TagInfo refused() const {
    TagInfo out = *this;
    out.effect = TagEffect::kRefused;
    return out;
  }
  constexpr TagInfo randomised() const {
    TagInfo out = *this;
    out.is_randomised = true;
    return out;
  }
  constexpr TagInfo or_value(double value, std::string_view meaning) const {
    TagInfo out = *this;
    out.also = value;
    out.also_means = meaning;
    return out;
  }
};

// --- Rows by type; numbers in stored units ---

constexpr TagInfo number(std::string_view name, double min, double max, std::string_view unit = {},
                         std::string_view text = {}) {
  return {
      .range = {.name = name, .min = min, .max = max, .unit = unit}, .type = TagType::kNumber, .text = text};
}
// Above `min`, which is not in the range.
constexpr TagInfo number_above(std::string_view name, double min, double max, std::string_view unit = {},
                               std::string_view text = {}) {
  TagInfo out = number(name, min, max, unit, text);
  out.range.is_min_excluded = true;
  return out;
}
constexpr TagInfo any_number(std::string_view name, std::string_view unit = {}, std::string_view text = {}) {
  return number(name, -kMaxNumber, kMaxNumber, unit, text);
}
constexpr TagInfo degrees(std::string_view name, double min, double max, std::string_view text = {}) {
  TagInfo out = number(name, min, max, "deg", text);
  out.range.type = ParamType::kDegrees;
  out.type = TagType::kDegrees;
  return out;
}
constexpr TagInfo integer(std::string_view name, double min, double max, std::string_view text = {}) {
  TagInfo out = number(name, min, max, {}, text);
  out.type = TagType::kInt;
  return out;
}
constexpr TagInfo any_integer(std::string_view name) {
  return integer(name, -kMaxNumber, kMaxNumber);
}
constexpr TagInfo of_type(TagType type, std::string_view name, std::string_view text) {
  return {.range = {.name = name}, .type = type, .text = text};
}
constexpr TagInfo boolean(std::string_view name, std::string_view text = {}) {
  return of_type(TagType::kBool, name, text);
}
constexpr TagInfo color(std::string_view name, std::string_view text = {}) {
  return of_type(TagType::kColor, name, text);
}
constexpr TagInfo any_text(std::string_view name, std::string_view text = {}) {
  return of_type(TagType::kText, name, text);
}
constexpr TagInfo point(std::string_view name, std::string_view text = {}) {
  return of_type(TagType::kPoint, name, text);
}
constexpr TagInfo own(std::string_view name, std::string_view text = {}) {
  return of_type(TagType::kOwn, name, text);
}
// Faces of triangles that are not drawn, in the order of CullFaces.
inline constexpr std::string_view kFaces[] = {"NONE", "BACK", "FRONT"};

constexpr TagInfo choice(std::string_view name, std::span<const std::string_view> choices,
                         std::string_view text = {}) {
  return {.range = choice_param(name, choices, 0), .type = TagType::kChoice, .text = text};
}

// Where the value goes; nowhere for what has no effect, and for what its element reads itself.
template <typename Spec>
using TagField =
    std::variant<std::monostate, double Spec::*, std::optional<double> Spec::*, int Spec::*, bool Spec::*,
                 std::optional<bool> Spec::*, Color Spec::*, std::optional<Color> Spec::*, CullFaces Spec::*>;

template <typename Spec>
struct Tag : TagInfo {
  // Tables are constexpr: a row whose member has another type than the tag does not compile.
  constexpr Tag(const TagInfo& info, TagField<Spec> member = {}) : TagInfo(info), field(member) {
    const bool fits = std::visit([&](auto m) { return holds(static_cast<decltype(m)*>(nullptr)); }, field);
    if (!fits) throw std::logic_error("the member is of another type than the tag");
  }
  TagField<Spec> field;

 private:
  constexpr bool is_real() const { return type == TagType::kNumber || type == TagType::kDegrees; }
  constexpr bool holds(std::monostate*) const { return !is_randomised; }
  constexpr bool holds(double Spec::**) const { return is_real(); }
  constexpr bool holds(std::optional<double> Spec::**) const { return is_real(); }
  constexpr bool holds(int Spec::**) const { return type == TagType::kInt; }
  constexpr bool holds(bool Spec::**) const { return type == TagType::kBool; }
  constexpr bool holds(std::optional<bool> Spec::**) const { return type == TagType::kBool; }
  constexpr bool holds(Color Spec::**) const { return type == TagType::kColor; }
  constexpr bool holds(std::optional<Color> Spec::**) const { return type == TagType::kColor; }
  constexpr bool holds(CullFaces Spec::**) const { return type == TagType::kChoice; }
};

template <typename Spec>
using Tags = std::span<const Tag<Spec>>;
using PlainTags = std::span<const TagInfo>;  // that go nowhere

// --- Reading ---

// Each throws WorldFileError with the place of the text, the tag and what was expected.
void read_value(const TagInfo& tag, const NamedText& text, double& out);
void read_value(const TagInfo& tag, const NamedText& text, int& out);
void read_value(const TagInfo& tag, const NamedText& text, bool& out);
void read_value(const TagInfo& tag, const NamedText& text, Color& out);
void read_value(const TagInfo& tag, const NamedText& text, CullFaces& out);
template <typename T>
void read_value(const TagInfo& tag, const NamedText& text, std::optional<T>& out) {
  read_value(tag, text, out.emplace());
}
void check_value(const TagInfo& tag, const NamedText& text);

template <typename Spec>
void read_tag(const Tag<Spec>& tag, const NamedText& text, Spec& out) {
  std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), std::monostate>)
          check_value(tag, text);
        else
          read_value(tag, text, out.*member);
      },
      tag.field);
}

// The text of a scalar that is given and not the element's own. Warns of what has no effect, refuses by name
// what is not built.
std::optional<NamedText> given_text(LoadState& state, const Fields& fields, const TagInfo& tag);

// Every scalar of the table that is given, in the order of its rows.
template <typename Spec>
void read_tags(LoadState& state, const Fields& fields, Tags<Spec> tags, Spec& out) {
  for (const Tag<Spec>& tag : tags)
    if (const std::optional<NamedText> text = given_text(state, fields, tag)) read_tag(tag, *text, out);
}
void check_tags(LoadState& state, const Fields& fields, PlainTags tags);

template <typename Table>
const auto* find_tag(const Table& tags, std::string_view name) {
  for (const auto& tag : tags)
    if (tag.name() == name) return &tag;
  return static_cast<decltype(tags.data())>(nullptr);
}

// The number that a randomised tag of an object has; it must be given.
template <typename Spec>
double number_of(const Tag<Spec>& tag, const Spec& spec) {
  if (const auto* const number = std::get_if<double Spec::*>(&tag.field)) return spec.**number;
  return (spec.*std::get<std::optional<double> Spec::*>(tag.field)).value();
}

// The names of all rows of some tables.
template <typename... Tables>
std::vector<std::string_view> tag_names(const Tables&... tables) {
  std::vector<std::string_view> out;
  out.reserve((std::size(tables) + ...));
  const auto add = [&](const auto& tags) {
    for (const auto& tag : tags) out.push_back(tag.name());
  };
  (add(tables), ...);
  return out;
}

}  // namespace mvsim
