// What a search for paths asks of a planning grid, made ready once for any number of searches. Immutable.
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

  // A bit for each neighbour that is free and that a straight move reaches: a diagonal needs both cells
  // beside it free.
  uint8_t moves(int cell) const { return moves_[static_cast<size_t>(cell)]; }
  // Calls visit(neighbour) for each of them.
  template <typename Visit>
  void for_moves(int cell, const Visit& visit) const {
    for_each(cell, moves(cell), visit);
  }
  // The same for all neighbours on the grid, and for those of them that are not free.
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

  // The squares of how far a cell's neighbours lie from a point along x and along y, m2.
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
    // From the point to the centre of the neighbour in a direction, m.
    double distance(unsigned direction) const {
      const Direction d = kNeighbors[direction];
      return std::sqrt(x_[d.dx + 1] + y_[d.dy + 1]);
    }

   private:
    double x_[3], y_[3];  // of the columns and rows before, of and after the cell's
  };

  // Of a cell's moves those for which is_open(neighbour) holds, a bit each.
  template <typename IsOpen>
  unsigned moves_where(int cell, const IsOpen& is_open) const {
    return those_where(cell, moves(cell), is_open);
  }
  // The same of all neighbours on the grid.
  template <typename IsOpen>
  unsigned neighbors_where(int cell, const IsOpen& is_open) const {
    return those_where(cell, neighbors_of(cell), is_open);
  }
  int neighbor(int cell, unsigned direction) const { return cell + offsets_[direction]; }

  // Whether the segment between two cell centres runs through free cells only; passing exactly through a
  // corner needs both cells beside it.
  bool is_visible(int from, int to) const;

  static double bytes_of(const PlanningGrid& grid);

 private:
  struct Direction {
    int dx, dy;
  };
  static constexpr Direction kNeighbors[kDirections] = {{1, 0}, {0, 1},  {-1, 0},  {0, -1},
                                                        {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

  struct Place {
    uint16_t column, row;  // no side of a planning grid has more (planning_cell_of())
  };

  template <typename IsOpen>
  unsigned those_where(int cell, unsigned directions, const IsOpen& is_open) const {
    unsigned bits = 0;
    if (directions == kAll) {  // without a jump for each
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
    if (directions == kAll) {  // the usual case, without a look at each bit
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
  std::vector<double> xs_, ys_;       // of the centres by column and by row, from the one before the first
  std::vector<uint16_t> right_, up_;  // how many cells from one on to the right, and upwards, are free
  size_t stride_;
  std::vector<int32_t> blocked_;  // how many cells below and to the left are not free
};

}  // namespace mvsim
