// Occupancy grids for rays: their tables, and the casting of fans and single rays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"

namespace mvsim {

// Occupancy grid with tables for ray casting and clearance queries.
//
// Grid frame, metres: cell (ix, iy) covers [ix, ix + 1] x [iy, iy + 1] times the resolution, row 0 is the
// lowest y and cells[iy * width + ix] its value. Points outside of the grid count as unknown: they end a
// ray without a return. Immutable after construction, so any number of threads may share it.

enum class Cell : uint8_t { kFree = 0, kOccupied = 1, kUnknown = 2 };

struct CellIndex {
  int32_t x = 0, y = 0;
  friend bool operator==(CellIndex, CellIndex) = default;
};

class GridField {
 public:
  // `cells`: width * height values of Cell; throws std::invalid_argument when sizes or values do not fit.
  // `poll` is called for every row and may throw. Copies share the tables.
  GridField(std::span<const uint8_t> cells, int width, int height, double resolution,
            const std::function<void()>& poll = {});

  int width() const { return width_; }
  int height() const { return height_; }
  double resolution() const { return resolution_; }

  Cell cell(int ix, int iy) const;         // kUnknown outside
  Cell cell_at(double x, double y) const;  // the same for a point in metres
  void copy_row(int iy, Cell* out) const;  // its width() cells, 0 <= iy < height()

  // Exact distance [m] from a point to the nearest occupied cell (a closed square), `limit` if none is
  // nearer.
  double distance_to_occupied(double x, double y, double limit) const;

  // Occupied cells whose square is at most `radius` [m] from the point, row by row; replaces the contents of
  // `found`.
  void occupied_cells(double x, double y, double radius, std::vector<CellIndex>& found) const;

  size_t bytes() const;
  static double bytes_of(int width, int height);  // the same before it is made

  // For the ray kernel: code of cell (ix, iy) in the plane of a direction's quadrant is
  // codes()[plane * plane_size() + code_offset(ix, iy)], with plane = (dx < 0) + 2 * (dy < 0). A cache line
  // holds 8 x 8 cells, so rays side by side share lines in every direction and a scan touches few of them.
  // kOccupiedCode and kUnknownCode stop a ray; a code above says that a ray of that quadrant, from anywhere
  // in the cell, is free for (code - kFreeCode) / kCodesPerCell cells. A border of unknown cells closes the
  // grid.
  static constexpr int kOccupiedCode = 0, kUnknownCode = 1, kFreeCode = 2;
  static constexpr int kCodesPerCell = 4;
  const uint8_t* codes() const { return tables_->codes.data()->cells; }
  // Cells a row of a plane, border included: a multiple of 8.
  int stride() const { return stride_; }
  int code_offset(int ix, int iy) const {
    const int x = ix + 1, y = iy + 1;  // the border's lower corner is cell (-1, -1)
    return (y & ~7) * stride_ + (x & ~7) * 8 + (y & 7) * 8 + (x & 7);
  }
  int plane_size() const { return plane_size_; }

 private:
  struct Window {  // cells, both ends included
    int x_min, x_max, y_min, y_max;
  };
  struct alignas(64) CacheLine {
    uint8_t cells[64];
  };
  struct Tables {
    std::vector<CacheLine, HugePageAllocator<CacheLine>>
        codes;                    // four planes and a line more, so that 4 bytes can be read at every code
    std::vector<uint64_t> tiles;  // occupied cells as bits, 8 x 8 cells a word, 8 bits a row
  };
  Window window(double x, double y, double radius) const;
  void fill_plane(int plane, std::span<const uint8_t> cells, const std::function<void()>& poll,
                  Tables& tables) const;
  void fill_tiles(std::span<const uint8_t> cells, Tables& tables) const;

  int width_, height_;
  double resolution_;
  int stride_, plane_size_;
  int tiles_per_row_;
  std::shared_ptr<const Tables> tables_;
};

// The vector loops behind the distance field's construction. Private to raycast/.

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
void write_distance_codes(const uint8_t* cells, const int16_t* nearest, int width, uint8_t* codes);

// Exact 2D rays against an occupancy grid.
//
// Directions and ranges are floats. The marching only finds the cell. The range is then one expression of the
// cell and the ray, so every instruction set gives the same bits. Pure function, any thread.

// Casts `count` rays from (x, y) [m, grid frame, inside of the grid or not] along the unit directions (dx[i],
// dy[i]). range[i] becomes the distance [m] to the border of the first occupied cell, if that is at most
// max_range and less than range[i]. A ray that starts in an occupied cell gives 0. A ray that first meets an
// unknown cell, leaves the grid or goes beyond max_range or 4 million cells does not change range[i]. No ray
// passes between two occupied cells that share a corner.
void cast_grid(const GridField& grid, double x, double y, const float* dx, const float* dy, int count,
               double max_range, float* range);

}  // namespace mvsim
