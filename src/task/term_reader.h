// Typed reading of a term's attributes. An attribute that no term reads is an error at its line.
//
// Each read names an attribute, its fallback and its range. finish() then refuses the other attributes, with
// the nearest name of those that were read. Single-threaded.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/geometry.h"
#include "task/env_spec.h"

namespace mvsim {

struct Range {
  double min = -kMaxNumber, max = kMaxNumber;
};
inline constexpr Range kPositive{1e-9, kMaxNumber};
inline constexpr Range kNotNegative{0, kMaxNumber};
inline constexpr Range kPlace{-1e7, 1e7};      // m, a coordinate of a world (UTM has 7 digits)
inline constexpr Range kAngle{-36000, 36000};  // degrees

struct Interval {
  double low = 0, high = 0;
};

class TermReader {
 public:
  explicit TermReader(const TermSpec& term) : term_(term) {}

  const TermSpec& term() const { return term_; }
  const std::string& name() const { return term_.name; }

  double number(std::string_view name, double fallback, Range range = {});
  double required_number(std::string_view name, Range range = {});
  int integer(std::string_view name, int fallback, int min, int max);
  bool boolean(std::string_view name, bool fallback);
  std::string text(std::string_view name, std::string_view fallback);
  std::string required_text(std::string_view name);
  // Reads as many numbers as `ranges` has rows.
  std::optional<std::vector<double>> numbers(std::string_view name, std::span<const Range> ranges,
                                             const char* expected);
  // Reads "low high", low <= high; a single number is both.
  std::optional<Interval> interval(std::string_view name, Range range = {});
  // Reads several intervals; empty if there is no such attribute.
  std::vector<Interval> intervals(std::string_view name, Range range = {});

  // Reads poses, "x y yaw_deg" of each; empty if there is no such attribute.
  std::vector<Pose2> poses(std::string_view name);

  bool has(std::string_view name);
  // Reads one of `choices`, by default the first.
  size_t choice(std::string_view name, const std::vector<std::string>& choices);

  // Throws at the attribute's place, or at the element's if it is absent.
  [[noreturn]] void fail(std::string_view attribute, const std::string& message) const;

  // Throws for an attribute that was not read. `class` and `name` are always known.
  void finish() const;

 private:
  const NamedText* find(std::string_view name);
  void check(const NamedText& value, double number, Range range) const;
  Interval ordered(const NamedText& value, Interval found, Range range) const;

  const TermSpec& term_;
  std::vector<std::string> asked_;
};

// Returns `<tag class="x">`, for messages.
std::string describe(const TermSpec& term);

}  // namespace mvsim
