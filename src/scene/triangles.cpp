#include "scene/triangles.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

constexpr double kFootShade = 0.88;  // of the colour at the foot of a wall: stands in for ambient occlusion
constexpr int kRoundSegments = 24;

Color mixed(Color a, Color b, double part_of_b) {
  const auto mix = [part_of_b](uint8_t u, uint8_t v) {
    return static_cast<uint8_t>(std::lround(u + part_of_b * (v - u)));
  };
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b), a.a};
}

Color multiplied(Color a, Color b) {
  const auto times = [](int u, int v) { return static_cast<uint8_t>((u * v + 127) / 255); };
  return {times(a.r, b.r), times(a.g, b.g), times(a.b, b.b), times(a.a, b.a)};
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

double area2(std::span<const Vec2> polygon) {
  double sum = 0;
  for (size_t i = 0; i < polygon.size(); ++i) sum += cross(polygon[i], polygon[(i + 1) % polygon.size()]);
  return sum;
}

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

Color shaded(Color c, double factor) {
  const auto part = [factor](uint8_t v) {
    return static_cast<uint8_t>(std::lround(std::min(255.0, v * factor)));
  };
  return {part(c.r), part(c.g), part(c.b), c.a};
}

Color foot_color(Color color) {
  return shaded(color, kFootShade);
}

uint32_t MeshBuilder::vertex(Vec3 position, Vec3 normal, Color color) {
  const Vec3 n = frame_.rotate(normal);
  mesh_.positions.push_back(frame_.transform(position));
  mesh_.normals.push_back({static_cast<float>(n.x), static_cast<float>(n.y), static_cast<float>(n.z)});
  mesh_.colors.push_back(color);
  return static_cast<uint32_t>(mesh_.positions.size() - 1);
}

void MeshBuilder::triangle(Vec3 a, Vec3 b, Vec3 c, Vec3 normal, Color color) {
  const uint32_t first = vertex(a, normal, color);
  vertex(b, normal, color);
  vertex(c, normal, color);
  indices({first, first + 1, first + 2});
}

void MeshBuilder::quad(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal, Color color) {
  const uint32_t first = vertex(a, normal, color);
  vertex(b, normal, color);
  vertex(c, normal, color);
  vertex(d, normal, color);
  indices({first, first + 1, first + 2, first, first + 2, first + 3});
}

void MeshBuilder::wall(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 normal) {
  const Color foot = foot_color(color_);
  const uint32_t first = vertex(a, normal, foot);
  vertex(b, normal, foot);
  vertex(c, normal, color_);
  vertex(d, normal, color_);
  indices({first, first + 1, first + 2, first, first + 2, first + 3});
}

void MeshBuilder::add(const Mesh& mesh) {
  const auto first = static_cast<uint32_t>(mesh_.positions.size());
  const double shrink = 1 / norm(frame_.x);
  for (size_t i = 0; i < mesh.positions.size(); ++i) {
    const auto& n = mesh.normals[i];
    vertex(mesh.positions[i], {shrink * n[0], shrink * n[1], shrink * n[2]},
           mesh.colors.empty() ? color_ : multiplied(color_, mesh.colors[i]));
    mesh_.uvs.push_back(mesh.uvs.empty() ? std::array<float, 2>{} : mesh.uvs[i]);
  }
  for (const uint32_t index : mesh.indices) mesh_.indices.push_back(first + index);
}

void MeshBuilder::add(const Prism& prism) {
  Polygon shape = prism.outline;
  if (shape.size() < 3) return;
  if (area2(shape) < 0) std::reverse(shape.begin(), shape.end());
  const Tile& tile = prism.tile;
  const auto at = [](Vec2 p, double z) { return Vec3{p.x, p.y, z}; };
  double along = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const Vec2 a = shape[i], b = shape[(i + 1) % shape.size()];
    const Vec2 side = b - a;
    const double length = norm(side);
    if (length == 0) continue;
    wall(at(a, prism.z_min), at(b, prism.z_min), at(b, prism.z_max), at(a, prism.z_max),
         normalized({side.y, -side.x, 0}));
    if (tile.x > 0) {
      const double u = along / tile.x, next_u = (along + length) / tile.x;
      const double top = -(prism.z_max - prism.z_min) / tile.y;
      texture_at(u, 0);
      texture_at(next_u, 0);
      texture_at(next_u, top);
      texture_at(u, top);
    }
    along += length;
  }
  const std::vector<uint32_t> inner = triangulate(shape);
  for (size_t i = 0; i < inner.size(); i += 3) {
    const Vec2 a = shape[inner[i]], b = shape[inner[i + 1]], c = shape[inner[i + 2]];
    triangle(at(a, prism.z_max), at(b, prism.z_max), at(c, prism.z_max), {0, 0, 1}, color_);
    triangle(at(a, prism.z_min), at(c, prism.z_min), at(b, prism.z_min), {0, 0, -1}, color_);
    if (tile.x > 0)
      for (const Vec2 p : {a, b, c, a, c, b}) texture_at(p.x / tile.x, -p.y / tile.y);
  }
}

void MeshBuilder::add(const WheelShape& wheel) {
  constexpr Color kWhite{255, 255, 255, 255};
  const double r = wheel.radius, half = wheel.width / 2, hub = 0.62 * r;
  const Color rim = mixed(color_, kWhite, 0.72), spoke = mixed(color_, kWhite, 0.35);
  const auto at = [](Vec3 n, double radius, double y) { return Vec3{0, y, 0} + radius * n; };
  for (int i = 0; i < kRoundSegments; ++i) {
    const double step = 2 * kPi / kRoundSegments;
    const SinCos a = sin_cos(i * step), b = sin_cos((i + 1) * step);
    const Vec3 na{a.sin, 0, a.cos}, nb{b.sin, 0, b.cos};
    const uint32_t first = vertex(at(na, r, -half), na, color_);
    vertex(at(na, r, half), na, color_);
    vertex(at(nb, r, half), nb, color_);
    vertex(at(nb, r, -half), nb, color_);
    indices({first, first + 2, first + 1, first, first + 3, first + 2});
    const Color cap = i % 8 < 2 ? spoke : rim;
    for (const double y : {half, -half}) {
      const Vec3 normal{0, y > 0 ? 1.0 : -1.0, 0};
      const Vec3 p = y > 0 ? na : nb, q = y > 0 ? nb : na;
      triangle(at(p, 0, y), at(p, hub, y), at(q, hub, y), normal, cap);
      quad(at(p, hub, y), at(p, r, y), at(q, r, y), at(q, hub, y), normal, color_);
    }
  }
}

void MeshBuilder::add(const LevelRect& rect) {
  const Rect& e = rect.extent;
  quad({e.x_min, e.y_min, 0}, {e.x_max, e.y_min, 0}, {e.x_max, e.y_max, 0}, {e.x_min, e.y_max, 0}, {0, 0, 1},
       color_);
  if (!(rect.tile.x > 0)) return;
  const double right = (e.x_max - e.x_min) / rect.tile.x, top = -(e.y_max - e.y_min) / rect.tile.y;
  texture_at(0, 0);
  texture_at(right, 0);
  texture_at(right, top);
  texture_at(0, top);
}

size_t triangle_count(const Scene& scene) {
  std::vector<size_t> counts;
  for (const Shape& shape : scene.shapes) counts.push_back(triangles_of(shape, {}, {}).indices.size() / 3);
  size_t sum = 0;
  for (const Instance& instance : scene.instances) sum += counts[instance.shape];
  return sum;
}

Mesh triangles_of(const Shape& shape, Color color, const Frame3& frame, const TriangleOptions& options) {
  MeshBuilder builder(frame, color);
  std::visit(
      [&](const auto& s) {
        if constexpr (std::is_same_v<std::decay_t<decltype(s)>, HeightField>)
          builder.add(s, options.max_nodes);
        else
          builder.add(s);
      },
      shape);
  return builder.take();
}

}  // namespace mvsim
