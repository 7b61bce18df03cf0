// Random numbers, beams and polygons shared by the tests of the ray kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/geometry.h"
#include "base/random.h"
#include "raycast/directions.h"

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

}  // namespace mvsim::test
