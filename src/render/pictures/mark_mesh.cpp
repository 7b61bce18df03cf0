#include "render/pictures/mark_mesh.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

constexpr double kMarkLift = 0.002;  // m, height of flat marks above the surface
constexpr int kMaxHalvings = 8;

}  // namespace

uint32_t MarkMesh::vertex(Vec3 position, Vec3 normal, const MarkLook& look) {
  vertices_.push_back(gpu_vertex(position - origin_, normal, look.color, look.shine));
  return static_cast<uint32_t>(vertices_.size() - 1);
}

void MarkMesh::triangle(Vec3 a, Vec3 b, Vec3 c, Vec3 normal, const MarkLook& look) {
  const uint32_t first = vertex(a, normal, look);
  vertex(b, normal, look);
  vertex(c, normal, look);
  auto& out = indices(look);
  out.insert(out.end(), {first, first + 1, first + 2});
}

void MarkMesh::quad(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal, const MarkLook& look) {
  const uint32_t first = vertex(a, normal, look);
  vertex(b, normal, look);
  vertex(c, normal, look);
  vertex(d, normal, look);
  auto& out = indices(look);
  out.insert(out.end(), {first, first + 1, first + 2, first, first + 2, first + 3});
}

void MarkMesh::ribbon(Vec3 a, Vec3 b, double width, const MarkLook& look, bool flat, int depth) {
  const double length = norm(b - a);
  const Vec3 middle = 0.5 * (a + b);
  // Splits a line until each piece is short for its distance, since the width in metres depends on the
  // distance.
  if (depth < kMaxHalvings && length > norm(view_.eye - middle)) {
    ribbon(a, middle, width, look, flat, depth + 1);
    ribbon(middle, b, width, look, flat, depth + 1);
    return;
  }
  if (!(length > 0)) return;
  const auto half_width = [&](Vec3 p) { return 0.5 * std::max(width, view_.pixel * norm(view_.eye - p)); };
  const Vec3 along = normalized(b - a);
  const Vec3 to_eye = normalized(view_.eye - middle);
  const Vec3 normal = flat ? Vec3{0, 0, 1} : to_eye;
  const Vec3 side = normalized(cross(normal, along));
  MarkLook faded = look;
  if (flat) {
    const double part = std::min(1.0, width / (2 * half_width(middle)));
    faded.color.a = static_cast<uint8_t>(std::lround(std::min(254.0, look.color.a * part)));
  }
  quad(a - half_width(a) * side, b - half_width(b) * side, b + half_width(b) * side, a + half_width(a) * side,
       normal, faded);
}

void MarkMesh::line(Vec3 a, Vec3 b, double width, const MarkLook& look) {
  ribbon(a, b, width, look, false, 0);
}

void MarkMesh::floor_line(Vec3 a, Vec3 b, double width, const MarkLook& look) {
  ribbon(a, b, width, look, true, 0);
}

void MarkMesh::ball(Vec3 center, double radius, const MarkLook& look) {
  // An icosahedron with smooth normals, which suffices for a ball of a few pixels.
  constexpr double kA = 0.5257311121191336, kB = 0.8506508083520400;
  constexpr Vec3 kCorners[12] = {{-kA, kB, 0}, {kA, kB, 0}, {-kA, -kB, 0}, {kA, -kB, 0},
                                 {0, -kA, kB}, {0, kA, kB}, {0, -kA, -kB}, {0, kA, -kB},
                                 {kB, 0, -kA}, {kB, 0, kA}, {-kB, 0, -kA}, {-kB, 0, kA}};
  constexpr uint8_t kFaces[60] = {0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
                                  4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
                                  6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1};
  const auto first = static_cast<uint32_t>(vertices_.size());
  const double seen_radius = std::max(radius, view_.pixel * norm(view_.eye - center));
  for (const Vec3& n : kCorners) vertex(center + seen_radius * n, n, look);
  auto& out = indices(look);
  for (const uint8_t corner : kFaces) out.push_back(first + corner);
}

void MarkMesh::ring(Vec3 at, double inner_radius, double outer_radius, const MarkLook& look) {
  constexpr int kSegments = 64;
  const Vec3 center = at + Vec3{0, 0, kMarkLift};
  for (int i = 0; i < kSegments; ++i) {
    const SinCos a = sin_cos(2 * kPi * i / kSegments), b = sin_cos(2 * kPi * (i + 1) / kSegments);
    const Vec3 u{a.cos, a.sin, 0}, v{b.cos, b.sin, 0}, up{0, 0, 1};
    if (inner_radius > 0)
      quad(center + inner_radius * u, center + outer_radius * u, center + outer_radius * v,
           center + inner_radius * v, up, look);
    else
      triangle(center, center + outer_radius * u, center + outer_radius * v, up, look);
  }
}

void MarkMesh::arrow(const Frame3& frame, double l, const MarkLook& look) {
  const auto at = [&](double x, double y) { return frame.transform({x, y, kMarkLift}); };
  triangle(at(0.5 * l, 0), at(-0.5 * l, 0.42 * l), at(-0.28 * l, 0), frame.z, look);
  triangle(at(0.5 * l, 0), at(-0.28 * l, 0), at(-0.5 * l, -0.42 * l), frame.z, look);
}

void MarkMesh::mesh(const Mesh& mesh, bool blended) {
  const auto first = static_cast<uint32_t>(vertices_.size());
  append_vertices(mesh, origin_, vertices_);
  auto& out = blended ? blended_ : opaque_;
  for (const uint32_t index : mesh.indices) out.push_back(first + index);
}

}  // namespace mvsim
