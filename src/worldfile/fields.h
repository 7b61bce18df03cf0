// Typed reading of the elements of a world: scalars written as attribute or child, in the search order of
// instance and class. Not thread-safe: reading expands, and expansion draws
// random numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/geometry.h"
#include "base/params.h"
#include "worldfile/load_state.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// The expanded text of an element or of one of its attributes.
NamedText text_of(LoadState& state, const Element& e, const Scope& scope);
NamedText text_of(LoadState& state, const Element& e, const pugi::xml_attribute& attribute,
                  const Scope& scope);
// The attribute `name`, if the element has it.
std::optional<NamedText> attribute_of(LoadState& state, const Element& e, const char* name,
                                      const Scope& scope);
// The same, an error when it is absent or blank.
NamedText required_attribute(LoadState& state, const Element& e, const char* name, const Scope& scope);

// The name attribute of an object, trimmed; nothing when it is absent. Empty or long ones are errors.
std::optional<NamedText> object_name(LoadState& state, const Element& e, const Scope& scope);
// The name attribute of a class; an error if it is absent.
std::string class_name_of(LoadState& state, const Element& e);
// The trimmed attribute `class` of an object; empty if it is absent.
std::string class_of(LoadState& state, const Element& e);

Color parse_color(const NamedText& value);
// Rows of equal length, [a b; c d] or one row a line; at least one number and at most `max`. `expected` says
// what it should be.
Matrix parse_matrix(const NamedText& value, size_t max, const std::string& expected);
Polygon parse_polygon(LoadState& state, const Element& shape, size_t max_points, const Scope& scope);

// Warns of an outline whose sides cross each other.
void warn_of_crossing(LoadState& state, const Element& shape, const Polygon& outline);

// One node of the search list. Its own element (none for an included file) gives the attributes.
struct FieldGroup {
  std::optional<Element> owner;
  std::vector<Element> children;
};

// Values of an object from its own element, its class and its defaults, as groups in search order. The first
// match wins.
class Fields {
 public:
  Fields(LoadState& state, Scope scope) : state_(state), scope_(std::move(scope)) {}
  Fields(LoadState& state, Scope scope, const Element& only);

  void add(FieldGroup group);
  // Adds the class `name` of the object `e`, if it is not empty. Throws WorldFileError if there is no such
  // class.
  void add_class(const Element& e, const std::string& name, const ClassBodies& classes);
  const Scope& scope() const { return scope_; }

  // Within a group the last child of the name counts, then the attribute.
  std::optional<NamedText> scalar(std::string_view name) const;
  const Element* node(std::string_view name) const;         // the first one
  std::vector<Element> nodes(std::string_view name) const;  // all
  const std::vector<FieldGroup>& groups() const { return groups_; }

  // One warning for each tag or attribute that is none of `known`.
  void warn_unknown(std::string_view tag, std::span<const std::string_view> known) const;

 private:
  LoadState& state_;
  Scope scope_;
  std::vector<FieldGroup> groups_;
};

// Returns the attributes and then the children of `e` as texts, except those that `skip` names. Children of
// children are not read.
ParamSet read_param_set(LoadState& state, const Element& e, const Scope& scope,
                        std::span<const std::string_view> skip);

// Throws "<tag> is not supported yet" for a tag of the language that this version does not build.
[[noreturn]] void refuse(const Element& e, const std::string& what, const std::string& remedy = "");
void warn_no_effect(LoadState& state, std::string_view tag, const SourceLocation& where);

}  // namespace mvsim
