// The bodies of a RayScene at their current poses, relative to one view.
#pragma once

#include <span>
#include <vector>

#include "raycast/triangle_raster.h"
#include "render/rays/ray_scene.h"
#include "sensor/view.h"

namespace mvsim {

// The origin of a view.
struct ViewPoint {
  Frame3 T_world_view;
  int sensor = Instance::kNoSensor;           // its own body is not visible
  std::span<const uint32_t> hidden_frames{};  // bodies on these frames are not visible either
};

// A linear map, given by the images of the axes.
struct Axes3 {
  Vec3 x, y, z;
  Vec3 operator()(Vec3 v) const { return v.x * x + v.y * y + v.z * z; }
};

struct PlacedBody {
  const RayGroup* group = nullptr;
  bool is_seen = true;      // false: it only casts a shadow
  Vec3 eye;                 // the view's origin in the body's coordinates
  Axes3 body_from_view;     // of directions
  Axes3 body_from_world;    // of directions
  Axes3 world_from_body;    // of directions
  Axes3 world_from_normal;  // of normals, which stay perpendicular if the body is scaled
  Vec3 world_origin;        // of the frame
  Vec3 world_center;        // centre of a bounding sphere
  double radius = 0;
  PixelRect rect;  // pixels in which it may be visible

  Vec3 to_body(Vec3 world) const { return body_from_world(world - world_origin) - group->body->origin; }
  Vec3 to_world(Vec3 point) const { return world_origin + world_from_body(point + group->body->origin); }
};

// Returns the pixels in which a sphere may be visible. Its centre is in the view's frame.
PixelRect rect_of(const View& view, Vec3 center, double radius);

// Whether rays can be cast with the numbers of a frame. They cannot in a diverged world, or after a made-up
// snapshot.
bool is_sound(const Frame3& frame);
bool is_sound(const ScenePose& pose);

// Places all bodies that may be visible in the view, or may cast a shadow on visible ones.
std::vector<PlacedBody> place_bodies(const RayScene& scene, std::span<const ScenePose> poses,
                                     const View& view, const ViewPoint& from);

}  // namespace mvsim
