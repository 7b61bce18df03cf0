// Lines of a table as text: their columns, and which of them are x and y. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mvsim {

struct Column {
  std::string_view text;  // without blanks around it
  size_t begin = 0;       // in the line
};

inline constexpr size_t kMaxColumns = 100;

// Between semicolons if the line has some, else between commas, else between blanks. At most
// kMaxColumns + 1.
std::vector<Column> columns_of(std::string_view line);

struct XyColumns {
  size_t x = 0, y = 1;
};

// Of a header: a column that is called x (x, "x_m", pos_x, X [m]) and one of the same name for y.
std::optional<XyColumns> named_xy(const std::vector<Column>& header);

// Whether the first of three numbers a row is the length along the points that the other two make.
bool is_length_along(const std::vector<double>& rows);

}  // namespace mvsim
