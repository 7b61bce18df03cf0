#include "base/params.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/math.h"
#include "base/text.h"

namespace mvsim {
namespace {

// Long hostile texts are cut in messages.
std::string quoted(std::string_view text) {
  return "'" + shortened(text) + "'";
}

}  // namespace

const NamedText* ParamSet::find(std::string_view name) const {
  for (auto it = values.rbegin(); it != values.rend(); ++it)
    if (it->name == name) return &*it;
  return nullptr;
}

std::optional<double> scan_number(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

double parse_number(const NamedText& value) {
  if (const auto number = scan_number(value.text)) return *number;
  throw WorldFileError(value.where,
                       "<" + value.name + ">: found " + quoted(value.text) + ", expected a finite number");
}

bool parse_bool(const NamedText& value) {
  std::string lower;
  for (char c : trimmed(value.text)) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (lower == "true" || lower == "1") return true;
  if (lower == "false" || lower == "0") return false;
  throw WorldFileError(
      value.where, "<" + value.name + ">: found " + quoted(value.text) + ", expected true, false, 1 or 0");
}

int parse_int(const NamedText& value) {
  const auto number = scan_number(value.text);
  if (!number || std::fabs(*number) > 2147483647.0)
    throw WorldFileError(value.where,
                         "<" + value.name + ">: found " + quoted(value.text) + ", expected an integer");
  return static_cast<int>(*number);  // a decimal is truncated: results of $f{} land here
}

size_t parse_choice(const NamedText& value, std::span<const std::string_view> choices) {
  const std::string_view text = trimmed(value.text);
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i] == text) return i;
  throw WorldFileError(value.where, "<" + value.name + ">: found " + quoted(text) + ", " +
                                        expected_one_of(shortened(text), {choices.begin(), choices.end()}));
}

std::vector<double> parse_numbers(const NamedText& value, size_t min, size_t max, const char* expected) {
  std::vector<double> out;
  std::string_view rest = trimmed(value.text);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(" \t\r\n"), rest.size());
    const auto number = scan_number(rest.substr(0, end));
    if (!number || out.size() == max) {
      out.clear();
      break;
    }
    out.push_back(*number);
    rest = trimmed(rest.substr(end));
  }
  if (out.size() < min)
    throw WorldFileError(value.where,
                         "<" + value.name + ">: found " + quoted(value.text) + ", expected " + expected);
  return out;
}

double degrees_if_radians(double number) {
  constexpr double kNear = 0.004, kMost = 8;
  const double quarters = std::nearbyint(number / (kPi / 4));
  if (quarters == 0 || std::fabs(quarters) > kMost || std::fabs(number - quarters * (kPi / 4)) > kNear)
    return 0;
  return quarters * 45;
}

bool in_range(const ParamInfo& info, double value) {
  return (info.is_min_excluded ? value > info.min : value >= info.min) &&
         (info.is_max_excluded ? value < info.max : value <= info.max);
}

std::string range_text(const ParamInfo& info) {
  const double unit = info.type == ParamType::kDegrees ? kDegree : 1.0;
  std::string out;
  if (std::isfinite(info.min)) out = (info.is_min_excluded ? "> " : ">= ") + short_number(info.min / unit);
  if (std::isfinite(info.max))
    out += (out.empty() ? "" : " and ") + std::string(info.is_max_excluded ? "< " : "<= ") +
           short_number(info.max / unit);
  return out;
}

void check_range(const ParamInfo& info, double value, const SourceLocation& where) {
  if (in_range(info, value)) return;
  const double unit = info.type == ParamType::kDegrees ? kDegree : 1.0;
  throw WorldFileError(where, "<" + std::string(info.name) + ">: found " + short_number(value / unit) +
                                  ", expected " + range_text(info));
}

void read_params(const ParamSet& set, std::span<const ParamInfo> table, std::span<double> out) {
  for (size_t i = 0; i < table.size(); ++i) {
    const ParamInfo& info = table[i];
    out[i] = info.fallback;
    const NamedText* value = set.find(info.name);
    if (!value) continue;
    switch (info.type) {
      case ParamType::kNumber:
        out[i] = parse_number(*value);
        break;
      case ParamType::kDegrees:
        out[i] = parse_number(*value) * kDegree;
        break;
      case ParamType::kBool:
        out[i] = parse_bool(*value) ? 1 : 0;
        break;
      case ParamType::kInt:
        out[i] = parse_int(*value);
        break;
      case ParamType::kChoice:
        out[i] = static_cast<double>(parse_choice(*value, info.choices));
        break;
    }
    check_range(info, out[i], value->where);
  }
}

void read_params(const ParamSet& set, std::span<const ParamInfo> table, std::span<double> out,
                 std::span<const std::string_view> also_known, std::vector<std::string>& warnings) {
  read_params(set, table, out);
  const auto is_known = [&](const NamedText& value) {
    const auto is_it = [&](const ParamInfo& info) { return info.name == value.name; };
    return std::any_of(table.begin(), table.end(), is_it) ||
           std::find(also_known.begin(), also_known.end(), value.name) != also_known.end();
  };
  for (const NamedText& value : set.values) {
    if (warnings.size() >= kMaxWarnings || is_known(value)) continue;
    std::vector<std::string> names;
    for (const ParamInfo& info : table) names.emplace_back(info.name);
    names.insert(names.end(), also_known.begin(), also_known.end());
    warnings.push_back(value.where.text() + ": <" + value.name + "> is unknown in <" + set.tag +
                       "> and ignored" + did_you_mean(value.name, names));
  }
}

}  // namespace mvsim
