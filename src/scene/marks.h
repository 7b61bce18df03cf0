// Marks and lines that viewers draw beside the scene.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "base/geometry3.h"
#include "scene/scene.h"

namespace mvsim {

// Marks that viewers draw beside the scene: values of one running world, metres, world frame. The viewer
// chooses their colours. No sensor sees them.

// Arrow on top of a robot that shows its heading, x forward.
struct HeadingMark {
  Frame3 frame;
  double length = 0.1;
};

enum class RegionMark { kFriction, kRollingResistance, kSoil };

// Region of another ground, a patch of heights like HeightField.
struct RegionPatch {
  RegionMark kind = RegionMark::kFriction;
  int rows = 0, columns = 0;
  std::vector<float> heights;
  Vec2 corner;
  double step_x = 1, step_y = 1;
};

// A ring on the ground. `line` follows the ground where it is hilly; empty: it lies level at center.z.
struct RingMark {
  Vec3 center;
  double inner_radius = 0, outer_radius = 0.25;
  std::vector<Vec3> line;  // of the middle between both radii, closed
};

struct Marks {
  std::vector<HeadingMark> headings;
  std::vector<RegionPatch> regions;
  // both anchors of each joint
  std::vector<std::array<Vec3, 2>> ropes;
  std::vector<std::array<Vec3, 2>> hitches;
  std::vector<Vec3> hits;  // where rays of lidars end that hit something
  std::optional<RingMark> goal;
};

// Lines of a ground grid at the initial pose of the frame that it follows.

inline std::vector<std::array<Vec3, 2>> ground_lines(const GroundGrid& grid) {
  const Rect& e = grid.extent;
  std::vector<std::array<Vec3, 2>> lines;
  for (double x = e.x_min; x <= e.x_max + 1e-9; x += grid.interval)
    lines.push_back({{{x, e.y_min, 0}, {x, e.y_max, 0}}});
  for (double y = e.y_min; y <= e.y_max + 1e-9; y += grid.interval)
    lines.push_back({{{e.x_min, y, 0}, {e.x_max, y, 0}}});
  return lines;
}

}  // namespace mvsim
