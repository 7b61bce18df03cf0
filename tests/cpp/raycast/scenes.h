// Random numbers, beams, grids and polygons shared by the tests of the ray kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/geometry.h"
#include "base/random.h"
#include "raycast/beams.h"
#include "raycast/grid_field.h"
#include "raycast/reference.h"
#include "raycast/static_shapes.h"

namespace mvsim::test {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed, 0, StreamPurpose::kSpawn) {}
  int below(int n) { return static_cast<int>(random_.below(static_cast<uint32_t>(n))); }
  double uniform(double low, double high) { return random_.uniform(low, high); }
  bool one_in(int n) { return below(n) == 0; }

 private:
  RandomStream random_;
};

struct Scan {
  std::vector<float> dx, dy;
  int count() const { return static_cast<int>(dx.size()); }
  void add(double x, double y) {
    dx.push_back(static_cast<float>(x));
    dy.push_back(static_cast<float>(y));
  }
};

// A turn of beams, and the axes and diagonals.
inline Scan make_scan(double yaw, int beams) {
  Scan scan;
  const BeamTable table(beams, 2 * kPi);
  scan.dx.resize(beams);
  scan.dy.resize(beams);
  table.directions(yaw, scan.dx.data(), scan.dy.data());
  for (const double x : {-1.0, 0.0, 1.0})
    for (const double y : {-1.0, 0.0, 1.0})
      if (x != 0 || y != 0) scan.add(x / std::sqrt(x * x + y * y), y / std::sqrt(x * x + y * y));
  return scan;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// FNV-1a over the bits: a constant in a test pins them for every compiler, optimisation and machine.
inline uint64_t hash_bits(const std::vector<float>& values, uint64_t hash = 14695981039346656037ULL) {
  for (const float value : values) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211ULL;
  }
  return hash;
}

// Counter-clockwise and convex: sorted angles on an ellipse, or a long thin wall.
inline Polygon random_convex(Dice& dice, Vec2 center, double size) {
  const Rotation2 turn(dice.uniform(-kPi, kPi));
  const double a = size * dice.uniform(0.2, 1), b = dice.one_in(4) ? 0.01 * a : size * dice.uniform(0.2, 1);
  const int corners = 3 + dice.below(dice.one_in(10) ? 40 : 8);
  const double first = dice.uniform(-kPi, kPi);
  Polygon polygon;
  for (int i = 0; i < corners; ++i) {
    const SinCos sc = sin_cos(first + 2 * kPi * (i + dice.uniform(0, 0.7)) / corners);
    polygon.push_back(center + turn.rotate({a * sc.cos, b * sc.sin}));
  }
  return polygon;
}

inline GridScene empty_scene(int width, int height, double resolution) {
  return {std::vector<uint8_t>(static_cast<size_t>(width) * height, 0), width, height, resolution};
}

inline void fill(GridScene& scene, int x0, int x1, int y0, int y1, uint8_t value) {
  for (int y = std::max(y0, 0); y < std::min(y1, scene.height); ++y)
    for (int x = std::max(x0, 0); x < std::min(x1, scene.width); ++x) scene.at(x, y) = value;
}

inline GridScene random_scene(Dice& dice) {
  constexpr std::array kResolutions{0.01, 0.05, 0.05, 0.1, 0.25, 1.0};
  const int width = 1 + dice.below(90), height = dice.one_in(8) ? 1 : 1 + dice.below(90);
  GridScene scene = empty_scene(width, height, kResolutions[dice.below(kResolutions.size())]);
  if (dice.one_in(2)) {  // a closed room
    fill(scene, 0, width, 0, 1, 1);
    fill(scene, 0, width, height - 1, height, 1);
    fill(scene, 0, 1, 0, height, 1);
    fill(scene, width - 1, width, 0, height, 1);
  }
  // one die a statement: compilers differ in the order of arguments
  for (int i = dice.below(6); i > 0; --i) {
    const int x = dice.below(width), y = dice.below(height);
    const int dx = 1 + dice.below(12), dy = 1 + dice.below(12);
    fill(scene, x, x + dx, y, y + dy, dice.one_in(4) ? 2 : 1);
  }
  for (int i = dice.below(40); i > 0; --i) {
    const int x = dice.below(width), y = dice.below(height);
    scene.at(x, y) = dice.one_in(5) ? 2 : 1;
  }
  for (int i = dice.below(4); i > 0; --i) {  // cells that touch at corners only
    int x = dice.below(width), y = dice.below(height);
    const int slope = dice.one_in(2) ? 1 : -1;
    for (int n = dice.below(20); n > 0 && x < width && y >= 0 && y < height; --n, ++x, y += slope)
      scene.at(x, y) = 1;
  }
  return scene;
}

// Anywhere, or where it is hardest: on borders and corners of cells, in their middle, outside of the grid.
inline Vec2 random_origin(Dice& dice, const GridScene& scene) {
  const double w = scene.width * scene.resolution, h = scene.height * scene.resolution;
  switch (dice.below(5)) {
    case 0:
      return {dice.below(scene.width + 1) * scene.resolution, dice.uniform(0, h)};
    case 1:
      return {dice.below(scene.width + 1) * scene.resolution,
              dice.below(scene.height + 1) * scene.resolution};
    case 2:
      return {dice.uniform(-w, 2 * w), dice.uniform(-h, 2 * h)};
    case 3:
      return {(dice.below(scene.width) + 0.5) * scene.resolution,
              (dice.below(scene.height) + 0.5) * scene.resolution};
    default:
      return {dice.uniform(0, w), dice.uniform(0, h)};
  }
}

inline GridField field_of(const GridScene& scene) {
  return GridField(scene.cells, scene.width, scene.height, scene.resolution);
}

inline std::vector<float> cast(const GridField& field, Vec2 origin, const Scan& scan, double max_range) {
  std::vector<float> range(scan.count(), std::numeric_limits<float>::infinity());
  cast_grid(field, origin.x, origin.y, scan.dx.data(), scan.dy.data(), scan.count(), max_range, range.data());
  return range;
}

// A fan with the arrays it refers to.
struct Beams {
  std::vector<float> dx, dy;
  Fan fan;

  Beams(const Pose2& pose, int count, double aperture) : dx(count), dy(count) {
    fan = BeamTable(count, aperture).fan(pose, dx.data(), dy.data());
  }
  Beams(const Beams&) = delete;
  Ray ray(int i) const { return {fan.origin, {dx[i], dy[i]}}; }
};

inline std::vector<float> cast_set(const Fan& fan, const std::vector<Polygon>& polygons, double max_range) {
  std::vector<float> range(fan.count, std::numeric_limits<float>::infinity());
  StaticShapes(polygons).cast(fan, max_range, range.data());
  return range;
}

inline std::vector<Polygon> random_polygons(Dice& dice, int count, double size) {
  std::vector<Polygon> polygons;
  for (int i = 0; i < count; ++i) {
    const Vec2 center{dice.uniform(-size, size), dice.uniform(-size, size)};
    const double radius = dice.one_in(5) ? size : 0.1 * size;
    polygons.push_back(random_convex(dice, center, radius));
  }
  return polygons;
}

}  // namespace mvsim::test
