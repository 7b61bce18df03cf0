// Brute-force ray casting in double precision, the oracle of the kernels' tests: every cell and every polygon
// is looked at for every ray, nothing is skipped and nothing is incremental.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/geometry.h"

namespace mvsim::test {

inline constexpr double kNoHit = std::numeric_limits<double>::infinity();

struct Ray {
  Vec2 origin, direction;
};

// The part [enter, leave] of a ray within a box grown by `grow` on all sides; enter > leave if none.
struct Passage {
  double enter = kNoHit, leave = -kNoHit;
};

inline Passage passage(const Ray& ray, Rect box, double grow) {
  double enter = 0, leave = kNoHit;
  const auto clip = [&](double origin, double direction, double low, double high) {
    if (direction == 0) {
      if (origin < low || origin > high) leave = -kNoHit;
      return;
    }
    const double a = (low - origin) / direction, b = (high - origin) / direction;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  };
  clip(ray.origin.x, ray.direction.x, box.x_min - grow, box.x_max + grow);
  clip(ray.origin.y, ray.direction.y, box.y_min - grow, box.y_max + grow);
  return {enter, leave};
}

struct GridScene {
  std::vector<uint8_t> cells;  // 0 free, 1 occupied, 2 unknown
  int width = 0, height = 0;
  double resolution = 1;

  uint8_t& at(int x, int y) { return cells[static_cast<size_t>(y) * width + x]; }
  Rect box(int x, int y) const {
    return {x * resolution, (x + 1) * resolution, y * resolution, (y + 1) * resolution};
  }
  Rect whole() const { return {0, width * resolution, 0, height * resolution}; }
};

// Casts rays at every occupied or unknown cell of a scene.
class GridOracle {
 public:
  explicit GridOracle(const GridScene& scene) {
    for (int y = 0; y < scene.height; ++y) {
      for (int x = 0; x < scene.width; ++x) {
        const uint8_t cell = scene.cells[static_cast<size_t>(y) * scene.width + x];
        if (cell != 0) cells_.push_back({scene.box(x, y), cell == 1});
      }
    }
  }

  // Every range that a ray may have if borders may be `blur` off: hits of cells that it meets well, and of
  // cells that it may or may not touch. In no order; kNoHit among them means that a miss is right too.
  std::vector<double> ranges(const Ray& ray, double max_range, double blur) const;

 private:
  struct Cell {
    Rect box;
    bool occupied;
  };
  std::vector<Cell> cells_;
};

inline std::vector<double> GridOracle::ranges(const Ray& ray, double max_range, double blur) const {
  struct Stop {
    double at;
    bool occupied, sure;
  };
  std::vector<Stop> stops;
  for (const Cell& cell : cells_) {
    const Passage loose = passage(ray, cell.box, blur);
    if (loose.enter > loose.leave) continue;
    const Passage exact = passage(ray, cell.box, 0), tight = passage(ray, cell.box, -blur);
    stops.push_back(
        {exact.enter <= exact.leave ? exact.enter : loose.enter, cell.occupied, tight.enter <= tight.leave});
  }
  // what lies behind the first sure stop cannot be seen
  double last = kNoHit;
  for (const Stop& stop : stops)
    if (stop.sure) last = std::min(last, stop.at);
  std::vector<double> ranges;
  for (const Stop& stop : stops)
    if (stop.at <= last + 2 * blur)
      ranges.push_back(stop.occupied && stop.at <= max_range ? stop.at : kNoHit);
  if (last == kNoHit) ranges.push_back(kNoHit);
  return ranges;
}

// Range of a ray against one convex counter-clockwise polygon, each edge intersected as a segment; kNoHit
// from inside.
inline double polygon_range(std::span<const Vec2> polygon, const Ray& ray, double grow) {
  double enter = 0, leave = kNoHit;
  bool outside = false;
  for (size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const Vec2 edge = polygon[i] - polygon[j];
    const Vec2 normal = (1 / norm(edge)) * Vec2{edge.y, -edge.x};
    const double distance = dot(normal, polygon[j] - ray.origin) + grow, speed = dot(normal, ray.direction);
    if (distance < 0) outside = true;
    if (speed == 0) {
      if (distance < 0) return kNoHit;
    } else if (speed < 0) {
      enter = std::max(enter, distance / speed);
    } else {
      leave = std::min(leave, distance / speed);
    }
  }
  return outside && enter <= leave ? enter : kNoHit;
}

}  // namespace mvsim::test
