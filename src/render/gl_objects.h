// OpenGL objects that a renderer owns. Their context must be current in every call; free() before it goes.
#pragma once

#include <glad/gl.h>

#include "render/mesh.h"

namespace mvsim {

// Compiles and links; throws Error with the driver's log.
GLuint make_program(const GladGLContext& gl, const char* vertex, const char* fragment);

// A Mesh in the driver's memory, its three index lists one after the other.
struct GpuMesh {
  Vec3 origin;
  Box3 caster_bounds;
  GLuint vertex_array = 0, vertex_buffer = 0, index_buffer = 0;
  GLsizei casters = 0, plain = 0, blended = 0;

  void upload(const GladGLContext& gl, const Mesh& mesh, GLenum usage);
  void draw_casters(const GladGLContext& gl) const { draw(gl, 0, casters); }
  void draw_opaque(const GladGLContext& gl) const { draw(gl, 0, casters + plain); }
  void draw_blended(const GladGLContext& gl) const { draw(gl, casters + plain, blended); }
  void free(const GladGLContext& gl);

 private:
  void draw(const GladGLContext& gl, GLsizei first, GLsizei count) const;
};

// What is drawn into: antialiased colour and depth, and the resolved colour that is read.
struct PictureTarget {
  int width = 0, height = 0;
  GLuint framebuffer = 0, color = 0, depth = 0;
  GLuint resolved_framebuffer = 0, resolved_color = 0;

  // Throws RenderMemoryError or Error; the target is then empty.
  void resize(const GladGLContext& gl, int new_width, int new_height, int samples);
  void free(const GladGLContext& gl);
};

struct ShadowTarget {
  static constexpr int kSide = 2048;
  GLuint framebuffer = 0, depth = 0;

  void make(const GladGLContext& gl);
  void free(const GladGLContext& gl);
};

}  // namespace mvsim
