// What a search for paths asks of a planning grid, made ready once for any number of searches. Immutable.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "env/plan/planning_grid.h"

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
  // The same for all neighbours on the grid.
  template <typename Visit>
  void for_neighbors(int cell, const Visit& visit) const {
    for_each(cell, neighbors_of(cell), visit);
  }

  // Whether the segment between two cell centres runs through free cells only; passing exactly through a
  // corner needs both cells beside it.
  bool is_visible(const PlanningGrid& grid, int from, int to) const;

  static double bytes_of(const PlanningGrid& grid);

 private:
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

  int width_;
  std::array<int, kDirections> offsets_;
  std::vector<uint8_t> moves_, neighbors_;
  size_t stride_;
  std::vector<int32_t> blocked_;  // how many cells below and to the left are not free
};

}  // namespace mvsim
