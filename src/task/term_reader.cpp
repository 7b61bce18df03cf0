#include "task/term_reader.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace mvsim {
namespace {

std::string range_text(Range range) {
  std::string out;
  if (range.min == kPositive.min)
    out = "> 0";
  else if (std::isfinite(range.min))
    out = ">= " + short_number(range.min);
  if (std::isfinite(range.max)) out += (out.empty() ? "<= " : " and <= ") + short_number(range.max);
  return out;
}

}  // namespace

std::string describe(const TermSpec& term) {
  std::string out = "<" + term.params.tag;
  if (!term.params.class_name.empty()) out += " class=\"" + term.params.class_name + "\"";
  return out + ">";
}

const NamedText* TermReader::find(std::string_view name) {
  asked_.emplace_back(name);
  return term_.params.find(name);
}

bool TermReader::has(std::string_view name) {
  return find(name) != nullptr;
}

void TermReader::check(const NamedText& value, double number, Range range) const {
  if (number >= range.min && number <= range.max) return;
  throw WorldFileError(value.where,
                       describe(term_) + ", " + value.name + ": found '" + value.text + "', expected " +
                           (value.text.find(' ') == std::string::npos ? "" : "numbers ") + range_text(range));
}

void TermReader::fail(std::string_view attribute, const std::string& message) const {
  const NamedText* value = term_.params.find(attribute);
  const std::string who = describe(term_) + (value ? ", " + std::string(attribute) : std::string());
  throw WorldFileError(value ? value->where : term_.params.where, who + ": " + message);
}

double TermReader::number(std::string_view name, double fallback, Range range) {
  const NamedText* value = find(name);
  if (!value) return fallback;
  const double number = parse_number(*value);
  check(*value, number, range);
  return number;
}

double TermReader::required_number(std::string_view name, Range range) {
  if (!has(name)) fail(name, "expected the attribute '" + std::string(name) + "', a number");
  return number(name, 0, range);
}

int TermReader::integer(std::string_view name, int fallback, int min, int max) {
  const NamedText* value = find(name);
  if (!value) return fallback;
  const double number = parse_number(*value);
  check(*value, number, {static_cast<double>(min), static_cast<double>(max)});
  if (number != std::floor(number)) fail(name, "found '" + value->text + "', expected an integer");
  return static_cast<int>(number);
}

bool TermReader::boolean(std::string_view name, bool fallback) {
  const NamedText* value = find(name);
  return value ? parse_bool(*value) : fallback;
}

std::string TermReader::text(std::string_view name, std::string_view fallback) {
  const NamedText* value = find(name);
  return value ? value->text : std::string(fallback);
}

std::string TermReader::required_text(std::string_view name) {
  if (!has(name)) fail(name, "expected the attribute '" + std::string(name) + "'");
  return text(name, "");
}

std::optional<std::vector<double>> TermReader::numbers(std::string_view name, std::span<const Range> ranges,
                                                       const char* expected) {
  const NamedText* value = find(name);
  if (!value) return std::nullopt;
  std::vector<double> out = parse_numbers(*value, ranges.size(), ranges.size(), expected);
  for (size_t i = 0; i < ranges.size(); ++i) check(*value, out[i], ranges[i]);
  return out;
}

std::optional<Interval> TermReader::interval(std::string_view name, Range range) {
  const NamedText* value = find(name);
  if (!value) return std::nullopt;
  const std::vector<double> v = parse_numbers(*value, 1, 2, "two numbers, low and high");
  return ordered(*value, {v.front(), v.back()}, range);
}

std::vector<Interval> TermReader::intervals(std::string_view name, Range range) {
  const NamedText* value = find(name);
  if (!value) return {};
  constexpr size_t kMostNumbers = 64;
  const std::vector<double> v =
      parse_numbers(*value, 1, kMostNumbers, "pairs of numbers, low and high of each");
  if (v.size() == 1) return {ordered(*value, {v[0], v[0]}, range)};
  if (v.size() % 2 != 0)
    fail(name, "found " + std::to_string(v.size()) + " numbers, expected pairs, low and high of each");
  std::vector<Interval> out;
  for (size_t i = 0; i < v.size(); i += 2) out.push_back(ordered(*value, {v[i], v[i + 1]}, range));
  return out;
}

std::vector<Pose2> TermReader::poses(std::string_view name) {
  const NamedText* value = find(name);
  if (!value) return {};
  constexpr size_t kMostPoses = 10000;
  constexpr const char* kExpected = "three numbers of each pose, x y yaw_deg";
  const std::vector<double> v = parse_numbers(*value, 3, 3 * kMostPoses, kExpected);
  if (v.size() % 3 != 0) fail(name, "found " + std::to_string(v.size()) + " numbers, expected " + kExpected);
  std::vector<Pose2> out;
  for (size_t i = 0; i < v.size(); i += 3) {
    check(*value, v[i], kPlace);
    check(*value, v[i + 1], kPlace);
    check(*value, v[i + 2], kAngle);
    out.push_back({v[i], v[i + 1], v[i + 2] * kDegree});
  }
  return out;
}

Interval TermReader::ordered(const NamedText& value, Interval found, Range range) const {
  if (found.low > found.high) fail(value.name, "found '" + value.text + "', expected low <= high");
  check(value, found.low, range);
  check(value, found.high, range);
  return found;
}

size_t TermReader::choice(std::string_view name, const std::vector<std::string>& choices) {
  const NamedText* value = find(name);
  if (!value) return 0;
  const auto it = std::find(choices.begin(), choices.end(), value->text);
  if (it != choices.end()) return static_cast<size_t>(it - choices.begin());
  std::string expected;
  for (const std::string& c : choices) expected += (expected.empty() ? "" : " or ") + ("'" + c + "'");
  fail(name, "found '" + value->text + "', expected " + expected + did_you_mean(value->text, choices));
}

void TermReader::finish() const {
  for (const NamedText& value : term_.params.values) {
    if (value.name == "name" || value.name == "class") continue;
    if (std::find(asked_.begin(), asked_.end(), value.name) != asked_.end()) continue;
    throw WorldFileError(value.where, describe(term_) + ": found the unknown attribute '" + value.name + "'" +
                                          did_you_mean(value.name, asked_));
  }
}

}  // namespace mvsim
