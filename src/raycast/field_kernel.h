// The vector loop behind the distance field's construction. Private to raycast/.
#pragma once

#include <cstdint>

namespace mvsim {

inline constexpr int kMaxGap = 63;      // cells; the longest distance that the field knows
inline constexpr int kRowBorder = 128;  // readable cells before and after a row

// Cells between two cells that are `steps` apart along one axis, squared.
constexpr int gap_square(int steps) {
  return steps <= 1 ? 0 : (steps - 1) * (steps - 1);
}

// nearest[i] = the least of column[i + ahead_x * n] + gap_square(n) for n = 0, 1... kMaxGap: squared
// distances along columns become distances over all the columns ahead (ahead_x is 1 or -1). Up to kRowBorder
// - kMaxGap cells beyond `width` are written too.
void nearest_ahead(const int16_t* column, int width, int ahead_x, int16_t* nearest);

}  // namespace mvsim
