#include "env/plan/path_tables.h"

#include <cstdlib>
#include <utility>

namespace mvsim {
namespace {

struct Direction {
  int dx, dy;
};
constexpr Direction kNeighbors[PathTables::kDirections] = {{1, 0}, {0, 1},  {-1, 0},  {0, -1},
                                                           {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

// The directions that leave the grid from its sides, by kNeighbors.
constexpr unsigned bits_where(int dx, int dy) {
  unsigned bits = 0;
  for (unsigned i = 0; i < PathTables::kDirections; ++i)
    if ((dx != 0 && kNeighbors[i].dx == dx) || (dy != 0 && kNeighbors[i].dy == dy)) bits |= 1u << i;
  return bits;
}

uint8_t neighbors_in(const PlanningGrid& g, int x, int y) {
  unsigned bits = PathTables::kAll;
  if (x == 0) bits &= ~bits_where(-1, 0);
  if (y == 0) bits &= ~bits_where(0, -1);
  if (x == g.width - 1) bits &= ~bits_where(1, 0);
  if (y == g.height - 1) bits &= ~bits_where(0, 1);
  return static_cast<uint8_t>(bits);
}

}  // namespace

PathTables::PathTables(const PlanningGrid& g)
    : width_(g.width),
      moves_(g.free.size()),
      neighbors_(g.free.size()),
      stride_(static_cast<size_t>(g.width) + 1),
      blocked_(stride_ * (static_cast<size_t>(g.height) + 1)) {
  for (size_t i = 0; i < kDirections; ++i) offsets_[i] = kNeighbors[i].dy * width_ + kNeighbors[i].dx;
  for (int y = 0; y < g.height; ++y) {
    int32_t row = 0;
    const size_t below = static_cast<size_t>(y) * stride_, above = below + stride_;
    for (int x = 0; x < width_; ++x) {
      row += g.free[static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)] ? 0 : 1;
      const auto right = static_cast<size_t>(x) + 1;
      blocked_[above + right] = blocked_[below + right] + row;
    }
  }
  const auto is_free = [&](int cell) { return g.free[static_cast<size_t>(cell)] != 0; };
  for (int cell = 0; cell < static_cast<int>(g.free.size()); ++cell) {
    neighbors_[static_cast<size_t>(cell)] = neighbors_in(g, cell % width_, cell / width_);
    unsigned bits = 0;
    for (unsigned left = neighbors_of(cell); left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      const Direction d = kNeighbors[i];
      if (!is_free(cell + offsets_[i])) continue;
      if (d.dx != 0 && d.dy != 0 && !(is_free(cell + d.dx) && is_free(cell + d.dy * width_))) continue;
      bits |= 1u << i;
    }
    moves_[static_cast<size_t>(cell)] = static_cast<uint8_t>(bits);
  }
}

bool PathTables::none_blocked_between(int x0, int y0, int x1, int y1) const {
  if (x0 > x1) std::swap(x0, x1);
  if (y0 > y1) std::swap(y0, y1);
  const size_t low = static_cast<size_t>(y0) * stride_, high = (static_cast<size_t>(y1) + 1) * stride_;
  const auto left = static_cast<size_t>(x0), right = static_cast<size_t>(x1) + 1;
  return blocked_[high + right] - blocked_[high + left] == blocked_[low + right] - blocked_[low + left];
}

bool PathTables::is_visible(const PlanningGrid& g, int from, int to) const {
  const int y0 = from / width_, x0 = from - y0 * width_, y1 = to / width_, x1 = to - y1 * width_;
  if (none_blocked_between(x0, y0, x1, y1)) return true;
  const int nx = std::abs(x1 - x0), ny = std::abs(y1 - y0);
  const int sx = x1 > x0 ? 1 : -1, sy = y1 > y0 ? width_ : -width_;
  const uint8_t* cell = g.free.data() + from;
  // which border of its cell the segment crosses next: that between columns where it is negative
  int64_t decision = int64_t{ny} - nx;
  for (int left = nx + ny; left > 0;) {
    if (decision == 0 && !(cell[sx] && cell[sy])) return false;
    const bool across = decision <= 0, along = decision >= 0;
    cell += (across ? sx : 0) + (along ? sy : 0);
    decision += (across ? 2 * int64_t{ny} : 0) - (along ? 2 * int64_t{nx} : 0);
    left -= (across ? 1 : 0) + (along ? 1 : 0);
    if (!*cell) return false;
  }
  return true;
}

double PathTables::bytes_of(const PlanningGrid& g) {
  return 2.0 * static_cast<double>(g.free.size()) + sizeof(int32_t) * (g.width + 1.0) * (g.height + 1.0);
}

}  // namespace mvsim
