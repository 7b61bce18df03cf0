#include "render/gl/gl_objects.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace mvsim {
namespace {

GLuint compile(const GladGLContext& gl, GLenum stage, const std::string& text) {
  const char* source = text.c_str();
  const GLuint shader = gl.CreateShader(stage);
  gl.ShaderSource(shader, 1, &source, nullptr);
  gl.CompileShader(shader);
  GLint good = GL_FALSE;
  gl.GetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good) return shader;
  char log[1024] = "";
  gl.GetShaderInfoLog(shader, sizeof log, nullptr, log);
  gl.DeleteShader(shader);
  throw Error(std::string("the driver rejects a shader: ") + log);
}

GLuint link(const GladGLContext& gl, std::initializer_list<GLuint> shaders) {
  const GLuint program = gl.CreateProgram();
  for (const GLuint shader : shaders) gl.AttachShader(program, shader);
  gl.LinkProgram(program);
  for (const GLuint shader : shaders) gl.DeleteShader(shader);
  GLint good = GL_FALSE;
  gl.GetProgramiv(program, GL_LINK_STATUS, &good);
  if (good) return program;
  char log[1024] = "";
  gl.GetProgramInfoLog(program, sizeof log, nullptr, log);
  throw Error(std::string("the driver cannot link a program: ") + log);
}

std::string in_words(int width, int height, int samples) {
  const double mib = static_cast<double>(width) * height * (8.0 * samples + 4) / (1 << 20);
  return std::to_string(width) + " x " + std::to_string(height) + " pixels with " + std::to_string(samples) +
         " samples (about " + std::to_string(static_cast<long long>(mib + 1)) + " MiB)";
}

constexpr long long kReadBytes = 12;  // a pixel: colour, distance, label

void copy_color(const uint32_t* from, size_t count, std::byte* to) {
  auto* out = reinterpret_cast<uint8_t*>(to);
  for (size_t i = 0; i < count; ++i, out += 3)
    for (unsigned k = 0; k < 3; ++k) out[k] = static_cast<uint8_t>(from[i] >> (8 * k));
}

void copy_labels(const uint32_t* from, size_t count, std::byte* to) {
  auto* const out = reinterpret_cast<uint16_t*>(to);
  std::transform(from, from + count, out, [](uint32_t label) { return static_cast<uint16_t>(label); });
}

}  // namespace

GLuint make_program(const GladGLContext& gl, const std::string& vertex, const std::string& fragment) {
  const GLuint v = compile(gl, GL_VERTEX_SHADER, vertex), f = compile(gl, GL_FRAGMENT_SHADER, fragment);
  return link(gl, {v, f});
}

GLuint make_compute_program(const GladGLContext& gl, const std::string& text) {
  return link(gl, {compile(gl, GL_COMPUTE_SHADER, text)});
}

void PictureTarget::resize(const GladGLContext& gl, int new_width, int new_height, int samples) {
  if (new_width == width && new_height == height) return;
  free(gl);
  gl.GetError();  // clears earlier errors
  const auto storage = [&](GLuint buffer, GLenum format, int count) {
    gl.NamedRenderbufferStorageMultisample(buffer, count > 1 ? count : 0, format, new_width, new_height);
  };
  gl.CreateFramebuffers(1, &framebuffer);
  gl.CreateFramebuffers(1, &resolved_framebuffer);
  gl.CreateRenderbuffers(1, &color);
  gl.CreateRenderbuffers(1, &depth);
  gl.CreateRenderbuffers(1, &resolved_color);
  storage(color, GL_RGBA8, samples);
  storage(depth, GL_DEPTH_COMPONENT32F, samples);
  storage(resolved_color, GL_RGBA8, 1);
  gl.NamedFramebufferRenderbuffer(framebuffer, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color);
  gl.NamedFramebufferRenderbuffer(framebuffer, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth);
  gl.NamedFramebufferRenderbuffer(resolved_framebuffer, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                                  resolved_color);
  const GLenum status = gl.CheckNamedFramebufferStatus(framebuffer, GL_FRAMEBUFFER);
  const GLenum resolved_status = gl.CheckNamedFramebufferStatus(resolved_framebuffer, GL_FRAMEBUFFER);
  const GLenum error = gl.GetError();
  if (error == GL_NO_ERROR && status == GL_FRAMEBUFFER_COMPLETE &&
      resolved_status == GL_FRAMEBUFFER_COMPLETE) {
    width = new_width;
    height = new_height;
    return;
  }
  free(gl);
  const std::string size = in_words(new_width, new_height, samples);
  if (error == GL_OUT_OF_MEMORY) throw RenderMemoryError("the driver has no memory for a picture of " + size);
  throw Error("the driver cannot draw a picture of " + size + ": framebuffer status " +
              std::to_string(status) + ", error " + std::to_string(error));
}

void PictureTarget::free(const GladGLContext& gl) {
  gl.DeleteFramebuffers(1, &framebuffer);
  gl.DeleteFramebuffers(1, &resolved_framebuffer);
  gl.DeleteRenderbuffers(1, &color);
  gl.DeleteRenderbuffers(1, &depth);
  gl.DeleteRenderbuffers(1, &resolved_color);
  *this = {};
}

void ShadowTarget::make(const GladGLContext& gl) {
  gl.CreateTextures(GL_TEXTURE_2D, 1, &depth);
  gl.TextureStorage2D(depth, 1, GL_DEPTH_COMPONENT32F, kSide, kSide);
  gl.TextureParameteri(depth, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  gl.TextureParameteri(depth, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
  gl.TextureParameteri(depth, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  gl.TextureParameteri(depth, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  gl.TextureParameteri(depth, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  gl.TextureParameteri(depth, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  gl.CreateFramebuffers(1, &framebuffer);
  gl.NamedFramebufferTexture(framebuffer, GL_DEPTH_ATTACHMENT, depth, 0);
  gl.NamedFramebufferDrawBuffer(framebuffer, GL_NONE);
  if (gl.CheckNamedFramebufferStatus(framebuffer, GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    throw RenderMemoryError("the driver has no memory for a shadow map of " + std::to_string(kSide) + " x " +
                            std::to_string(kSide));
}

void ShadowTarget::free(const GladGLContext& gl) {
  gl.DeleteFramebuffers(1, &framebuffer);
  gl.DeleteTextures(1, &depth);
  *this = {};
}

void GlViewTarget::resize(const GladGLContext& gl, int new_width, int new_height, int new_layers) {
  if (new_width == width && new_height == height && new_layers <= layers) return;
  free(gl);
  gl.GetError();  // clears earlier errors
  const auto texture = [&](GLuint& name, GLenum format) {
    gl.CreateTextures(GL_TEXTURE_2D_ARRAY, 1, &name);
    gl.TextureStorage3D(name, 1, format, new_width, new_height, new_layers);
    gl.TextureParameteri(name, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl.TextureParameteri(name, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  };
  texture(ids, GL_RG32UI);
  texture(depth, GL_DEPTH_COMPONENT32F);
  gl.CreateFramebuffers(1, &framebuffer);
  gl.NamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, ids, 0);
  gl.NamedFramebufferTexture(framebuffer, GL_DEPTH_ATTACHMENT, depth, 0);
  const long long count = static_cast<long long>(new_width) * new_height * new_layers;
  gl.CreateBuffers(1, &pixels);
  gl.NamedBufferStorage(pixels, count * kPixelBytes, nullptr, 0);
  gl.CreateBuffers(1, &readable);
  constexpr GLbitfield kReading = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  gl.NamedBufferStorage(readable, count * kReadBytes, nullptr, kReading | GL_CLIENT_STORAGE_BIT);
  const GLenum status = gl.CheckNamedFramebufferStatus(framebuffer, GL_FRAMEBUFFER);
  GLenum error = gl.GetError();
  if (error == GL_NO_ERROR && status == GL_FRAMEBUFFER_COMPLETE) {
    mapped = static_cast<const uint32_t*>(gl.MapNamedBufferRange(readable, 0, count * kReadBytes, kReading));
    if (mapped) {
      width = new_width, height = new_height, layers = new_layers;
      return;
    }
    error = gl.GetError();
  }
  free(gl);
  const std::string what = std::to_string(new_layers) + " views of " + std::to_string(new_width) + " x " +
                           std::to_string(new_height) + " pixels";
  if (error == GL_OUT_OF_MEMORY) throw RenderMemoryError("the driver has no memory for " + what);
  throw Error("the driver cannot draw " + what + ": framebuffer status " + std::to_string(status) +
              ", error " + std::to_string(error));
}

void GlViewTarget::clear(const GladGLContext& gl, int drawn_layers) const {
  const GLuint nothing[2] = {0, 0};
  const float farthest = 0;
  gl.ClearTexSubImage(ids, 0, 0, 0, 0, width, height, drawn_layers, GL_RG_INTEGER, GL_UNSIGNED_INT, nothing);
  gl.ClearTexSubImage(depth, 0, 0, 0, 0, width, height, drawn_layers, GL_DEPTH_COMPONENT, GL_FLOAT,
                      &farthest);
}

void GlViewTarget::begin_read(const GladGLContext& gl, int drawn_layers) const {
  read_layers = drawn_layers;
  gl.CopyNamedBufferSubData(pixels, readable, 0, 0,
                            static_cast<GLsizeiptr>(kReadBytes) * width * height * drawn_layers);
}

void GlViewTarget::copy_to(std::span<const GlShot> shots) const {
  const size_t count = static_cast<size_t>(width) * static_cast<size_t>(height);
  const size_t all = count * static_cast<size_t>(read_layers);
  for (size_t layer = 0; layer < shots.size(); ++layer)
    for (const GlPicture& picture : shots[layer].pictures) {
      if (picture.on_device) continue;
      const uint32_t* const from = mapped + layer * count;
      if (picture.content == ViewContent::kColor)
        copy_color(from, count, picture.pixels);
      else if (picture.content == ViewContent::kDepth)
        std::memcpy(picture.pixels, from + all, count * sizeof(float));
      else
        copy_labels(from + 2 * all, count, picture.pixels);
    }
}

void GlViewTarget::free(const GladGLContext& gl) {
  gl.DeleteFramebuffers(1, &framebuffer);
  gl.DeleteTextures(1, &ids);
  gl.DeleteTextures(1, &depth);
  gl.DeleteBuffers(1, &pixels);
  gl.DeleteBuffers(1, &readable);
  *this = {};
}

}  // namespace mvsim
