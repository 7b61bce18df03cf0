// A RayScene for rasters in the driver's memory, in the layout of the shaders of views
// (render/gl/gl_view_shaders.h). The context must be current in upload() and free().
#pragma once

#include <glad/gl.h>

#include <array>
#include <cstdint>
#include <vector>

#include "render/rays/ray_scene.h"

namespace mvsim {

// Bindings of the buffers that shaders read and write.
enum GlBinding {
  kCornerBuffer = 0,
  kTriangleBuffer = 1,
  kTableBuffer = 2,
  kTreeBuffer = 3,
  kTexelBuffer = 4,
  kInstanceBuffer = 5,
  kViewBuffer = 6,
  kPixelBuffer = 7,
};

struct GlCorner {
  double position[3];  // in the body's coordinates, m
  float normal[3], base[3], uv[2], alpha, unused;
};

struct GlTriangle {
  double normal[3], offset;  // plane of the triangle, as in RayTriangle
  double to_weight[2][3], weight_offset[2];
  uint32_t corners[3], part;
  float texels_per_metre;
  uint32_t cull;
};

class GlScene {
 public:
  // The triangles of a body, and the places of its parts and its tree.
  struct Group {
    uint32_t first_triangle = 0, triangle_count = 0;
    uint32_t first_part = 0;  // in the tables
    uint32_t first_node = kNoTree;
  };
  static constexpr uint32_t kNoTree = 0xffffffff;

  // Throws RenderMemoryError if the driver has no room for it.
  void upload(const GladGLContext& gl, const RayScene& scene);
  void bind(const GladGLContext& gl) const;
  void free(const GladGLContext& gl);

  const std::vector<Group>& groups() const { return groups_; }  // by RayScene::groups
  uint32_t first_texture() const { return first_texture_; }     // in the tables
  bool has_clear_parts() const { return has_clear_parts_; }     // some parts are transparent

 private:
  struct Upload;

  std::vector<Group> groups_;
  uint32_t first_texture_ = 0;
  bool has_clear_parts_ = false;
  std::array<GLuint, kTexelBuffer + 1> buffers_{};
};

}  // namespace mvsim
