#include "assets/map_yaml.h"

#include <algorithm>
#include <set>

#include "base/math.h"
#include "base/params.h"
#include "base/source_text.h"
#include "base/utf8.h"

namespace mvsim {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trim(std::string_view s) {
  const size_t first = s.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view()
                                         : s.substr(first, s.find_last_not_of(kBlanks) - first + 1);
}

// Without its comment: a '#' at the start or after a blank, outside of quotes.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#' && (i == 0 || kBlanks.find(line[i - 1]) != std::string_view::npos)) {
      return line.substr(0, i);
    }
  }
  return line;
}

std::string unquoted(const NamedText& value) {
  const std::string& s = value.text;
  if (s.size() >= 2 && (s.front() == '"' || s.front() == '\'') && s.back() == s.front())
    return s.substr(1, s.size() - 2);
  return s;
}

double fraction(const NamedText& value) {
  const double out = parse_number(value);
  check_range({.name = value.name, .min = 0, .max = 1}, out, value.where);
  return out;
}

Pose2 parse_origin(NamedText value) {
  constexpr const char* kExpected = "[x, y, yaw] (m, m, rad)";
  if (value.text.size() < 2 || value.text.front() != '[' || value.text.back() != ']')
    throw WorldFileError(value.where, "origin: found '" + shortened(value.text) + "', expected " + kExpected);
  value.text = value.text.substr(1, value.text.size() - 2);
  if (std::count(value.text.begin(), value.text.end(), ',') != 2)
    throw WorldFileError(value.where,
                         "origin: found '[" + shortened(value.text) + "]', expected " + kExpected);
  std::replace(value.text.begin(), value.text.end(), ',', ' ');
  const std::vector<double> v = parse_numbers(value, 3, 3, kExpected);
  for (size_t i = 0; i < 2; ++i) check_range({.name = "origin", .min = -1e7, .max = 1e7}, v[i], value.where);
  check_range({.name = "origin", .min = -100 * kPi, .max = 100 * kPi}, v[2], value.where);
  return {v[0], v[1], v[2]};
}

void set_value(MapYaml& out, const NamedText& value) {
  if (value.name == "image") {
    out.image = unquoted(value);
    out.image_where = value.where;
    if (out.image.empty()) throw WorldFileError(value.where, "image: is empty, expected a file name");
  } else if (value.name == "resolution") {
    out.resolution = parse_number(value);
    check_range({.name = "resolution", .min = kMinResolution, .max = kMaxResolution}, out.resolution,
                value.where);
  } else if (value.name == "origin") {
    out.origin = parse_origin(value);
    out.origin_where = value.where;
  } else if (value.name == "negate") {
    out.negate = parse_bool(value);
  } else if (value.name == "occupied_thresh") {
    out.occupied_threshold = fraction(value);
  } else if (value.name == "free_thresh") {
    out.free_threshold = fraction(value);
  } else if (value.name == "mode") {
    out.mode = unquoted(value);
    if (out.mode != "trinary" && out.mode != "scale" && out.mode != "raw")
      throw WorldFileError(value.where,
                           "mode: found '" + shortened(out.mode) + "', expected trinary, scale or raw");
  } else {
    out.unknown.push_back(value.where);
  }
}

}  // namespace

MapYaml parse_map_yaml(const std::string& path, std::string_view text) {
  const auto shared_path = std::make_shared<const std::string>(path);
  MapYaml out;
  std::set<std::string> seen;
  int line_number = 0;
  if (const size_t bad = find_not_text(text); bad != std::string_view::npos)
    throw WorldFileError(SourceText(path, std::string(text)).where(bad), "is not UTF-8 text");
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = without_comment(text.substr(begin, end - begin));
    begin = end + 1;
    ++line_number;
    if (trim(line).empty() || trim(line) == "---" || trim(line) == "...") continue;
    const size_t colon = line.find(':');
    const SourceLocation start{shared_path, line_number, 1};
    if (colon == std::string_view::npos || kBlanks.find(line[0]) != std::string_view::npos)
      throw WorldFileError(start, "found '" + shortened(trim(line)) +
                                      "', expected one 'key: value' a line without indentation");
    NamedText value{std::string(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 1))),
                    start};
    const size_t first = line.find_first_not_of(kBlanks, colon + 1);
    if (first != std::string_view::npos) value.where.column = static_cast<int>(first) + 1;
    if (!seen.insert(value.name).second)
      throw WorldFileError(start, "the key '" + shortened(value.name) + "' is given twice");
    set_value(out, value);
  }
  for (const char* key : {"image", "resolution", "origin"})
    if (!seen.contains(key))
      throw WorldFileError({shared_path, std::max(line_number, 1), 1},
                           "the map has no '" + std::string(key) + ":'");
  if (out.free_threshold > out.occupied_threshold)
    throw WorldFileError({shared_path, std::max(line_number, 1), 1}, "free_thresh is above occupied_thresh");
  return out;
}

}  // namespace mvsim
