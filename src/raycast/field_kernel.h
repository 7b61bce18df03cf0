// The vector loops behind the distance field's construction. Private to raycast/.
#pragma once

#include <cstdint>

namespace mvsim {

inline constexpr int kMaxGap = 63;      // cells; the longest distance that the field knows
inline constexpr int kRowBorder = 128;  // readable and writable cells before and after a row

// Cells between two cells that are `steps` apart along one axis, squared.
constexpr int gap_square(int steps) {
  return steps <= 1 ? 0 : (steps - 1) * (steps - 1);
}

// Advances the column distances by one row of `cells` (Cell). steps[i] is the number of rows since the last
// cell of the column that is not free, at most kMaxGap + 1; square[i] is its gap_square(). At most kRowBorder
// cells beyond `width` are read and written.
void step_over_row(const uint8_t* cells, int width, int16_t* steps, int16_t* square);

// Computes squared distances over all the columns ahead (ahead_x is 1 or -1) from squared distances along
// columns: nearest[i] is the least of column[i + ahead_x * n] + gap_square(n) for n = 0, 1... kMaxGap. Up to
// kRowBorder - kMaxGap cells beyond `width` are written too.
void nearest_ahead(const int16_t* column, int width, int ahead_x, int16_t* nearest);

// Writes the codes of a row (GridField::codes()). `nearest` is the squared distance of each free cell. A code
// is rounded down, because it bounds a distance from below. At most kRowBorder cells beyond `width` are read
// and written.
void write_codes(const uint8_t* cells, const int16_t* nearest, int width, uint8_t* codes);

}  // namespace mvsim
