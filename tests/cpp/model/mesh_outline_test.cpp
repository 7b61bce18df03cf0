// Outlines of meshes whose shape is known.
#include "model/mesh_outline.h"

#include <gtest/gtest.h>

#include "assets/read_mesh.h"
#include "base/geometry3.h"
#include "base/random.h"
#include "model/shape.h"
#include "scene/triangles.h"

namespace mvsim::mesh_outline_test {
namespace {

VisualSpec visual_of(Mesh mesh) {
  auto file = std::make_shared<MeshFile>();
  file->parts.push_back({std::make_shared<const Mesh>(std::move(mesh)), {}, nullptr});
  VisualSpec out;
  out.mesh = std::move(file);
  return out;
}

VisualSpec prism_visual(const Polygon& outline, double z_min, double z_max) {
  return visual_of(triangles_of(Prism{outline, z_min, z_max}, {}, {}));
}

// A square pyramid: 2 m wide at z = 0, its tip at z = 1.
VisualSpec pyramid() {
  Mesh mesh;
  mesh.positions = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1}};
  mesh.normals.assign(5, {0, 0, 1});
  mesh.indices = {0, 2, 1, 0, 3, 2, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
  return visual_of(mesh);
}

MeshOutline outline_of(std::vector<VisualSpec> visuals, const HeightRange& window = {}) {
  const LoadGuard guard;
  return mesh_outline(visuals, window, guard, {}).value();
}

double area(const Polygon& p) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += cross(p[i], p[(i + 1) % p.size()]) / 2;
  return sum;
}

Rect extent(const Polygon& p) {
  Rect r{1e9, -1e9, 1e9, -1e9};
  for (const Vec2 v : p)
    r = {std::min(r.x_min, v.x), std::max(r.x_max, v.x), std::min(r.y_min, v.y), std::max(r.y_max, v.y)};
  return r;
}

// How far a point lies outside of a convex polygon, about.
double outside(const Polygon& p, Vec2 point) {
  double worst = -1e9;
  for (size_t i = 0; i < p.size(); ++i) {
    const Vec2 side = p[(i + 1) % p.size()] - p[i];
    worst = std::max(worst, cross(point - p[i], side) / norm(side));
  }
  return worst;
}

TEST(MeshOutline, ABoxIsItsRectangle) {
  const MeshOutline box = outline_of({prism_visual({{0, 0}, {2, 0}, {2, 1}, {0, 1}}, 0.2, 0.7)});
  EXPECT_EQ(box.outline, (Polygon{{0, 0}, {2, 0}, {2, 1}, {0, 1}}));
  EXPECT_EQ(box.heights.low, 0.2);
  EXPECT_EQ(box.heights.high, 0.7);
}

TEST(MeshOutline, TheVisualsTransformApplies) {
  VisualSpec v = prism_visual({{0, 0}, {2, 0}, {2, 1}, {0, 1}}, 0, 0.5);
  v.scale = 2, v.x = 10, v.z = 1, v.roll = kPi / 2;  // z goes up to y, y down to -z... stood upright
  const MeshOutline out = outline_of({v});
  const Rect r = extent(out.outline);
  EXPECT_NEAR(r.x_min, 10, 1e-12);
  EXPECT_NEAR(r.x_max, 14, 1e-12);
  EXPECT_NEAR(r.y_min, -1, 1e-12);
  EXPECT_NEAR(r.y_max, 0, 1e-12);
  EXPECT_NEAR(out.heights.low, 1, 1e-12);
  EXPECT_NEAR(out.heights.high, 3, 1e-12);
}

// The window is a millimetre wider than zmin and zmax on each side.
TEST(MeshOutline, TrianglesAreCutAtTheHeights) {
  const MeshOutline upper = outline_of({pyramid()}, {0.5, 0.75});
  EXPECT_NEAR(extent(upper.outline).x_max, 0.501, 1e-9);
  EXPECT_NEAR(area(upper.outline), 1.002 * 1.002, 1e-9);
  EXPECT_EQ(upper.heights.low, 0.5);
  EXPECT_EQ(upper.heights.high, 0.75);
  const MeshOutline whole = outline_of({pyramid()}, {-5, 5});
  EXPECT_NEAR(area(whole.outline), 4, 1e-12);
  EXPECT_EQ(whole.heights.low, 0);
  EXPECT_EQ(whole.heights.high, 1);
  EXPECT_THROW(outline_of({pyramid()}, {2, 3}), WorldFileError);
  EXPECT_THROW(outline_of({prism_visual({{0, 0}, {1e-5, 0}, {0, 1e-5}}, 0, 1)}), WorldFileError);
}

// Fourteen sides about a circle take 2.6 % of the radius more, MVSim's raster some 3 %.
TEST(MeshOutline, RoundThingsKeepFourteenSidesThatHoldThem) {
  const Polygon circle = circle_polygon(1, 200);
  const MeshOutline round = outline_of({prism_visual(circle, 0, 1)});
  EXPECT_LE(round.outline.size(), 14U);
  for (const Vec2 p : circle) EXPECT_LE(outside(round.outline, p), 1e-12);
  for (const Vec2 p : round.outline) EXPECT_LT(norm(p), 1.06);
}

TEST(MeshOutline, SeveralVisualsAreOneBody) {
  const MeshOutline both = outline_of({prism_visual({{0, 0}, {1, 0}, {1, 1}, {0, 1}}, 0, 1),
                                       prism_visual({{3, 0}, {4, 0}, {4, 1}, {3, 1}}, 2, 3)});
  EXPECT_EQ(both.outline, (Polygon{{0, 0}, {4, 0}, {4, 1}, {0, 1}}));
  EXPECT_EQ(both.heights.low, 0);
  EXPECT_EQ(both.heights.high, 3);
  const LoadGuard guard;
  const std::vector<VisualSpec> absent(2);
  EXPECT_FALSE(mesh_outline(absent, {}, guard, {}).has_value());
}

TEST(MeshOutline, FewerVerticesStillHoldEveryPoint) {
  for (uint32_t n = 0; n < 200; ++n) {
    RandomStream random(7, n, StreamPurpose::kSpawn);
    Polygon points;
    for (int i = 0; i < 60; ++i) points.push_back({random.normal(), 3 * random.normal()});
    const Polygon hull = convex_hull(points);
    const Polygon fewer = with_fewer_vertices(hull, 6);
    EXPECT_LE(fewer.size(), 6U);
    for (const Vec2 p : points) EXPECT_LE(outside(fewer, p), 1e-9);
    EXPECT_LT(area(fewer), 2 * area(hull));
  }
}

// All sides are measured anew for each that goes.
Polygon with_fewer_vertices_slowly(Polygon convex, size_t max) {
  const double next_to_nothing = 1e-4 * area(convex);
  while (convex.size() > 3) {
    const size_t n = convex.size();
    double least = std::numeric_limits<double>::infinity();
    size_t best = n;
    Vec2 corner;
    for (size_t i = 0; i < n; ++i) {
      const Vec2 a = convex[(i + n - 1) % n], b = convex[i], c = convex[(i + 1) % n], d = convex[(i + 2) % n];
      const double turn = cross(b - a, d - c);
      if (!(turn > 0)) continue;
      const double along = cross(c - b, d - c) / turn;
      const Vec2 meet = b + along * (b - a);
      const double added = cross(c - b, meet - b) / -2;
      if (!(along >= 0) || !(added < least)) continue;
      least = added, best = i, corner = meet;
    }
    if (best == n || (n <= max && least > next_to_nothing)) break;
    convex[best] = corner;
    convex.erase(convex.begin() + static_cast<std::ptrdiff_t>((best + 1) % n));
  }
  return convex;
}

TEST(MeshOutline, SidesGoOneByOneInTheOrderOfWhatTheyAdd) {
  for (uint32_t n = 0; n < 200; ++n) {
    RandomStream random(8, n, StreamPurpose::kSpawn);
    Polygon points;
    for (int i = 0; i < 300; ++i) points.push_back({random.normal(), random.normal()});
    for (const Polygon& hull : {convex_hull(points), circle_polygon(1, 3 + static_cast<int>(n))})
      EXPECT_EQ(with_fewer_vertices(hull, 14), with_fewer_vertices_slowly(hull, 14)) << n;
  }
}

TEST(MeshOutline, ManyVerticesAreThinned) {
  EXPECT_LE(with_fewer_vertices(circle_polygon(1, 50000), 14).size(), 14U);
}

}  // namespace
}  // namespace mvsim::mesh_outline_test
