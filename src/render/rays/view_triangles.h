// Prepares a view for a raster: its rays, and the triangles of pieces in front of it.
#pragma once

#include <span>
#include <vector>

#include "raycast/triangle_raster.h"
#include "render/rays/placed_body.h"

namespace mvsim {

RayGrid ray_grid(const View& view);

// Returns a ray in the view's frame.
inline Vec3 ray_of(const View& view, const RayGrid& grid, int row, int column) {
  const double a = grid.a[static_cast<size_t>(column)], b = grid.b[static_cast<size_t>(column)],
               slope = grid.slope[static_cast<size_t>(row)];
  if (view.is_pinhole()) return {a, slope, 1};
  const double length = grid.length[static_cast<size_t>(row)];
  return {length * a, length * b, length * slope};
}

// Returns the dot product of a vector in the view's frame with the rays of the grid, before their scaling to
// length.
inline GridFunction over_grid(const View& view, Vec3 v) {
  return view.is_pinhole() ? GridFunction{v.x, v.z, v.y} : GridFunction{v.x, v.y, v.z};
}

// RasterTriangle::id: the index of the body, and that of the triangle in RayBody::triangles.
inline uint64_t triangle_id(size_t body, size_t triangle) {
  return static_cast<uint64_t>(body) << 32 | triangle;
}
inline const PlacedBody& body_of(std::span<const PlacedBody> bodies, uint64_t id) {
  return bodies[id >> 32];
}
inline const RayTriangle& triangle_of(const PlacedBody& body, uint64_t id) {
  return body.group->body->triangles[id & 0xffffffff];
}

// Returns the triangles of all pieces that may be visible. `near`: no surface is cut off beyond it.
std::vector<RasterTriangle> triangles_in_view(std::span<const PlacedBody> bodies, const View& view,
                                              const RayGrid& grid, double near);

}  // namespace mvsim
