// Parses lines of a table: their columns, and the indices of x and y. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mvsim {

struct Column {
  std::string_view text;  // without blanks around it
  size_t begin = 0;       // position in the line
};

inline constexpr size_t kMaxColumns = 100;

// Splits a line at semicolons if it has some, else at commas, else at blanks. Returns at most kMaxColumns + 1
// columns.
std::vector<Column> columns_of(std::string_view line);

struct XyColumns {
  size_t x = 0, y = 1;
};

// Finds the columns of a header with names for x (x, "x_m", pos_x, X [m]) and the same name for y.
std::optional<XyColumns> named_xy(const std::vector<Column>& header);

// Whether the first of three numbers a row is the arc length along the points of the other two.
bool is_length_along(const std::vector<double>& rows);

}  // namespace mvsim
