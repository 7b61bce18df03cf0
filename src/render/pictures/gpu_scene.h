// A Scene in the driver's memory: uploaded once, then moved by an array of poses. The context must be current
// in every call; free() before it goes.
//
// Fixed instances of a material kind are joined into one mesh. Every other distinct (shape, material) is
// stored once, and its instances are drawn by one command. The same holds for meshes of files, fixed or
// not.
#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "render/pictures/gpu_geometry.h"

namespace mvsim {

class GpuScene {
 public:
  void upload(const GladGLContext& gl, const Scene& scene);
  // `poses`: one for each frame of the scene.
  void place(const GladGLContext& gl, std::span<const ScenePose> poses);
  void draw_casters(const GladGLContext& gl) const;  // shadow casters, without textures
  void draw_opaque(const GladGLContext& gl) const;
  enum class Part { kFixed, kMoving };
  void draw_blended(const GladGLContext& gl, Part part) const;
  void free(const GladGLContext& gl);

  GLuint texture(int place) const { return textures_[static_cast<size_t>(place)]; }  // of Scene::textures
  GLuint white() const { return textures_.back(); }  // a texture that changes nothing
  Vec3 origin() const { return origin_; }            // origin of the driver's coordinates
  // Bounds of the shadow casters at the poses of place(), world frame.
  const Box3& caster_bounds() const { return caster_bounds_; }

 private:
  struct Kind {  // the properties of one draw call
    bool blended = false, moving = false, casts = false;
    CullFaces cull = CullFaces::kBack;
    int texture = Material::kNoTexture;
    friend bool operator==(const Kind&, const Kind&) = default;
    // The order of drawing: opaque before blended, fixed before moving, shadow casters before flat marks.
    auto rank() const { return std::tuple{blended, moving, !casts, cull != CullFaces::kBack, cull, texture}; }
  };
  struct Run {
    Kind kind;
    size_t first_command = 0, count = 0;
  };
  struct Place {
    uint32_t frame = 0;
    std::optional<Frame3> T_frame_mesh;  // none: the mesh is in the coordinates of the frame
  };
  struct Moving {  // a mesh with its instances
    std::vector<Place> places;
    std::vector<Vec3> corners;  // for shadow casters: corners of a bounding box
  };
  struct Upload;
  void upload_textures(const GladGLContext& gl, const Scene& scene);
  template <typename Wanted>
  void draw_runs(const GladGLContext& gl, Wanted wanted, bool textured) const;

  GpuGeometry geometry_;
  std::vector<Run> runs_;       // in drawing order
  std::vector<Moving> moving_;  // in the order of their commands
  std::vector<GpuInstance> instances_;
  std::vector<GLuint> textures_;  // by Scene::textures, then a white one
  Vec3 origin_;
  Box3 fixed_bounds_, caster_bounds_;
};

}  // namespace mvsim
