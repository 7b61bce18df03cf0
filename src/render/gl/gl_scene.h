// Scenes in the memory of a driver: their cache, trees for shadows, buffers.
#pragma once

#include <glad/gl.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/geometry3.h"
#include "render/rays/ray_scene.h"

namespace mvsim {

// Cache of scenes in the memory of a driver.

// GpuCopy has upload(gl, scene) and free(gl). The context must be current in each call. A cached copy does
// not keep its scene alive.
template <typename Scene, typename GpuCopy>
class SceneCache {
 public:
  explicit SceneCache(size_t most) : most_(most) {}

  // Returns the copy of this scene, and uploads it if it is not cached. The copy is valid until the next
  // call.
  GpuCopy& get(const GladGLContext& gl, const std::shared_ptr<const Scene>& scene) {
    std::erase_if(kept_, [&](Kept& kept) {
      if (!kept.scene.expired()) return false;
      kept.copy.free(gl);
      return true;
    });
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Kept& kept) { return kept.scene.lock() == scene; });
    if (known != kept_.end()) {
      std::rotate(kept_.begin(), known, known + 1);
      return kept_.front().copy;
    }
    if (kept_.size() == most_) {
      kept_.back().copy.free(gl);
      kept_.pop_back();
    }
    kept_.insert(kept_.begin(), Kept{scene, {}});
    try {
      kept_.front().copy.upload(gl, *scene);
    } catch (...) {
      kept_.front().copy.free(gl);
      kept_.erase(kept_.begin());
      throw;
    }
    return kept_.front().copy;
  }

  void free(const GladGLContext& gl) {
    for (Kept& kept : kept_) kept.copy.free(gl);
    kept_.clear();
  }

 private:
  struct Kept {
    std::weak_ptr<const Scene> scene;
    GpuCopy copy;
  };
  std::vector<Kept> kept_;  // latest first
  size_t most_;
};

// A tree of boxes over triangles, as plain arrays. A shader walks it to find bodies in front of the sun. Pure
// functions, any thread.

// A box and its contents: two further nodes from `first` on, or `count` triangles.
struct ShadowNode {
  std::array<float, 3> low{};
  uint32_t first = 0;
  std::array<float, 3> high{};
  uint32_t count = 0;
};

// One corner and the vectors from there to the others.
struct ShadowTriangle {
  std::array<float, 4> corner{}, to_second{}, to_third{};  // the fourth numbers are padding
};

struct ShadowTree {
  static constexpr int kMaxDepth = 32;  // halves of at most 2^32 triangles

  std::vector<ShadowNode> nodes;  // the first contains all; empty if there are no triangles
  std::vector<ShadowTriangle> triangles;
};

ShadowTree make_shadow_tree(const std::vector<std::array<Vec3, 3>>& triangles);

// A RayScene for rasters in the driver's memory, in the layout of the shaders of views
// (render/gl/gl_view_shaders.h). The context must be current in upload() and free().

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
