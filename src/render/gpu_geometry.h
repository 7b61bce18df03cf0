// Vertices, indices, instances and draw commands in the driver's memory. The context must be current in every
// call; free() before it goes.
#pragma once

#include <glad/gl.h>

#include <cstdint>
#include <span>
#include <vector>

#include "scene/scene.h"

namespace mvsim {

// Positions and instances are double: they are added up in the vertex shader, and a scene kilometres from the
// origin must not shiver. What comes out is rounded to single precision once.
struct GpuVertex {
  double position[3];
  int8_t normal[4];  // 127 is 1; the fourth: how far the colour shines by itself
  uint8_t color[4];
  float uv[2];
};

struct GpuInstance {
  double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
  double origin[3] = {0, 0, 0};
  double scale = 1;  // along x and y
};

// As OpenGL reads it.
struct DrawCommand {
  GLuint index_count = 0, instance_count = 1, first_index = 0;
  GLint base_vertex = 0;
  GLuint base_instance = 0;
};

GpuVertex gpu_vertex(Vec3 position, Vec3 normal, Color color, double shine = 0);
// All of a mesh, relative to `origin`.
void append_vertices(const Mesh& mesh, Vec3 origin, std::vector<GpuVertex>& vertices);
GpuInstance gpu_instance(const ScenePose& pose, Vec3 origin);

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
