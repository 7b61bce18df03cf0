// Vertices, indices, instances and draw commands in the driver's memory. The context must be current in every
// call; call free() before it is destroyed.
#pragma once

#include <glad/gl.h>

#include <cstdint>
#include <span>

#include "render/pictures/gpu_vertex.h"

namespace mvsim {

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
