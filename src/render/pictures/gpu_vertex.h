// Vertices and instances in the layout of the shaders. No OpenGL.
//
// Positions and instances are double and are added in the vertex shader, so that a scene kilometres from the
// origin does not jitter. The result is rounded to single precision once.
#pragma once

#include <cstdint>
#include <vector>

#include "scene/scene.h"

namespace mvsim {

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

}  // namespace mvsim
