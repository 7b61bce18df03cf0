// Shading of what rays hit: surfaces, sky, shadows of the sun.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "raycast/triangle_raster.h"
#include "render/rays/placed_body.h"
#include "render/rays/ray_scene.h"
#include "render/shading.h"

namespace mvsim {

// Surfaces and sky of a RayScene, shaded by the formulas of render/shading.h.

// A point of a triangle.
struct SurfacePoint {
  Rgb base{};  // squared colour
  std::array<float, 2> uv{};
  float alpha = 1;
  Vec3 normal;  // in the body's coordinates, not of length 1
};

SurfacePoint surface_at(const RayBody& body, const RayTriangle& triangle, Vec3 point);

// Returns the colour of the sky along `direction` (world, any length). `pixel_angle`: from one pixel to the
// next, rad.
Rgb sky_color(const RayScene& scene, Vec3 direction, double pixel_angle);

// The hard shadows of the sun in a view.

// Points are in the sun's frame, relative to the eye of the view: x across, y up, z towards the sun. One
// thread; `bodies`, which cast the shadows, outlive it.
class SunShadow {
 public:
  SunShadow(const Sun& sun, std::span<const PlacedBody> bodies, Vec3 eye);

  Vec3 seen_by_sun(Vec3 world_direction) const {
    return {dot(world_direction, across_), dot(world_direction, up_), dot(world_direction, to_sun_)};
  }
  // Marks the points in shadow.
  void find_blocked(std::span<SunPoints> groups);

 private:
  // A piece, or the tree of a body.
  struct Caster {
    const PlacedBody* body;
    const RayPiece* piece;  // null: the tree
    Vec3 center;
    double radius;
    bool is_ready = false;  // its triangles have been made
    size_t first = 0, count = 0;
  };

  void add(const PlacedBody& body, const RayPiece* piece, Vec3 center, double radius);
  void make_triangles(Caster& caster);
  void find_traced(const Caster& caster, SunPoints& points) const;

  Vec3 eye_, to_sun_, across_, up_;
  std::vector<Caster> casters_;
  std::vector<Caster*> close_;
  std::vector<SunTriangle> triangles_;
};

}  // namespace mvsim
