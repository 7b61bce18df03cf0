// The hard shadows of the sun in a view.
#pragma once

#include <span>
#include <vector>

#include "raycast/shadow_raster.h"
#include "render/rays/placed_body.h"

namespace mvsim {

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
