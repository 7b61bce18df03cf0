#include "terrain/ground_index.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

constexpr int64_t kMaxLooks = 50'000'000;  // a second of them; a world of 50,000 blocks needs a hundredth
constexpr int kSmallestLevel = -10;        // squares of a millimetre
constexpr double kSlack = 1e-6;            // of a radius and m: rounding never hides a piece

int level_of(double radius) {
  int exponent = 0;
  std::frexp(radius, &exponent);  // radius < 2^exponent
  return std::max(exponent, kSmallestLevel);
}

}  // namespace

std::optional<double> GroundIndex::Piece::height_at(Vec2 at) const {
  if (map) return map->height_at(at);
  return plane ? height_of(*plane, at) : height_of(block, at);
}

void GroundIndex::add(const HeightMap& map) {
  const Rect e = map.extent();
  add({(e.x_min + e.x_max) / 2, (e.y_min + e.y_max) / 2},
      norm(Vec2{e.x_max - e.x_min, e.y_max - e.y_min}) / 2, map.highest(), false, {.map = &map});
}

void GroundIndex::add(const GroundPlane& plane) {
  const Rect& e = plane.extent;
  const Pose2 pose{plane.pose.x, plane.pose.y, plane.pose.yaw};
  add(transform(pose, {(e.x_min + e.x_max) / 2, (e.y_min + e.y_max) / 2}),
      norm(Vec2{e.x_max - e.x_min, e.y_max - e.y_min}) / 2, plane.pose.z + plane.z, true, {.plane = &plane});
}

void GroundIndex::add(const PlacedTop& top) {
  add({top.pose.x, top.pose.y}, top.top->radius, top.z + top.top->height, top.top->shape == TopShape::kFlat,
      {.block = top});
}

void GroundIndex::add(Vec2 center, double radius, double highest, bool is_level, const Piece& piece) {
  const int level = level_of(radius * (1 + kSlack) + kSlack);
  const auto index = [&](double v) { return static_cast<int64_t>(std::floor(std::ldexp(v, -level))); };
  levels_.insert(level);
  Square& square = squares_[{level, index(center.x), index(center.y)}];
  if (is_level)
    square.level.emplace(highest, piece);
  else
    square.uneven.emplace(highest + kSlack * (1 + std::fabs(highest)), piece);
}

void GroundIndex::look() {
  if (++looks_ > kMaxLooks) throw Error("too much ground lies over each other in one place");
  if (looks_ % 1024 == 0) guard_.poll();
}

template <typename Visit>
void GroundIndex::for_squares(Vec2 at, const Visit& visit) {
  if (!std::isfinite(at.x) || !std::isfinite(at.y)) return;
  for (const int level : levels_) {
    const auto column = static_cast<int64_t>(std::floor(std::ldexp(at.x, -level)));
    const auto row = static_cast<int64_t>(std::floor(std::ldexp(at.y, -level)));
    for (int64_t i = column - 1; i <= column + 1; ++i)
      for (auto it = squares_.lower_bound({level, i, row - 1});
           it != squares_.end() && it->first <= Key(level, i, row + 1); ++it)
        visit(it->second);
  }
}

double GroundIndex::highest_under(Vec2 at, double z) {
  bool found = false;
  double best = 0;
  const auto consider = [&](const Piece& piece) {
    look();
    const std::optional<double> height = piece.height_at(at);
    if (!height || *height > z || (found && *height <= best)) return;
    best = *height;
    found = true;
  };
  for_squares(at, [&](const Square& square) {
    // from the highest candidate down to the height that was already found
    for (auto it = square.level.upper_bound(z); it != square.level.begin();) {
      --it;
      if (found && it->first <= best) break;
      consider(it->second);
    }
    for (auto it = square.uneven.rbegin(); it != square.uneven.rend() && !(found && it->first <= best); ++it)
      consider(it->second);
  });
  if (found) return best;
  std::optional<double> lowest;
  for_maps(at, [&](double height) { lowest = lowest ? std::min(*lowest, height) : height; });
  return lowest.value_or(0);
}

// Calls visit(height) for each elevation map at the point.
template <typename Visit>
void GroundIndex::for_maps(Vec2 at, const Visit& visit) {
  for_squares(at, [&](const Square& square) {
    for (const auto& [highest, piece] : square.uneven) {
      if (!piece.map) continue;
      look();
      if (const std::optional<double> height = piece.map->height_at(at)) visit(*height);
    }
  });
}

std::optional<double> GroundIndex::highest_map(Vec2 at) {
  std::optional<double> best;
  for_maps(at, [&](double height) { best = best ? std::max(*best, height) : height; });
  return best;
}

}  // namespace mvsim
