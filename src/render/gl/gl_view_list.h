// The contents of a batch of views in the layout of the shaders of views: the bodies in front of each eye, in
// double precision. Pure functions, any thread; no OpenGL.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "render/gl/cuda_device.h"
#include "render/gl/gl_scene.h"
#include "render/rays/placed_body.h"

namespace mvsim {

struct GlPicture {
  ViewContent content;  // colour, depth or labels
  std::byte* pixels;    // format: see ViewContent
  // If not null, `pixels` is an address in a GPU's memory, and the image is converted with this and `noise`.
  const DeviceImage* on_device = nullptr;
  DeviceNoise noise{};
};

// A view of a pinhole camera and its pictures.
struct GlShot {
  const View* view;
  ViewPoint from;
  std::span<const ScenePose> poses;  // one a frame of the scene
  std::vector<GlPicture> pictures;

  bool wants(ViewContent content) const;
};

// A body relative to an eye.
struct GlInstance {
  double eye[3], body_from_view[9], view_from_body[9];                // columns; view_from_body: rows
  float world_from_normal[9], body_from_world[9], center[3], radius;  // center: from the eye, world axes
  uint32_t layer, first_part, first_node, unused;
};

struct GlView {
  double per_fx, per_fy, cx, cy, near, far, world_from_view[9];
  float pixel_angle;
  uint32_t wants_color, first_instance, instance_count;
};

struct GlDrawCommand {  // layout of OpenGL
  uint32_t count = 0, instance_count = 0, first = 0, base_instance = 0;
};

struct GlViewList {
  std::vector<GlInstance> instances;  // layer by layer
  std::vector<GlView> views;          // by layer
  std::vector<uint32_t> order;        // visible instances in drawing order: by group, then layer
  std::vector<GlDrawCommand> commands;
};

// Bodies out of sight are included if they may cast shadows. A layer depends on its shot alone.
GlViewList make_view_list(const RayScene& scene, std::span<const GlScene::Group> groups,
                          std::span<const GlShot> shots);

}  // namespace mvsim
