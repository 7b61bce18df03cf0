#include "render/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace mvsim {
namespace {

Vec3 corner(const Mesh& mesh, uint32_t index) {
  const float* p = mesh.vertices[index].position;
  return mesh.origin + Vec3{p[0], p[1], p[2]};
}

// Area of the triangles that face `normal`, by their corners' order.
double area_facing(const Mesh& mesh, const std::vector<uint32_t>& indices, Vec3 normal) {
  double sum = 0;
  for (size_t i = 0; i < indices.size(); i += 3) {
    const Vec3 a = corner(mesh, indices[i]), b = corner(mesh, indices[i + 1]),
               c = corner(mesh, indices[i + 2]);
    const Vec3 twice = cross(b - a, c - a);
    if (dot(twice, normal) > 0.99 * norm(twice)) sum += norm(twice) / 2;
  }
  return sum;
}

// Volume inside of a closed surface whose triangles run counter-clockwise seen from outside (divergence
// theorem).
double volume(const Mesh& mesh, const std::vector<uint32_t>& indices) {
  double sum = 0;
  for (size_t i = 0; i < indices.size(); i += 3)
    sum +=
        dot(corner(mesh, indices[i]), cross(corner(mesh, indices[i + 1]), corner(mesh, indices[i + 2]))) / 6;
  return sum;
}

double polygon_area(const Polygon& p) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += cross(p[i], p[(i + 1) % p.size()]) / 2;
  return sum;
}

TEST(Mesh, TrianglesFillSimplePolygons) {
  const Polygon shapes[] = {box_polygon(2, 1),
                            circle_polygon(1, 14),
                            {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}},
                            {{0, 0}, {4, 0}, {4, 3}, {2, 1}, {0, 3}},
                            {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {0, 2}}};
  for (const Polygon& shape : shapes) {
    const std::vector<uint32_t> indices = triangulate(shape);
    ASSERT_EQ(indices.size(), 3 * (shape.size() - 2));
    double sum = 0;
    for (size_t i = 0; i < indices.size(); i += 3) {
      const Vec2 a = shape[indices[i]], b = shape[indices[i + 1]], c = shape[indices[i + 2]];
      EXPECT_GE(cross(b - a, c - a), 0);
      sum += cross(b - a, c - a) / 2;
    }
    EXPECT_NEAR(sum, polygon_area(shape), 1e-12);
  }
}

TEST(Mesh, CrossingPolygonsEnd) {
  const Polygon bow{{0, 0}, {2, 2}, {2, 0}, {0, 2}};
  EXPECT_EQ(triangulate(bow).size(), 6U);
}

TEST(Mesh, PrismsEncloseTheirVolumeInAnyPoseAndWinding) {
  Polygon shape{{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
  for (int i = 0; i < 2; ++i, std::reverse(shape.begin(), shape.end())) {
    Prism prism{shape, 0.5, 2, {4, -2, 1, 0.7, 0.3, -0.4}, {}};
    MeshBuilder builder({4, -2, 0});
    builder.add(prism);
    const Mesh mesh = builder.take();
    EXPECT_NEAR(volume(mesh, mesh.casters), 5 * 1.5, 1e-5);
  }
}

TEST(Mesh, WheelsAndBallsFaceOutwards) {
  MeshBuilder builder({});
  builder.add(Wheel{{0, 0, 0.1, 0.3, 0, 0}, 0.1, 0.04, 0.2, {}});
  builder.add(Spheres{{{1, 2, 3}}, 0.5, {}}, {{0, 0, 100}, 1e-9});
  const Mesh mesh = builder.take();
  const double wheel = polygon_area(circle_polygon(0.1, 24)) * 0.04;
  EXPECT_NEAR(volume(mesh, mesh.casters), wheel, 1e-6);
  EXPECT_NEAR(volume(mesh, mesh.plain), 2.53615 * 0.125, 1e-3);  // icosahedron of circumradius 0.5
}

GridCells random_grid(uint64_t seed, int width, int height, double occupied_part) {
  GridCells grid{width, height, {}, 0.1, {}};
  RandomStream random(seed, 0, StreamPurpose::kPlaceBlocks);
  for (int i = 0; i < width * height; ++i) {
    const double u = random.uniform();
    grid.cells.push_back(u < occupied_part ? kOccupiedCell : u < 0.8 ? kFreeCell : kUnknownCell);
  }
  return grid;
}

TEST(Mesh, GridWallsShowEachOuterFaceOnce) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    GridCells grid = random_grid(seed, 13, 9, 0.4);
    grid.wall_height = 2;
    MeshBuilder builder({});
    builder.add(grid);
    const Mesh mesh = builder.take();
    const auto solid = [&](int x, int y) {
      return x >= 0 && y >= 0 && x < grid.width && y < grid.height &&
             grid.cells[static_cast<size_t>(y) * grid.width + x] == kOccupiedCell;
    };
    int east = 0, west = 0, north = 0, south = 0, top = 0;
    for (int y = 0; y < grid.height; ++y)
      for (int x = 0; x < grid.width; ++x) {
        if (!solid(x, y)) continue;
        ++top;
        east += !solid(x + 1, y), west += !solid(x - 1, y), north += !solid(x, y + 1),
            south += !solid(x, y - 1);
      }
    EXPECT_NEAR(area_facing(mesh, mesh.casters, {1, 0, 0}), east * 0.2, 1e-4);
    EXPECT_NEAR(area_facing(mesh, mesh.casters, {-1, 0, 0}), west * 0.2, 1e-4);
    EXPECT_NEAR(area_facing(mesh, mesh.casters, {0, 1, 0}), north * 0.2, 1e-4);
    EXPECT_NEAR(area_facing(mesh, mesh.casters, {0, -1, 0}), south * 0.2, 1e-4);
    EXPECT_NEAR(area_facing(mesh, mesh.casters, {0, 0, 1}), top * 0.01, top * 0.01 * 0.01);
  }
}

TEST(Mesh, MapsOfRoomsTakeFewTriangles) {
  GridCells grid{400, 400, std::vector<uint8_t>(160000, kUnknownCell), 0.05, {}};
  for (int y = 20; y < 380; ++y)
    for (int x = 20; x < 380; ++x)
      grid.cells[static_cast<size_t>(y) * 400 + x] = x % 90 < 24 || y % 90 < 24 ? kOccupiedCell : kFreeCell;
  MeshBuilder builder({});
  builder.add(grid);
  const Mesh mesh = builder.take();
  EXPECT_LT((mesh.casters.size() + mesh.plain.size()) / 3, 2000U);
}

TEST(Mesh, LinesAreNeverThinnerThanAPixel) {
  MeshBuilder builder({});
  builder.add(Segments{{{0, 0, 0}, {1, 0, 0}}, {}, 1e-6}, {{0.5, 0, 10}, 0.01});
  const Mesh mesh = builder.take();
  EXPECT_NEAR(area_facing(mesh, mesh.plain, {0, 0, 1}), 0.1, 2e-3);
}

TEST(Mesh, DivergedPosesGiveFiniteVertices) {
  MeshBuilder builder({});
  builder.add(Prism{box_polygon(1, 1), 0, 1, {NAN, INFINITY, 1e300, 0, 0, 0}, {}});
  for (const MeshVertex& v : builder.take().vertices)
    for (const float p : v.position) EXPECT_TRUE(std::isfinite(p));
}

TEST(Mesh, HillsFaceUpAlongTheirSlope) {
  HeightField field;
  field.rows = 3;
  field.columns = 4;
  field.step_x = 0.5;
  field.corner = {-2, 1};
  for (int row = 0; row < 3; ++row) field.heights.insert(field.heights.end(), 4, 0.75 * 0.5 * row);
  MeshBuilder builder({});
  builder.add(field);
  const Mesh mesh = builder.take();
  EXPECT_EQ(mesh.plain.size(), 2u * 3 * 2 * 3);
  EXPECT_NEAR(area_facing(mesh, mesh.plain, normalized({-0.75, 0, 1})), 1 * 3 * 1.25, 1e-5);
  field.color.a = 90;
  MeshBuilder glass({});
  glass.add(field);
  EXPECT_EQ(glass.take().blended.size(), mesh.plain.size());
}

}  // namespace
}  // namespace mvsim
