
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/params.h"
#include "task/plan/centreline.h"

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

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr double kFarthest = 1e9;    // m
constexpr double kSamePlace = 1e-4;  // m, between the first point and a last one that repeats it

class Reader {
 public:
  Reader(std::string path, const SourceLocation& where, LoadGuard& guard)
      : path_(std::make_shared<const std::string>(std::move(path))), where_(where), guard_(guard) {}

  std::vector<Vec2> read(std::string_view text) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
      fail(0, "is UTF-16 text, expected UTF-8");
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
      read_line(text.substr(begin, end - begin));
      begin = end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
      if (++line_ % 256 == 0) guard_.poll();
    }
    if (lines_.empty()) {
      line_ = 1;
      fail(0, "found no points, expected rows of x and y");
    }
    return points();
  }

 private:
  [[noreturn]] void fail(size_t column, const std::string& why) const {
    throw WorldFileError({path_, line_, static_cast<int>(column) + 1}, why);
  }

  void read_line(std::string_view line) {
    const size_t hash = line.find('#');
    std::vector<Column> columns = columns_of(line.substr(0, hash));
    if (!columns.empty()) {
      if (columns.size() > kMaxColumns)
        fail(0, "found more than " + std::to_string(kMaxColumns) + " columns, expected rows of x and y");
      // an empty column after the last separator is dropped, unless earlier rows have a column there
      if (columns.back().text.empty() && (count_ == 0 || columns.size() > count_)) columns.pop_back();
      return read_columns(columns);
    }
    if (hash == std::string_view::npos || !lines_.empty()) return;
    const size_t name = line.find_first_not_of("# \t", hash);
    if (name == std::string_view::npos) return;
    std::vector<Column> names = columns_of(line.substr(name));
    if (names.back().text.empty()) names.pop_back();
    if (const auto found = named_xy(names)) comment_ = {*found, names.size()};
  }

  void read_columns(const std::vector<Column>& columns) {
    if (lines_.empty() && !has_header_) {
      if (comment_ && comment_->count == columns.size()) xy_ = comment_->xy;
      if (begin_table(columns)) return;
    }
    if (columns.size() != count_)
      fail(0, "found " + std::to_string(columns.size()) + " columns, expected " + std::to_string(count_) +
                  " as in line " + std::to_string(first_line_));
    if (xy_) return add({number(columns[xy_->x]), number(columns[xy_->y])});
    for (size_t i = 3; i < columns.size(); ++i) number(columns[i]);
    const double third = columns.size() > 2 ? number(columns[2]) : 0;
    add({number(columns[0]), number(columns[1])});
    if (columns.size() > 2) rows_.insert(rows_.end(), {points_.back().x, points_.back().y, third});
  }

  // Reads the first line that is no comment. Returns true if it is a header.
  bool begin_table(const std::vector<Column>& columns) {
    count_ = columns.size();
    first_line_ = line_;
    bool is_numbers = true;
    for (size_t i = 0; i < count_; ++i)
      if (!xy_ || i == xy_->x || i == xy_->y)
        is_numbers = is_numbers && scan_number(columns[i].text).has_value();
    if (is_numbers) {
      if (count_ < 2) fail(0, "found one column, expected x and y");
      return false;
    }
    const std::optional<XyColumns> found = named_xy(columns);
    if (!found) {
      for (const Column& column : columns) number(column, " or a header that names the columns x and y");
    } else {
      xy_ = found;
      has_header_ = true;
    }
    return true;
  }

  double number(const Column& column, const char* otherwise = "") const {
    const std::optional<double> out = scan_number(column.text);
    if (!out || !(std::fabs(*out) <= kFarthest))
      fail(column.begin,
           "found '" + shortened(column.text) + "', expected a number of at most 1e9" + otherwise);
    return *out;
  }

  void add(Vec2 point) {
    if (lines_.size() > Centreline::kMaxPoints)
      fail(0, "found more than " + std::to_string(Centreline::kMaxPoints) + " points");
    guard_.take(sizeof(Vec2) + 3 * sizeof(double) + sizeof(int), where_, "the points");
    points_.push_back(point);
    lines_.push_back(line_);
  }

  std::vector<Vec2> points() {
    if (!xy_ && count_ > 2 && is_length_along(rows_)) {
      for (size_t i = 0; i < points_.size(); ++i) points_[i] = {rows_[3 * i + 1], rows_[3 * i + 2]};
    } else if (!xy_ && count_ > 4) {
      line_ = first_line_;
      fail(0, "found " + std::to_string(count_) +
                  " columns and no header, expected one that names the columns x and y");
    }
    if (points_.size() > 1 && norm(points_.back() - points_.front()) <= kSamePlace) points_.pop_back();
    for (size_t i = 1; i < points_.size(); ++i)
      if (points_[i] == points_[i - 1]) {
        line_ = lines_[i];
        fail(0, "found the point of line " + std::to_string(lines_[i - 1]) + " again, expected another");
      }
    return std::move(points_);
  }

  struct Named {
    XyColumns xy;
    size_t count = 0;  // number of columns of the header
  };

  std::shared_ptr<const std::string> path_;
  const SourceLocation& where_;
  LoadGuard& guard_;
  int line_ = 1;
  std::optional<Named> comment_;  // the last comment that names x and y
  std::optional<XyColumns> xy_;   // if a header names them
  bool has_header_ = false;       // a header in a line of its own
  size_t count_ = 0;              // number of columns, as in line first_line_
  int first_line_ = 0;
  std::vector<Vec2> points_;
  std::vector<int> lines_;    // line of each point
  std::vector<double> rows_;  // the first three numbers of each row, if there is no header
};

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

std::vector<Vec2> read_centreline(const OpenFile& file, const SourceLocation& where, LoadGuard& guard) {
  const TemporaryMemory memory(guard, static_cast<double>(file.size()), where, "the file of points");
  const std::string text = file.read(kMaxBytes);
  return Reader(file.path(), where, guard).read(text);
}

}  // namespace mvsim
