// Tables of a planning grid that searches for paths read, computed once for any number of searches.
// Immutable.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "task/plan/planning_grid.h"

namespace mvsim {

class PathTables {
 public:
  static constexpr int kDirections = 8;
  static constexpr uint8_t kAll = 0xff;

  explicit PathTables(const PlanningGrid& grid);

  // A bit for each neighbour that is free and reached by a straight move. A diagonal move needs both cells
  // beside it free.
  uint8_t moves(int cell) const { return moves_[static_cast<size_t>(cell)]; }
  // Calls visit(neighbour) for each of them.
  template <typename Visit>
  void for_moves(int cell, const Visit& visit) const {
    for_each(cell, moves(cell), visit);
  }
  // The same for all neighbours inside the grid, and for those of them that are not free.
  template <typename Visit>
  void for_neighbors(int cell, const Visit& visit) const {
    for_each(cell, neighbors_of(cell), visit);
  }
  template <typename Visit>
  void for_solid_neighbors(int cell, const Visit& visit) const {
    for (unsigned left = solid_[static_cast<size_t>(cell)]; left != 0; left &= left - 1)
      visit(cell + offsets_[static_cast<size_t>(std::countr_zero(left))]);
  }

  Vec2 center(int cell) const {
    const Place at = places_[static_cast<size_t>(cell)];
    return {xs_[at.column + size_t{1}], ys_[at.row + size_t{1}]};
  }

  // The squared distances from a point to the columns and rows around a cell, m2.
  class Offsets {
   public:
    Offsets(const PathTables& tables, int cell, Vec2 from) {
      const Place at = tables.places_[static_cast<size_t>(cell)];
      for (size_t k = 0; k < 3; ++k) {
        const double dx = tables.xs_[at.column + k] - from.x, dy = tables.ys_[at.row + k] - from.y;
        x_[k] = dx * dx;
        y_[k] = dy * dy;
      }
    }
    // Returns the distance from the point to the centre of the neighbour in a direction, m.
    double distance(unsigned direction) const {
      const Direction d = kNeighbors[direction];
      return std::sqrt(x_[d.dx + 1] + y_[d.dy + 1]);
    }

   private:
    double x_[3], y_[3];  // to the column and row before, of and after the cell
  };

  // Returns the moves of a cell for which is_open(neighbour) holds, a bit each.
  template <typename IsOpen>
  unsigned moves_where(int cell, const IsOpen& is_open) const {
    return those_where(cell, moves(cell), is_open);
  }
  // The same for all neighbours inside the grid.
  template <typename IsOpen>
  unsigned neighbors_where(int cell, const IsOpen& is_open) const {
    return those_where(cell, neighbors_of(cell), is_open);
  }
  int neighbor(int cell, unsigned direction) const { return cell + offsets_[direction]; }

  // Whether the segment between two cell centres passes only through free cells. At an exact corner both
  // cells beside it must be free.
  bool is_visible(int from, int to) const;

  static double bytes_of(const PlanningGrid& grid);

 private:
  struct Direction {
    int dx, dy;
  };
  static constexpr Direction kNeighbors[kDirections] = {{1, 0}, {0, 1},  {-1, 0},  {0, -1},
                                                        {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

  struct Place {
    uint16_t column, row;  // a planning grid has no longer side (planning_cell_of())
  };

  template <typename IsOpen>
  unsigned those_where(int cell, unsigned directions, const IsOpen& is_open) const {
    unsigned bits = 0;
    if (directions == kAll) {  // avoids a jump for each
      for (unsigned i = 0; i < kDirections; ++i)
        bits |= static_cast<unsigned>(is_open(cell + offsets_[i])) << i;
      return bits;
    }
    for (unsigned left = directions; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      bits |= static_cast<unsigned>(is_open(cell + offsets_[i])) << i;
    }
    return bits;
  }

  template <typename Visit>
  void for_each(int cell, unsigned directions, const Visit& visit) const {
    if (directions == kAll) {  // the usual case, which needs no test of each bit
      for (const int offset : offsets_) visit(cell + offset);
      return;
    }
    for (unsigned left = directions; left != 0; left &= left - 1)
      visit(cell + offsets_[static_cast<size_t>(std::countr_zero(left))]);
  }
  unsigned neighbors_of(int cell) const { return neighbors_[static_cast<size_t>(cell)]; }
  bool none_blocked_between(int x0, int y0, int x1, int y1) const;
  bool runs_are_free(const uint16_t* runs, std::ptrdiff_t along, std::ptrdiff_t across, int na, int nb) const;
  void count_blocked(const PlanningGrid& grid);
  void count_runs(const PlanningGrid& grid);
  static uint8_t neighbors_in(const PlanningGrid& grid, int x, int y);

  int width_;
  std::array<int, kDirections> offsets_;
  std::vector<uint8_t> moves_, neighbors_, solid_;  // bits by direction; solid: not free
  std::vector<Place> places_;
  std::vector<double> xs_, ys_;       // of the centres by column and row, beginning one before the first
  std::vector<uint16_t> right_, up_;  // number of free cells to the right of each cell and above it
  size_t stride_;
  std::vector<int32_t> blocked_;  // number of cells below and to the left that are not free
};

}  // namespace mvsim
