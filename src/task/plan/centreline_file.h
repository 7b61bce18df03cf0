// Files of centrelines, and their columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assets/open_file.h"
#include "base/geometry.h"

namespace mvsim {

// Parses lines of a table: their columns, and the indices of x and y. Pure functions.

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

// Reads files of centrelines and racing lines in the formats of track databases. Thread-safe.
//
// Text with a point a line. Semicolons, commas, or blanks and tabs separate columns; '#' begins a comment. A
// header, in a comment or not, names the columns. x and y are read; the others (widths, curvature, speed) are
// not used. Without a header x and y are the first two of 2 to 4 columns, or the second and third if the
// first is the length along them.

// Returns the corners of the closed line, without a last corner that repeats the first. Throws WorldFileError
// with line and column, or at `where` if memory does not suffice.
std::vector<Vec2> read_centreline(const OpenFile& file, const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
