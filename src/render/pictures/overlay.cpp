#include "render/pictures/overlay.h"

#include <algorithm>
#include <cmath>

#include "scene/triangles.h"

namespace mvsim {
namespace {

constexpr double kMarkLift = 0.002;  // m, height of flat marks above the surface
constexpr int kMaxHalvings = 8;

constexpr Color kGoalColor{0x2e, 0xa0, 0x43, 255};
constexpr Color kHitColor{0xd9, 0x2c, 0x2c, 255};
constexpr Color kHeadingColor{0xff, 0xff, 0xff, 255};
constexpr Color kRopeColor{0xf2, 0xc0, 0x1e, 255}, kHitchColor{0xd9, 0x2c, 0x2c, 255};
constexpr Color kFloorColor{0xd9, 0xdc, 0xdf, 255}, kFloorLineColor{0xc3, 0xc8, 0xcd, 255};
constexpr double kFloorMargin = 1;  // m, margin of the floor that is drawn if a world has no ground
constexpr double kLineShine = 0.6, kRingShine = 0.3, kHitShine = 0.35;
constexpr double kLineWidth = 0.02, kMarkerWidth = 0.03, kFloorLineWidth = 0.012, kHitRadius = 0.012;  // m
constexpr double kFloorLineLift = 0.001;   // m, below the other marks
constexpr double kGroundGridLift = 0.005;  // m
constexpr int kMaxFloorLines = 400;        // in each direction

bool has_ground(const Scene& scene) {
  return std::any_of(scene.instances.begin(), scene.instances.end(), [&](const Instance& i) {
    const Shape& shape = scene.shapes[i.shape];
    return std::holds_alternative<LevelRect>(shape) || std::holds_alternative<GridCells>(shape) ||
           std::holds_alternative<HeightField>(shape);
  });
}

// Adds lines on a level rectangle, every metre; on a large one every 10, 100... m.
void add_floor_lines(const Rect& e, Frame3 frame, MarkMesh& out) {
  frame.origin.z += kFloorLineLift;
  const double longest = std::max(e.x_max - e.x_min, e.y_max - e.y_min);
  double interval = 1;
  while (longest / interval > kMaxFloorLines) interval *= 10;
  const auto line = [&](double x0, double y0, double x1, double y1) {
    out.floor_line(frame.transform({x0, y0, 0}), frame.transform({x1, y1, 0}), kFloorLineWidth,
                   {kFloorLineColor});
  };
  for (double k = std::ceil(e.x_min / interval); k * interval <= e.x_max; ++k)
    line(k * interval, e.y_min, k * interval, e.y_max);
  for (double k = std::ceil(e.y_min / interval); k * interval <= e.y_max; ++k)
    line(e.x_min, k * interval, e.x_max, k * interval);
}

void add_floors(const Scene& scene, MarkMesh& out) {
  for (const Instance& i : scene.instances)
    if (const auto* rect = std::get_if<LevelRect>(&scene.shapes[i.shape]); rect && i.frame == kWorldFrame)
      add_floor_lines(rect->extent, i.T_frame_shape, out);
  if (has_ground(scene)) return;
  const Rect& b = scene.bounds;
  const Rect extent{b.x_min - kFloorMargin, b.x_max + kFloorMargin, b.y_min - kFloorMargin,
                    b.y_max + kFloorMargin};
  out.mesh(triangles_of(LevelRect{extent}, kFloorColor, {}), false);
  add_floor_lines(extent, {}, out);
}

void add_ground_grid(const GroundGrid& grid, const Vec3& followed, MarkMesh& out) {
  const MarkLook look{grid.color, kLineShine};
  const auto whole = [&](double way) { return std::trunc(way / grid.interval) * grid.interval; };
  const Vec3 shift = is_finite(followed) ? Vec3{whole(followed.x), whole(followed.y), kGroundGridLift}
                                         : Vec3{0, 0, kGroundGridLift};
  for (const auto& [a, b] : ground_lines(grid)) out.line(shift + a, shift + b, grid.width, look);
}

void add_marker(const Marker& marker, MarkMesh& out) {
  for (size_t i = 1; i < marker.points.size(); ++i)
    out.line(marker.points[i - 1], marker.points[i], kMarkerWidth, {marker.color, kLineShine});
}

// In the order of RegionMark.
constexpr Color kRegionColors[] = {{0x4a, 0x9f, 0xe0, 90}, {0xd8, 0x9a, 0x3a, 90}, {0x8a, 0x5a, 0x2b, 90}};

void add_region(const RegionPatch& patch, MarkMesh& out) {
  const HeightField field{.rows = patch.rows,
                          .columns = patch.columns,
                          .heights = patch.heights,
                          .corner = patch.corner,
                          .step_x = patch.step_x,
                          .step_y = patch.step_y};
  out.mesh(triangles_of(field, kRegionColors[static_cast<size_t>(patch.kind)], {}), true);
}

void add_hitch(const std::array<Vec3, 2>& hitch, MarkMesh& out) {
  constexpr double kHalfCross = 0.1;  // m
  const MarkLook look{kHitchColor, kLineShine};
  const auto& [a, b] = hitch;
  out.line(a, b, kLineWidth, look);
  for (const double side : {-kHalfCross, kHalfCross})
    out.line({a.x - kHalfCross, a.y - side, a.z}, {a.x + kHalfCross, a.y + side, a.z}, kLineWidth, look);
}

void add_goal(const RingMark& ring, MarkMesh& out) {
  if (ring.line.empty()) {
    out.ring(ring.center, ring.inner_radius, ring.outer_radius, {kGoalColor, kRingShine});
    return;
  }
  for (size_t i = 0; i < ring.line.size(); ++i)
    out.line(ring.line[i], ring.line[(i + 1) % ring.line.size()], ring.outer_radius - ring.inner_radius,
             {kGoalColor, kLineShine});
}

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

Overlay make_overlay(const Scene& scene, std::span<const ScenePose> poses, const Marks& marks,
                     const MarkView& view, Vec3 origin) {
  Overlay overlay{{origin, view}, {origin, view}};
  add_floors(scene, overlay.ground);
  for (const GroundGrid& grid : scene.ground_grids)
    add_ground_grid(grid, grid.frame == kWorldFrame ? Vec3{} : poses[grid.frame].T_world_frame.origin,
                    overlay.ground);
  for (const Marker& marker : scene.markers) add_marker(marker, overlay.above);
  for (const RegionPatch& patch : marks.regions) add_region(patch, overlay.ground);
  for (const HeadingMark& mark : marks.headings)
    overlay.above.arrow(mark.frame, mark.length, {kHeadingColor});
  if (marks.goal) add_goal(*marks.goal, overlay.above);
  for (const auto& [a, b] : marks.ropes) overlay.above.line(a, b, kLineWidth, {kRopeColor, kLineShine});
  for (const auto& hitch : marks.hitches) add_hitch(hitch, overlay.above);
  for (const Vec3 hit : marks.hits) overlay.above.ball(hit, kHitRadius, {kHitColor, kHitShine});
  return overlay;
}

}  // namespace mvsim
