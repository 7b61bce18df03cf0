// Geometry of a Scene in the layout of the shaders.
#pragma once

#include <glad/gl.h>
#include <cstdint>
#include <span>
#include <vector>

#include "scene/scene.h"

namespace mvsim {

// Vertices and instances in the layout of the shaders. No OpenGL.
//
// Positions and instances are double and are added in the vertex shader, so that a scene kilometres from the
// origin does not jitter. The result is rounded to single precision once.

struct GpuVertex {
  double position[3];
  int8_t normal[4];  // 127 is 1; the fourth: share of the colour that is emitted
  uint8_t color[4];
  float uv[2];
};

struct GpuInstance {
  double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
  double origin[3] = {0, 0, 0};
  double scale = 1;  // along x and y
};

GpuVertex gpu_vertex(Vec3 position, Vec3 normal, Color color, double shine = 0);
// Appends all vertices of a mesh, relative to `origin`.
void append_vertices(const Mesh& mesh, Vec3 origin, std::vector<GpuVertex>& vertices);
GpuInstance gpu_instance(const ScenePose& pose, Vec3 origin);

// Vertices, indices, instances and draw commands in the driver's memory. The context must be current in every
// call; call free() before it is destroyed.

// A draw command in the layout of OpenGL.
struct DrawCommand {
  GLuint index_count = 0, instance_count = 1, first_index = 0;
  GLint base_vertex = 0;
  GLuint base_instance = 0;
};

class GpuGeometry {
 public:
  void upload(const GladGLContext& gl, std::span<const GpuVertex> vertices, std::span<const uint32_t> indices,
              std::span<const DrawCommand> commands, GLenum usage);
  void place(const GladGLContext& gl, std::span<const GpuInstance> instances);
  void draw(const GladGLContext& gl, size_t first_command, size_t count) const;
  void free(const GladGLContext& gl);

 private:
  void make(const GladGLContext& gl);

  GLuint vertex_array_ = 0, vertex_buffer_ = 0, index_buffer_ = 0, instance_buffer_ = 0, command_buffer_ = 0;
};

}  // namespace mvsim
