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

// Goes on to the next row of `cells` (Cell): steps[i] = how many up to the last stop in its column, kMaxGap +
// 1 if farther, square[i] = gap_square() of it. At most kRowBorder cells beyond `width` are read and written.
void step_over_row(const uint8_t* cells, int width, int16_t* steps, int16_t* square);

// nearest[i] = the least of column[i + ahead_x * n] + gap_square(n) for n = 0, 1... kMaxGap: squared
// distances along columns become distances over all the columns ahead (ahead_x is 1 or -1). Up to kRowBorder
// - kMaxGap cells beyond `width` are written too.
void nearest_ahead(const int16_t* column, int width, int ahead_x, int16_t* nearest);

// The codes of a row (GridField::codes()) of which `nearest` is the squared distance of each free cell,
// rounded down: a bound must not be rounded up. At most kRowBorder cells beyond `width` are read and written.
void write_codes(const uint8_t* cells, const int16_t* nearest, int width, uint8_t* codes);

}  // namespace mvsim
