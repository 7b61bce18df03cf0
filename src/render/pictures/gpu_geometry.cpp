#include "render/pictures/gpu_geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "render/pictures/shaders.h"

namespace mvsim {
namespace {

constexpr GLuint kVertices = 0, kInstances = 1;  // bindings of the vertex array

template <typename T>
void fill(const GladGLContext& gl, GLuint buffer, std::span<const T> values, GLenum usage) {
  gl.NamedBufferData(buffer, static_cast<GLsizeiptr>(values.size_bytes()), values.data(), usage);
}

int8_t packed(double component) {
  return static_cast<int8_t>(std::lround(std::clamp(component, -1.0, 1.0) * 127));
}

// Limits a number, so that a diverged state does not reach the driver as NaN.
double bounded(double metres) {
  constexpr double kFarthest = 1e7;
  return std::isfinite(metres) ? std::clamp(metres, -kFarthest, kFarthest) : 0;
}

void set(double (&to)[3], Vec3 v) {
  to[0] = bounded(v.x), to[1] = bounded(v.y), to[2] = bounded(v.z);
}

}  // namespace

void GpuGeometry::make(const GladGLContext& gl) {
  gl.CreateVertexArrays(1, &vertex_array_);
  for (GLuint* buffer : {&vertex_buffer_, &index_buffer_, &instance_buffer_, &command_buffer_})
    gl.CreateBuffers(1, buffer);
  gl.VertexArrayVertexBuffer(vertex_array_, kVertices, vertex_buffer_, 0, sizeof(GpuVertex));
  gl.VertexArrayVertexBuffer(vertex_array_, kInstances, instance_buffer_, 0, sizeof(GpuInstance));
  gl.VertexArrayBindingDivisor(vertex_array_, kInstances, 1);
  gl.VertexArrayElementBuffer(vertex_array_, index_buffer_);
  const auto doubles = [&](GLuint attribute, GLint count, size_t offset) {
    gl.VertexArrayAttribLFormat(vertex_array_, attribute, count, GL_DOUBLE, static_cast<GLuint>(offset));
  };
  const auto numbers = [&](GLuint attribute, GLint count, GLenum type, size_t offset) {
    gl.VertexArrayAttribFormat(vertex_array_, attribute, count, type, type != GL_FLOAT,
                               static_cast<GLuint>(offset));
  };
  doubles(shaders::kPosition, 3, offsetof(GpuVertex, position));
  numbers(shaders::kNormal, 4, GL_BYTE, offsetof(GpuVertex, normal));
  numbers(shaders::kColor, 4, GL_UNSIGNED_BYTE, offsetof(GpuVertex, color));
  numbers(shaders::kUv, 2, GL_FLOAT, offsetof(GpuVertex, uv));
  doubles(shaders::kFrameX, 3, offsetof(GpuInstance, x));
  doubles(shaders::kFrameY, 3, offsetof(GpuInstance, y));
  doubles(shaders::kFrameZ, 3, offsetof(GpuInstance, z));
  doubles(shaders::kFrameOrigin, 3, offsetof(GpuInstance, origin));
  doubles(shaders::kFrameScale, 1, offsetof(GpuInstance, scale));
  for (GLuint i = 0; i < shaders::kAttributeCount; ++i) {
    gl.VertexArrayAttribBinding(vertex_array_, i, i < shaders::kFrameX ? kVertices : kInstances);
    gl.EnableVertexArrayAttrib(vertex_array_, i);
  }
}

void GpuGeometry::upload(const GladGLContext& gl, std::span<const GpuVertex> vertices,
                         std::span<const uint32_t> indices, std::span<const DrawCommand> commands,
                         GLenum usage) {
  if (!vertex_array_) make(gl);
  fill(gl, vertex_buffer_, vertices, usage);
  fill(gl, index_buffer_, indices, usage);
  fill(gl, command_buffer_, commands, usage);
}

void GpuGeometry::place(const GladGLContext& gl, std::span<const GpuInstance> instances) {
  fill(gl, instance_buffer_, instances, GL_STREAM_DRAW);
}

void GpuGeometry::draw(const GladGLContext& gl, size_t first_command, size_t count) const {
  if (!count) return;
  gl.BindVertexArray(vertex_array_);
  gl.BindBuffer(GL_DRAW_INDIRECT_BUFFER, command_buffer_);
  // OpenGL takes the offset as a pointer.
  const auto offset = reinterpret_cast<const void*>(  // NOLINT(performance-no-int-to-ptr)
      static_cast<uintptr_t>(first_command * sizeof(DrawCommand)));
  gl.MultiDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_INT, offset, static_cast<GLsizei>(count), 0);
}

void GpuGeometry::free(const GladGLContext& gl) {
  gl.DeleteVertexArrays(1, &vertex_array_);
  for (GLuint* buffer : {&vertex_buffer_, &index_buffer_, &instance_buffer_, &command_buffer_})
    gl.DeleteBuffers(1, buffer);
  *this = {};
}

GpuVertex gpu_vertex(Vec3 position, Vec3 normal, Color color, double shine) {
  GpuVertex out{};
  set(out.position, position);
  out.normal[0] = packed(normal.x), out.normal[1] = packed(normal.y), out.normal[2] = packed(normal.z);
  out.normal[3] = packed(shine);
  out.color[0] = color.r, out.color[1] = color.g, out.color[2] = color.b, out.color[3] = color.a;
  return out;
}

void append_vertices(const Mesh& mesh, Vec3 origin, std::vector<GpuVertex>& vertices) {
  for (size_t i = 0; i < mesh.positions.size(); ++i) {
    const auto& n = mesh.normals[i];
    GpuVertex v = gpu_vertex(mesh.positions[i] - origin, {n[0], n[1], n[2]},
                             mesh.colors.empty() ? Color{} : mesh.colors[i]);
    if (!mesh.uvs.empty()) std::copy(mesh.uvs[i].begin(), mesh.uvs[i].end(), v.uv);
    vertices.push_back(v);
  }
}

GpuInstance gpu_instance(const ScenePose& pose, Vec3 origin) {
  const Frame3& frame = pose.T_world_frame;
  GpuInstance out;
  set(out.x, frame.x);
  set(out.y, frame.y);
  set(out.z, frame.z);
  set(out.origin, frame.origin - origin);
  out.scale = bounded(pose.scale);
  return out;
}

}  // namespace mvsim
