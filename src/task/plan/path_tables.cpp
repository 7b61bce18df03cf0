#include "task/plan/path_tables.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace mvsim {

// Returns the directions to neighbours inside the grid.
uint8_t PathTables::neighbors_in(const PlanningGrid& g, int x, int y) {
  unsigned bits = 0;
  for (unsigned i = 0; i < kDirections; ++i) {
    const int column = x + kNeighbors[i].dx, row = y + kNeighbors[i].dy;
    if (column >= 0 && column < g.width && row >= 0 && row < g.height) bits |= 1u << i;
  }
  return static_cast<uint8_t>(bits);
}

PathTables::PathTables(const PlanningGrid& g)
    : width_(g.width),
      moves_(g.free.size()),
      neighbors_(g.free.size()),
      solid_(g.free.size()),
      places_(g.free.size()),
      right_(g.free.size()),
      up_(g.free.size()),
      stride_(static_cast<size_t>(g.width) + 1),
      blocked_(stride_ * (static_cast<size_t>(g.height) + 1)) {
  for (size_t i = 0; i < kDirections; ++i) offsets_[i] = kNeighbors[i].dy * width_ + kNeighbors[i].dx;
  for (int column = -1; column <= g.width; ++column) xs_.push_back(g.center(column, 0).x);
  for (int row = -1; row <= g.height; ++row) ys_.push_back(g.center(0, row).y);
  count_blocked(g);
  count_runs(g);
  const auto is_free = [&](int cell) { return g.free[static_cast<size_t>(cell)] != 0; };
  for (int cell = 0; cell < static_cast<int>(g.free.size()); ++cell) {
    const int row = cell / width_, column = cell % width_;
    const auto at = static_cast<size_t>(cell);
    places_[at] = {static_cast<uint16_t>(column), static_cast<uint16_t>(row)};
    neighbors_[at] = neighbors_in(g, column, row);
    unsigned free = 0, moves = 0;
    for (unsigned left = neighbors_of(cell); left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      const Direction d = kNeighbors[i];
      if (!is_free(cell + offsets_[i])) continue;
      free |= 1u << i;
      if (d.dx != 0 && d.dy != 0 && !(is_free(cell + d.dx) && is_free(cell + d.dy * width_))) continue;
      moves |= 1u << i;
    }
    moves_[at] = static_cast<uint8_t>(moves);
    solid_[at] = static_cast<uint8_t>(neighbors_of(cell) & ~free);
  }
}

void PathTables::count_blocked(const PlanningGrid& g) {
  for (int y = 0; y < g.height; ++y) {
    int32_t row = 0;
    const size_t below = static_cast<size_t>(y) * stride_, above = below + stride_;
    for (int x = 0; x < width_; ++x) {
      row += g.free[static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)] ? 0 : 1;
      const auto right = static_cast<size_t>(x) + 1;
      blocked_[above + right] = blocked_[below + right] + row;
    }
  }
}

void PathTables::count_runs(const PlanningGrid& g) {
  const auto width = static_cast<size_t>(width_);
  for (size_t i = g.free.size(); i-- > 0;) {
    if (!g.free[i]) continue;
    const bool is_last = i % width == width - 1, is_highest = i + width >= g.free.size();
    right_[i] = static_cast<uint16_t>(1 + (is_last ? 0 : right_[i + 1]));
    up_[i] = static_cast<uint16_t>(1 + (is_highest ? 0 : up_[i + width]));
  }
}

bool PathTables::none_blocked_between(int x0, int y0, int x1, int y1) const {
  if (x0 > x1) std::swap(x0, x1);
  if (y0 > y1) std::swap(y0, y1);
  const size_t low = static_cast<size_t>(y0) * stride_, high = (static_cast<size_t>(y1) + 1) * stride_;
  const auto left = static_cast<size_t>(x0), right = static_cast<size_t>(x1) + 1;
  return blocked_[high + right] - blocked_[high + left] == blocked_[low + right] - blocked_[low + left];
}

// Goes through the rows along the shorter side. The segment is `nb` rows and `na` cells long. In row k it
// lies between na (2 k -+ 1) / (2 nb) along the longer side, and touches the cells whose centres are at most
// half a cell from there.
bool PathTables::runs_are_free(const uint16_t* runs, std::ptrdiff_t along, std::ptrdiff_t across, int na,
                               int nb) const {
  const int whole = 2 * nb;
  int last = (na + nb) / whole, rest = (na + nb) % whole;
  const int step = 2 * na / whole, step_rest = 2 * na % whole;
  int first = 0;
  for (int k = 0; k <= nb; ++k, runs += across) {
    const int end = std::min(last, na);
    if (runs[first * along] <= end - first) return false;
    first = rest == 0 ? last - 1 : last;  // if it passes exactly through a corner, both cells beside it count
    last += step;
    rest += step_rest;
    if (rest >= whole) {
      rest -= whole;
      ++last;
    }
  }
  return true;
}

bool PathTables::is_visible(int from, int to) const {
  Place a = places_[static_cast<size_t>(from)], b = places_[static_cast<size_t>(to)];
  if (none_blocked_between(a.column, a.row, b.column, b.row)) return true;
  const int nx = std::abs(b.column - a.column), ny = std::abs(b.row - a.row);
  if (nx == 0 || ny == 0) return false;
  const bool is_flat = nx >= ny;
  if (is_flat ? b.column < a.column : b.row < a.row) {  // runs are stored to the right and upwards
    std::swap(a, b);
    std::swap(from, to);
  }
  if (is_flat) return runs_are_free(right_.data() + from, 1, b.row > a.row ? width_ : -width_, nx, ny);
  return runs_are_free(up_.data() + from, width_, b.column > a.column ? 1 : -1, ny, nx);
}

double PathTables::bytes_of(const PlanningGrid& g) {
  constexpr double kOfCell = 3 * sizeof(uint8_t) + sizeof(Place) + 2 * sizeof(uint16_t);
  return kOfCell * static_cast<double>(g.free.size()) + sizeof(double) * (g.width + g.height + 4.0) +
         sizeof(int32_t) * (g.width + 1.0) * (g.height + 1.0);
}

}  // namespace mvsim
