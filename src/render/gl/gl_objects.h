// Objects of OpenGL: programs, buffers, and the targets of views.
#pragma once

#include <glad/gl.h>
#include <span>
#include <string>

#include "render/gl/gl_view_list.h"

namespace mvsim {

// OpenGL objects of a renderer. Their context must be current in every call; call free() before the context
// is destroyed.

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

// The target of views of sensors: textures with a layer for each view, and a buffer of finished pixels. The
// buffer is copied into one that the CPU reads. The context must be current in calls that take it.

struct GlViewTarget {
  static constexpr long long kMaxPixels = 8LL << 20;  // of all layers together
  static constexpr int kPixelBytes = 32;              // of `pixels`, at most

  int width = 0, height = 0, layers = 0;
  GLuint framebuffer = 0, ids = 0, depth = 0;
  GLuint pixels = 0, readable = 0;
  const uint32_t* mapped = nullptr;  // `readable`: colours, then distances, then labels
  mutable int read_layers = 0;       // layers in `mapped`

  // Allocates at least `new_layers` layers. Throws RenderMemoryError or Error; the target is then empty.
  void resize(const GladGLContext& gl, int new_width, int new_height, int new_layers);
  void clear(const GladGLContext& gl, int drawn_layers) const;
  void begin_read(const GladGLContext& gl, int drawn_layers) const;
  // Copies to the pictures of shots, in the order of the layers, after the copy to the CPU has finished.
  void copy_to(std::span<const GlShot> shots) const;
  void free(const GladGLContext& gl);
};

}  // namespace mvsim
