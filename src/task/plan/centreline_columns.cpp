#include "task/plan/centreline_columns.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

constexpr std::string_view kBlanks = " \t";

Column trimmed_column(std::string_view line, size_t begin, size_t end) {
  while (begin < end && kBlanks.find(line[begin]) != std::string_view::npos) ++begin;
  while (begin < end && kBlanks.find(line[end - 1]) != std::string_view::npos) --end;
  return {line.substr(begin, end - begin), begin};
}

std::vector<Column> columns_between_blanks(std::string_view line) {
  std::vector<Column> out;
  for (size_t at = line.find_first_not_of(kBlanks);
       at != std::string_view::npos && out.size() <= kMaxColumns;) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    out.push_back({line.substr(at, end - at), at});
    at = line.find_first_not_of(kBlanks, end);
  }
  return out;
}

using Words = std::vector<std::string>;

// Splits a name into words in small letters: "X_m" becomes x and m.
Words words_of(std::string_view name) {
  Words out(1);
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9'))
      out.back() += lower;
    else if (!out.back().empty())
      out.emplace_back();
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

}  // namespace

std::vector<Column> columns_of(std::string_view line) {
  const char separator = line.find(';') != std::string_view::npos ? ';' : ',';
  if (line.find(separator) == std::string_view::npos) return columns_between_blanks(line);
  std::vector<Column> out;
  for (size_t begin = 0; out.size() <= kMaxColumns;) {
    const size_t end = std::min(line.find(separator, begin), line.size());
    out.push_back(trimmed_column(line, begin, end));
    if (end == line.size()) break;
    begin = end + 1;
  }
  if (out.size() == 1 && out.back().text.empty()) out.clear();
  return out;
}

std::optional<XyColumns> named_xy(const std::vector<Column>& header) {
  std::vector<Words> names;
  for (const Column& column : header) names.push_back(words_of(column.text));
  std::optional<XyColumns> out;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_plain = !names[i].empty() && names[i].front() == "x" && names[i].size() <= 2;
    Words partner = names[i];
    const auto found = std::find(partner.begin(), partner.end(), "x");
    if (found == partner.end() || (out && !is_plain)) continue;
    *found = "y";
    const auto y = std::find(names.begin(), names.end(), partner);
    if (y == names.end()) continue;
    out = {i, static_cast<size_t>(y - names.begin())};
    if (is_plain) return out;
  }
  return out;
}

bool is_length_along(const std::vector<double>& rows) {
  constexpr double kShare = 0.1, kRounding = 1e-3;  // m
  if (rows.size() < 9 || std::fabs(rows[0]) > kRounding) return false;
  for (size_t i = 3; i + 2 < rows.size(); i += 3) {
    const double dx = rows[i + 1] - rows[i - 2], dy = rows[i + 2] - rows[i - 1];
    const double chord = std::sqrt(dx * dx + dy * dy);
    if (!(std::fabs(rows[i] - rows[i - 3] - chord) <= kShare * chord + kRounding)) return false;
  }
  return true;
}

}  // namespace mvsim
