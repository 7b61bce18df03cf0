// The bodies of a RayScene where they are at one moment, as one view sees them.
#pragma once

#include <span>
#include <vector>

#include "raycast/triangle_raster.h"
#include "render/rays/ray_scene.h"
#include "sensor/view.h"

namespace mvsim {

// From where a view is drawn.
struct ViewPoint {
  Frame3 T_world_view;
  int sensor = Instance::kNoSensor;           // its own device is not seen
  std::span<const uint32_t> hidden_frames{};  // and nothing that hangs on these
};

// A linear map by the images of the axes.
struct Axes3 {
  Vec3 x, y, z;
  Vec3 operator()(Vec3 v) const { return v.x * x + v.y * y + v.z * z; }
};

struct PlacedBody {
  const RayGroup* group = nullptr;
  bool is_seen = true;      // else it only casts a shadow
  Vec3 eye;                 // the view's origin in the body's coordinates
  Axes3 body_from_view;     // of directions
  Axes3 body_from_world;    // of directions
  Axes3 world_from_body;    // of directions
  Axes3 world_from_normal;  // of normals, which stay perpendicular where the body is scaled
  Vec3 world_origin;        // of the frame
  Vec3 world_center;        // of a sphere that holds it
  double radius = 0;
  PixelRect rect;  // where it may be seen

  Vec3 to_body(Vec3 world) const { return body_from_world(world - world_origin) - group->body->origin; }
  Vec3 to_world(Vec3 point) const { return world_origin + world_from_body(point + group->body->origin); }
};

// Where a sphere may be seen whose center is given in the view's frame.
PixelRect rect_of(const View& view, Vec3 center, double radius);

// Whether it is made of numbers with which rays can be cast: not of a world that has diverged, or of a
// snapshot that was made up.
bool is_sound(const Frame3& frame);
bool is_sound(const ScenePose& pose);

// All that may be seen in the view, or may cast a shadow on that.
std::vector<PlacedBody> place_bodies(const RayScene& scene, std::span<const ScenePose> poses,
                                     const View& view, const ViewPoint& from);

}  // namespace mvsim
