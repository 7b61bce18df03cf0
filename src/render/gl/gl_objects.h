// OpenGL objects of a renderer. Their context must be current in every call; call free() before the context
// is destroyed.
#pragma once

#include <glad/gl.h>

#include <string>

namespace mvsim {

// Compiles and links a program; throws Error with the driver's log.
GLuint make_program(const GladGLContext& gl, const std::string& vertex, const std::string& fragment);
GLuint make_compute_program(const GladGLContext& gl, const std::string& text);

// The target of a picture: antialiased colour and depth, and the resolved colour that is read.
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
