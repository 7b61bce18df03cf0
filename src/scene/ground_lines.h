// Lines of a ground grid at the initial pose of the frame that it follows.
#pragma once

#include <array>
#include <vector>

#include "base/geometry3.h"
#include "scene/scene.h"

namespace mvsim {

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
