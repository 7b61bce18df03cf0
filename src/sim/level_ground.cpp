#include "sim/level_ground.h"

#include <algorithm>
#include <bit>

#include "raycast/polygon_distance.h"
#include "sim/measure.h"

namespace mvsim {
namespace {

constexpr double kFarthest = 10;  // m, beyond which nothing is looked at
constexpr double kSlack = 1e-6;   // m, beyond any rounding

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

// Heights that a piece of ground has somewhere.
struct Heights {
  double low, high;
};

// The ground that is looked for: that of a plane, or none at all, which counts as 0.
struct Wanted {
  double z, ceiling;
  bool has_plane;

  // Whether ground of such heights changes nothing wherever it lies.
  bool ignores(Heights h) const {
    if (h.low > ceiling + kSlack) return true;
    if (same_bits(h.low, z) && same_bits(h.high, z)) return true;
    return has_plane && h.high < z - kSlack;
  }
};

// From a point to the border of a rectangle: > 0 inside, < 0 outside.
double depth_in(const Rect& r, Vec2 p) {
  const double inside =
      std::min(std::min(p.x - r.x_min, r.x_max - p.x), std::min(p.y - r.y_min, r.y_max - p.y));
  if (inside >= 0) return inside;
  return -norm(
      {std::max({r.x_min - p.x, p.x - r.x_max, 0.0}), std::max({r.y_min - p.y, p.y - r.y_max, 0.0})});
}

double depth_in(const GroundPlane& plane, Vec2 p) {
  return depth_in(plane.extent, Rotation2(plane.pose.yaw).unrotate(p - Vec2{plane.pose.x, plane.pose.y}));
}

Heights heights_of(const BlockTop& top, double z) {
  if (top.shape == TopShape::kFlat) return {z + top.height, z + top.height};
  return {z + std::min(0.0, top.height) - kSlack, z + std::max(0.0, top.height) + kSlack};
}

// To a block's top, at most `limit`.
double distance_to_top(const BlockTop& top, const Pose2& pose, Vec2 p, double limit) {
  const Vec2 offset = p - Vec2{pose.x, pose.y};
  if (norm(offset) - top.radius >= limit) return limit;
  return std::min(limit, polygon_point_distance(top.outline, Rotation2(pose.yaw).unrotate(offset)));
}

// To the nearest ground that is not ignored, at most `limit`; `movable`: some of it, near or far, can move.
double distance_to_other(const Model& m, const SimState& s, Vec2 at, const Wanted& wanted, double limit,
                         bool& movable) {
  double best = limit;
  for (const HeightMap& map : m.terrain.maps)
    if (!wanted.has_plane || !(map.highest() < wanted.z - kSlack))
      best = std::min(best, -depth_in(map.extent(), at));
  for (const GroundPlane& plane : m.terrain.planes) {
    const double z = plane.pose.z + plane.z;
    if (!wanted.ignores({z, z})) best = std::min(best, -depth_in(plane, at));
  }
  movable = false;
  for (size_t b = 0; b < m.blocks.size(); ++b) {
    const BlockModel& block = m.blocks[b];
    if (wanted.ignores(heights_of(block.top, s.block_z[b]))) continue;
    movable = movable || (block.body >= 0 && !block.traits.is_static);
    best = distance_to_top(block.top, block_plane_pose({m, s}, b), at, best);
  }
  return best;
}

}  // namespace

LevelGround find_level_ground(const Model& m, const SimState& s, Vec2 center, double z, GroundQuery query) {
  LevelGround out{.center = center, .z = z, .room = 0, .known = true};
  double on_plane = 0;
  for (const GroundPlane& plane : m.terrain.planes)
    if (same_bits(plane.pose.z + plane.z, z)) on_plane = std::max(on_plane, depth_in(plane, center));
  const auto look = [&](bool has_plane, double limit) {
    bool movable = false;
    const double found = distance_to_other(m, s, center, {z, z + query.ceiling, has_plane}, limit, movable);
    if (!(found > out.room)) return;
    out.room = found;
    out.on_movable_blocks = movable;
  };
  if (same_bits(z, 0.0)) look(false, kFarthest + query.reach);
  look(true, std::min(on_plane, kFarthest + query.reach));
  out.room -= query.reach + kSlack;
  return out;
}

}  // namespace mvsim
