#include "render/gl/gl_objects.h"

#include <string>

#include "base/error.h"
#include "render/gl/gl_errors.h"

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

}  // namespace mvsim
