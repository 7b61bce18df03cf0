// Shapes of bodies: convex outlines, outlines for Box2D, prisms of blocks.
#pragma once

#include <array>

#include "base/error.h"
#include "base/geometry.h"
#include "base/geometry3.h"
#include "model/model.h"
#include "scene/shapes.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// Convex outlines: hull, area, centroid, inertia, and the cut into polygons that Box2D takes.

inline constexpr int kMaxOutlineVertices = 14;  // what MVSim's engine takes
inline constexpr int kMaxPieceVertices = 8;     // what Debian's Box2D takes

inline constexpr double kFarthestPoint = 1e6;       // m, of what moves
inline constexpr double kFarthestFixedPoint = 1e7;  // m; outlines of buildings may be in map coordinates

// Convex hull, counter-clockwise, without collinear vertices.
Polygon convex_hull(Polygon points);

// Hull and mass properties of `points`; throws WorldFileError when there are fewer than 3 or more than 14
// points, when they enclose no area, or when a coordinate is beyond `farthest`, m.
ShapeModel make_shape(const Polygon& points, const SourceLocation& where, double farthest = kFarthestPoint);

// Throws WorldFileError for a body that is too small for the solver at `scale`.
void check_for_solver(const ShapeModel& shape, double scale, const SourceLocation& where);

// The smallest factor of at least `min` by which the outline may be scaled; infinite where none will do.
double min_scale(const ShapeModel& shape, double min);

// The contour of a block's <shape> or <geometry> in its own frame.
Polygon block_contour(const BlockSpec& spec);

// Returns the top of a block, which can be driven on.
BlockTop block_top(const BlockSpec& spec, const ShapeModel& shape, double z_max);

// An outline as the rigid-body solver takes it: in single precision, near vertices made one. Decides for the
// loader and for the solver alike which bodies are too small. Pure functions.

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

// Visible prism of a block.

struct PlacedPrism {
  Prism prism;
  Frame3 T_block_prism;
};

PlacedPrism block_prism(const BlockModel& block);

}  // namespace mvsim
