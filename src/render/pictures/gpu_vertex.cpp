#include "render/pictures/gpu_vertex.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

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
