// A Scene in the driver's memory: uploaded once, then moved by an array of poses. The context must be current
// in every call; free() before it goes.
//
// What hangs on the world is joined into one mesh a material kind; of the rest every distinct (shape,
// material) is there once, and its instances are drawn by one command. So are meshes of files, wherever they
// hang.
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
  // One pose a frame of the scene.
  void place(const GladGLContext& gl, std::span<const ScenePose> poses);
  void draw_casters(const GladGLContext& gl) const;  // what throws shadows, no textures bound
  void draw_opaque(const GladGLContext& gl) const;
  enum class Part { kFixed, kMoving };
  void draw_blended(const GladGLContext& gl, Part part) const;
  void free(const GladGLContext& gl);

  GLuint texture(int place) const { return textures_[static_cast<size_t>(place)]; }  // of Scene::textures
  GLuint white() const { return textures_.back(); }  // a texture that changes nothing
  Vec3 origin() const { return origin_; }            // what the driver's coordinates are relative to
  // Of what throws shadows and lies where place() put it, world frame.
  const Box3& caster_bounds() const { return caster_bounds_; }

 private:
  struct Kind {  // what one draw call has in common
    bool blended = false, moving = false, casts = false;
    CullFaces cull = CullFaces::kBack;
    int texture = Material::kNoTexture;
    friend bool operator==(const Kind&, const Kind&) = default;
    // The order of drawing: opaque before blended, fixed before moving, what throws shadows before what lies
    // flat.
    auto rank() const { return std::tuple{blended, moving, !casts, cull != CullFaces::kBack, cull, texture}; }
  };
  struct Run {
    Kind kind;
    size_t first_command = 0, count = 0;
  };
  struct Place {
    uint32_t frame = 0;
    std::optional<Frame3> T_frame_mesh;  // none: the mesh is given in the frame
  };
  struct Moving {  // a mesh with its instances
    std::vector<Place> places;
    std::vector<Vec3> corners;  // of one that throws shadows: points that hold it
  };
  struct Upload;
  void upload_textures(const GladGLContext& gl, const Scene& scene);
  template <typename Wanted>
  void draw_runs(const GladGLContext& gl, Wanted wanted, bool textured) const;

  GpuGeometry geometry_;
  std::vector<Run> runs_;       // in the order in which they are drawn
  std::vector<Moving> moving_;  // in the order of their commands
  std::vector<GpuInstance> instances_;
  std::vector<GLuint> textures_;  // by Scene::textures, then a white one
  Vec3 origin_;
  Box3 fixed_bounds_, caster_bounds_;
};

}  // namespace mvsim
