#include "render/mesh.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

constexpr double kFootShade = 0.88;  // of the colour at the foot of a wall: stands in for ambient occlusion
constexpr double kMarkLift = 0.002;  // m by which flat marks float over what they lie on
constexpr int kRoundSegments = 24;

int8_t packed(double component) {
  return static_cast<int8_t>(std::lround(std::clamp(component, -1.0, 1.0) * 127));
}

// A diverged state must not reach the driver as NaN.
float bounded(double metres) {
  constexpr double kFarthest = 1e7;
  return std::isfinite(metres) ? static_cast<float>(std::clamp(metres, -kFarthest, kFarthest)) : 0.0F;
}

Color scaled(Color c, double factor) {
  const auto scale = [factor](uint8_t v) {
    return static_cast<uint8_t>(std::lround(std::min(255.0, v * factor)));
  };
  return {scale(c.r), scale(c.g), scale(c.b), c.a};
}

Color mixed(Color a, Color b, double part_of_b) {
  const auto mix = [part_of_b](uint8_t u, uint8_t v) {
    return static_cast<uint8_t>(std::lround(u + part_of_b * (v - u)));
  };
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b), a.a};
}

double area2(std::span<const Vec2> polygon) {
  double sum = 0;
  for (size_t i = 0; i < polygon.size(); ++i) sum += cross(polygon[i], polygon[(i + 1) % polygon.size()]);
  return sum;
}

bool inside(Vec2 p, Vec2 a, Vec2 b, Vec2 c) {
  return cross(b - a, p - a) >= 0 && cross(c - b, p - b) >= 0 && cross(a - c, p - c) >= 0;
}

bool is_ear(std::span<const Vec2> polygon, const std::vector<uint32_t>& left, size_t at) {
  const size_t n = left.size();
  const uint32_t ia = left[(at + n - 1) % n], ib = left[at], ic = left[(at + 1) % n];
  const Vec2 a = polygon[ia], b = polygon[ib], c = polygon[ic];
  if (cross(b - a, c - a) <= 0) return false;
  for (const uint32_t i : left)
    if (i != ia && i != ib && i != ic && inside(polygon[i], a, b, c)) return false;
  return true;
}

}  // namespace

std::vector<uint32_t> triangulate(std::span<const Vec2> polygon) {
  std::vector<uint32_t> left(polygon.size()), triangles;
  for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<uint32_t>(i);
  while (left.size() >= 3) {
    size_t ear = 0;
    while (ear < left.size() && !is_ear(polygon, left, ear)) ++ear;
    if (ear == left.size()) ear = 0;  // crossing or flat polygon: any corner, so that the loop ends
    const size_t n = left.size();
    triangles.insert(triangles.end(), {left[(ear + n - 1) % n], left[ear], left[(ear + 1) % n]});
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(ear));
  }
  return triangles;
}

Polygon circle_polygon(double radius, int vertices) {
  Polygon polygon;
  for (int i = 0; i < vertices; ++i) {
    const SinCos angle = sin_cos(2 * kPi * i / vertices);
    polygon.push_back({radius * angle.cos, radius * angle.sin});
  }
  return polygon;
}

Polygon box_polygon(double size_x, double size_y) {
  const double x = size_x / 2, y = size_y / 2;
  return {{-x, -y}, {x, -y}, {x, y}, {-x, y}};
}

void Box3::include(Vec3 p) {
  low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
  high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
}

Box3 bounds_of_casters(const Mesh& mesh) {
  Box3 box;
  for (const uint32_t index : mesh.casters) {
    const float* p = mesh.vertices[index].position;
    box.include(mesh.origin + Vec3{p[0], p[1], p[2]});
  }
  return box;
}

Frame3::Frame3(const Pose3& pose) : origin{pose.x, pose.y, pose.z} {
  const SinCos a = sin_cos(pose.yaw), b = sin_cos(pose.pitch), g = sin_cos(pose.roll);
  x = {a.cos * b.cos, a.sin * b.cos, -b.sin};
  y = {a.cos * b.sin * g.sin - a.sin * g.cos, a.sin * b.sin * g.sin + a.cos * g.cos, b.cos * g.sin};
  z = {a.cos * b.sin * g.cos + a.sin * g.sin, a.sin * b.sin * g.cos - a.cos * g.sin, b.cos * g.cos};
}

uint32_t MeshBuilder::vertex(Vec3 position, Vec3 normal, Color color, double shine) {
  const Vec3 p = position - mesh_.origin;
  mesh_.vertices.push_back({{bounded(p.x), bounded(p.y), bounded(p.z)},
                            {packed(normal.x), packed(normal.y), packed(normal.z), packed(shine)},
                            {color.r, color.g, color.b, color.a}});
  return static_cast<uint32_t>(mesh_.vertices.size() - 1);
}

std::vector<uint32_t>& MeshBuilder::list(const Look& look) {
  if (look.color.a < 255) return mesh_.blended;
  return look.casts ? mesh_.casters : mesh_.plain;
}

void MeshBuilder::triangle(Vec3 a, Vec3 b, Vec3 c, Vec3 normal, const Look& look) {
  const uint32_t first = vertex(a, normal, look.color, look.shine);
  vertex(b, normal, look.color, look.shine);
  vertex(c, normal, look.color, look.shine);
  auto& out = list(look);
  out.insert(out.end(), {first, first + 1, first + 2});
}

void MeshBuilder::quad(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal, const Look& look) {
  const uint32_t first = vertex(a, normal, look.color, look.shine);
  vertex(b, normal, look.color, look.shine);
  vertex(c, normal, look.color, look.shine);
  vertex(d, normal, look.color, look.shine);
  auto& out = list(look);
  out.insert(out.end(), {first, first + 1, first + 2, first, first + 2, first + 3});
}

void MeshBuilder::wall(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal, const Look& look) {
  const Color foot = scaled(look.color, kFootShade);
  const uint32_t first = vertex(a, normal, foot, look.shine);
  vertex(b, normal, foot, look.shine);
  vertex(c, normal, look.color, look.shine);
  vertex(d, normal, look.color, look.shine);
  auto& out = list(look);
  out.insert(out.end(), {first, first + 1, first + 2, first, first + 2, first + 3});
}

void MeshBuilder::add(const Prism& prism) {
  Polygon shape = prism.shape;
  if (shape.size() < 3) return;
  if (area2(shape) < 0) std::reverse(shape.begin(), shape.end());
  const Frame3 frame(prism.pose);
  const Look look{prism.color};
  const auto at = [&](Vec2 p, double z) { return frame.transform({p.x, p.y, z}); };
  for (size_t i = 0; i < shape.size(); ++i) {
    const Vec2 a = shape[i], b = shape[(i + 1) % shape.size()];
    const Vec2 side = b - a;
    if (norm(side) == 0) continue;
    const Vec3 normal = frame.rotate(normalized({side.y, -side.x, 0}));
    wall(at(a, prism.z_min), at(b, prism.z_min), at(b, prism.z_max), at(a, prism.z_max), normal, look);
  }
  const std::vector<uint32_t> inner = triangulate(shape);
  for (size_t i = 0; i < inner.size(); i += 3) {
    const Vec2 a = shape[inner[i]], b = shape[inner[i + 1]], c = shape[inner[i + 2]];
    triangle(at(a, prism.z_max), at(b, prism.z_max), at(c, prism.z_max), frame.z, look);
    triangle(at(a, prism.z_min), at(c, prism.z_min), at(b, prism.z_min), -1 * frame.z, look);
  }
}

void MeshBuilder::add(const Wheel& wheel) {
  const Frame3 frame(wheel.pose);
  const double half = wheel.width / 2, hub = 0.62 * wheel.radius;
  const Look tyre{wheel.color};
  const Look rim{mixed(wheel.color, {255, 255, 255, 255}, 0.72)},
      spoke{mixed(wheel.color, {255, 255, 255, 255}, 0.35)};
  for (int i = 0; i < kRoundSegments; ++i) {
    const double step = 2 * kPi / kRoundSegments;
    const SinCos a = sin_cos(wheel.spin + i * step), b = sin_cos(wheel.spin + (i + 1) * step);
    const Vec3 na{a.sin, 0, a.cos}, nb{b.sin, 0, b.cos};  // positive spin rolls forward, along +x
    const auto at = [&](Vec3 n, double r, double y) { return frame.transform(Vec3{0, y, 0} + r * n); };
    const double r = wheel.radius;
    const uint32_t first = vertex(at(na, r, -half), frame.rotate(na), tyre.color);
    vertex(at(na, r, half), frame.rotate(na), tyre.color);
    vertex(at(nb, r, half), frame.rotate(nb), tyre.color);
    vertex(at(nb, r, -half), frame.rotate(nb), tyre.color);
    auto& out = list(tyre);
    out.insert(out.end(), {first, first + 2, first + 1, first, first + 3, first + 2});
    const Look& cap = i % 8 < 2 ? spoke : rim;
    for (const double y : {half, -half}) {
      const Vec3 normal = y > 0 ? frame.y : -1 * frame.y;
      const Vec3 p = y > 0 ? na : nb, q = y > 0 ? nb : na;
      triangle(at(p, 0, y), at(p, hub, y), at(q, hub, y), normal, cap);
      quad(at(p, hub, y), at(p, r, y), at(q, r, y), at(q, hub, y), normal, tyre);
    }
  }
}

void MeshBuilder::add(const HeadingMark& mark) {
  const Frame3 frame(mark.pose);
  const double l = mark.length;
  const Look look{mark.color, false};
  const auto at = [&](double x, double y) { return frame.transform({x, y, kMarkLift}); };
  triangle(at(0.5 * l, 0), at(-0.5 * l, 0.42 * l), at(-0.28 * l, 0), frame.z, look);
  triangle(at(0.5 * l, 0), at(-0.28 * l, 0), at(-0.5 * l, -0.42 * l), frame.z, look);
}

void MeshBuilder::add(const Disc& disc) {
  constexpr int kSegments = 64;
  const Look look{disc.color, false, 0.3};
  const Vec3 center = disc.center + Vec3{0, 0, kMarkLift};
  for (int i = 0; i < kSegments; ++i) {
    const SinCos a = sin_cos(2 * kPi * i / kSegments), b = sin_cos(2 * kPi * (i + 1) / kSegments);
    const Vec3 u{a.cos, a.sin, 0}, v{b.cos, b.sin, 0}, up{0, 0, 1};
    if (disc.inner_radius > 0)
      quad(center + disc.inner_radius * u, center + disc.outer_radius * u, center + disc.outer_radius * v,
           center + disc.inner_radius * v, up, look);
    else
      triangle(center, center + disc.outer_radius * u, center + disc.outer_radius * v, up, look);
  }
}

void MeshBuilder::add(const Spheres& spheres, const LineView& view) {
  // An icosahedron with smooth normals: enough for a ball of a few pixels.
  constexpr double kA = 0.5257311121191336, kB = 0.8506508083520400;
  constexpr Vec3 kCorners[12] = {{-kA, kB, 0}, {kA, kB, 0}, {-kA, -kB, 0}, {kA, -kB, 0},
                                 {0, -kA, kB}, {0, kA, kB}, {0, -kA, -kB}, {0, kA, -kB},
                                 {kB, 0, -kA}, {kB, 0, kA}, {-kB, 0, -kA}, {-kB, 0, kA}};
  constexpr uint8_t kFaces[60] = {0, 11, 5,  0, 5,  1, 0, 1, 7, 0, 7,  10, 0, 10, 11, 1, 5, 9, 5, 11,
                                  4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3,  9,  4, 3,  4,  2, 3, 2, 6, 3,
                                  6, 8,  3,  8, 9,  4, 9, 5, 2, 4, 11, 6,  2, 10, 8,  6, 7, 9, 8, 1};
  const Look look{spheres.color, false, 0.35};
  for (const Vec3& center : spheres.centers) {
    const auto first = static_cast<uint32_t>(mesh_.vertices.size());
    const double radius = std::max(spheres.radius, view.pixel * norm(view.eye - center));
    for (const Vec3& n : kCorners) vertex(center + radius * n, n, look.color, look.shine);
    auto& out = list(look);
    for (const uint8_t corner : kFaces) out.push_back(first + corner);
  }
}

void MeshBuilder::add_floor(const Ground& ground) {
  const Rect& e = ground.extent;
  const Pose2& t = ground.T_world_ground;
  const Frame3 frame({t.x, t.y, ground.z, t.yaw, 0, 0});
  quad(frame.transform({e.x_min, e.y_min, 0}), frame.transform({e.x_max, e.y_min, 0}),
       frame.transform({e.x_max, e.y_max, 0}), frame.transform({e.x_min, e.y_max, 0}), {0, 0, 1},
       Look{ground.color, false});
}

}  // namespace mvsim
