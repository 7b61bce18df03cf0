// An outline as the rigid-body solver takes it: in single precision, near vertices made one. Decides for the
// loader and for the solver alike which bodies are too small. Pure functions.
#pragma once

#include <array>

#include "base/geometry.h"

namespace mvsim {

inline constexpr double kMinThickness = 0.003;  // m; Box2D welds vertices below 2.5 mm

struct SolverOutline {
  static constexpr size_t kMost = 8;  // vertices; what Debian's Box2D takes

  std::array<float, kMost> x, y;
  size_t count = 0;

  float area() const;            // m2
  bool is_large_enough() const;  // else Box2D would abort
};

// Returns the outline of a convex polygon of at most 8 vertices.
SolverOutline solver_outline(const Polygon& outline, double scale = 1);

}  // namespace mvsim
