// Named numbers of a component (tire model, controller, sensor, vehicle, block), described by one table.
//
// The table serves every use of parameters by name: reading XML with range checks, suggestions
// for misspelt names, the flat parameter array that a Simulation copies, and randomisation by an environment.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace mvsim {

// Degrees are stored as radians; a choice is written as one of its names and stored as its index.
enum class ParamType { kNumber, kDegrees, kBool, kInt, kChoice };

// Largest magnitude of a number without a bound of its own: far beyond any quantity of a
// world, and products of a few such numbers are still finite.
inline constexpr double kMaxNumber = 1e9;

// One row of a component's table. Bounds are inclusive unless `is_min_excluded` or `is_max_excluded`.
struct ParamInfo {
  std::string_view name;
  double fallback = 0;  // in stored units
  double min = -kMaxNumber, max = kMaxNumber;
  ParamType type = ParamType::kNumber;
  bool is_min_excluded = false, is_max_excluded = false;
  std::span<const std::string_view> choices{};  // of kChoice
  std::string_view unit{};                      // SI, "" for a share, a factor or a count
};

// A row whose value is one of `choices`; `fallback` is an index.
constexpr ParamInfo choice_param(std::string_view name, std::span<const std::string_view> choices,
                                 size_t fallback) {
  return {.name = name,
          .fallback = static_cast<double>(fallback),
          .min = 0,
          .max = static_cast<double>(choices.size()) - 1,
          .type = ParamType::kChoice,
          .choices = choices};
}

// One value as it stood in a file after expansion: a child element or an attribute.
struct NamedText {
  std::string name;
  std::string text;
  SourceLocation where;
};

// The values below one element, e.g. <friction class="default"><mu>0.7</mu></friction>. Several rows of one
// name: the last one counts.
struct ParamSet {
  std::string tag;         // "friction", "controller", "sensor"...
  std::string class_name;  // its class attribute, "" when absent
  SourceLocation where;
  std::vector<NamedText> values;

  const NamedText* find(std::string_view name) const;
};

// Typed readers of the texts of XML. All throw WorldFileError naming tag and text.
double parse_number(const NamedText& value);
bool parse_bool(const NamedText& value);
int parse_int(const NamedText& value);
size_t parse_choice(const NamedText& value, std::span<const std::string_view> choices);  // its index
std::vector<double> parse_numbers(const NamedText& value, size_t min, size_t max, const char* expected);

// The number of `text`, if it is one as a whole (blanks around it allowed, "nan" and "inf" refused).
std::optional<double> scan_number(std::string_view text);

// Reads every row of `table` from `set` (fallback where absent) into `out`, in table order, with range
// checks.
void read_params(const ParamSet& set, std::span<const ParamInfo> table, std::span<double> out);

// The same; names of `set` that are neither in the table nor in `also_known` become one warning each, while
// there are fewer than kMaxWarnings.
inline constexpr size_t kMaxWarnings = 1000;
void read_params(const ParamSet& set, std::span<const ParamInfo> table, std::span<double> out,
                 std::span<const std::string_view> also_known, std::vector<std::string>& warnings);

// Returns the degrees of `number` if it looks like radians, or else 0. It does if it is a decimal near a
// multiple of a quarter of pi, up to two pi (1.57, -3.1416).
double degrees_if_radians(double number);

bool in_range(const ParamInfo& info, double value);  // false for NaN

// ">= 0 and < 1", in the units of the file.
std::string range_text(const ParamInfo& info);

// Throws WorldFileError when `value` is outside the row's range.
void check_range(const ParamInfo& info, double value, const SourceLocation& where);

// A registry of classes with one object each, such as tire models, has a row registered<Base, class T> for
// each class. The row also declares the class, so it stands at the namespace of the class. The file of the
// class instantiates the function (base/registered.h), or specialises it.
template <class Base, class T>
const Base& registered();

// Returns the objects of the rows of a registry.
template <typename Base, size_t count>
std::array<const Base*, count> objects_of(const Base& (*const (&rows)[count])()) {
  std::array<const Base*, count> out;
  for (size_t i = 0; i < count; ++i) out[i] = &rows[i]();
  return out;
}

}  // namespace mvsim
