#include "scene/triangles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "scene/grid_triangles.h"

namespace mvsim::triangles_test {
namespace {

// Area of the triangles that face `normal`, by their corners' order.
double area_facing(const Mesh& mesh, Vec3 normal) {
  double sum = 0;
  for (size_t i = 0; i < mesh.indices.size(); i += 3) {
    const auto corner = [&](size_t k) { return mesh.positions[mesh.indices[i + k]]; };
    const Vec3 twice = cross(corner(1) - corner(0), corner(2) - corner(0));
    if (dot(twice, normal) > 0.99 * norm(twice)) sum += norm(twice) / 2;
  }
  return sum;
}

// Volume inside of a closed surface whose triangles run counter-clockwise seen from outside (divergence
// theorem).
double volume(const Mesh& mesh) {
  double sum = 0;
  for (size_t i = 0; i < mesh.indices.size(); i += 3) {
    const auto corner = [&](size_t k) { return mesh.positions[mesh.indices[i + k]]; };
    sum += dot(corner(0), cross(corner(1), corner(2))) / 6;
  }
  return sum;
}

double polygon_area(const Polygon& p) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += cross(p[i], p[(i + 1) % p.size()]) / 2;
  return sum;
}

TEST(Triangles, TrianglesFillSimplePolygons) {
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

TEST(Triangles, CrossingPolygonsEnd) {
  const Polygon bow{{0, 0}, {2, 2}, {2, 0}, {0, 2}};
  EXPECT_EQ(triangulate(bow).size(), 6U);
}

TEST(Triangles, PrismsEncloseTheirVolumeInAnyPoseAndWinding) {
  Polygon shape{{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
  for (int i = 0; i < 2; ++i, std::reverse(shape.begin(), shape.end())) {
    const Mesh mesh = triangles_of(Prism{shape, 0.5, 2}, {}, Frame3(Pose3{4, -2, 1, 0.7, 0.3, -0.4}));
    EXPECT_NEAR(volume(mesh), 5 * 1.5, 1e-12);
  }
}

TEST(Triangles, WheelsFaceOutwardsAndShowHowFarTheyTurned) {
  const Mesh mesh =
      triangles_of(WheelShape{0.1, 0.04}, {0x32, 0x32, 0x32, 255}, Frame3(Pose3{0, 0, 0.1, 0.3, 0, 0}));
  EXPECT_NEAR(volume(mesh), polygon_area(circle_polygon(0.1, 24)) * 0.04, 1e-12);
  const auto darkest =
      std::minmax_element(mesh.colors.begin(), mesh.colors.end(), [](Color a, Color b) { return a.r < b.r; });
  EXPECT_EQ(darkest.first->r, 0x32);
  EXPECT_GT(darkest.second->r, 0xa0) << "the rim is lighter than the tyre";
}

TEST(Triangles, NormalsAgreeWithTheOrderOfCorners) {
  const Frame3 frame(Pose3{1, 2, 3, 0.5, 0.2, -1});
  for (const Shape& shape :
       {Shape{Prism{box_polygon(1, 2), 0, 1}}, Shape{WheelShape{0.3, 0.1}}, Shape{LevelRect{}}}) {
    const Mesh mesh = triangles_of(shape, {}, frame);
    ASSERT_EQ(mesh.normals.size(), mesh.positions.size());
    for (size_t i = 0; i < mesh.indices.size(); i += 3) {
      const auto corner = [&](size_t k) { return mesh.positions[mesh.indices[i + k]]; };
      const Vec3 facing = normalized(cross(corner(1) - corner(0), corner(2) - corner(0)));
      const auto& n = mesh.normals[mesh.indices[i]];
      EXPECT_GT(dot(facing, {n[0], n[1], n[2]}), 0.98);
    }
  }
}

// Rows of images run downwards, so v falls where a surface rises.
TEST(Triangles, TexturesCoverASurfaceInCopiesOfTheirOwnSize) {
  const Mesh level = triangles_of(LevelRect{{-1, 3, 0, 3}, {2, 1.5}}, {}, {});
  EXPECT_EQ(level.uvs, (std::vector<std::array<float, 2>>{{0, 0}, {2, 0}, {2, -2}, {0, -2}}));
  const Mesh prism = triangles_of(Prism{box_polygon(4, 2), 1, 3, {2, 4}}, {}, {});
  ASSERT_EQ(prism.uvs.size(), prism.positions.size());
  EXPECT_EQ(prism.uvs[2], (std::array<float, 2>{2, -0.5})) << "4 m along, 2 m up";
  EXPECT_EQ(prism.uvs[5], (std::array<float, 2>{3, 0})) << "and round the corner";
  EXPECT_TRUE(triangles_of(LevelRect{}, {}, {}).uvs.empty());
}

TEST(Triangles, ATextureLiesOnGroundAsItsHeightsDo) {
  const std::vector<float> heights(6, 0.F);
  HeightField field{.rows = 3, .columns = 2, .heights = heights, .corner = {}, .tile = {1, 0.5}};
  EXPECT_EQ(triangles_of(field, {}, {}).uvs[5], (std::array<float, 2>{2, 2})) << "1 m along y, 2 m along x";
  EXPECT_EQ(triangles_of(field, {}, {}).uvs[4], (std::array<float, 2>{0, 2}));
  field.tile_turns = 1;
  EXPECT_EQ(triangles_of(field, {}, {}).uvs[4], (std::array<float, 2>{-2, 0}));
}

TEST(Triangles, AMeshTakesThePoseAndTheColorOfItsMaterial) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.normals.assign(3, {0, 0, 1});
  mesh.indices = {0, 1, 2};
  const Mesh plain = triangles_of(std::make_shared<const Mesh>(mesh), {200, 100, 50, 255},
                                  Frame3(Pose3{5, 0, 0, kPi / 2, 0, 0}));
  EXPECT_NEAR(norm(plain.positions[1] - Vec3{5, 1, 0}), 0, 1e-12);
  EXPECT_EQ(plain.colors[0].r, 200);
  EXPECT_EQ(plain.uvs[2][0], 0);
  // a frame with longer axes makes it larger; normals stay what they are
  const Mesh twice =
      triangles_of(std::make_shared<const Mesh>(mesh), {}, {{}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}});
  EXPECT_NEAR(norm(twice.positions[1] - Vec3{2, 0, 0}), 0, 1e-12);
  EXPECT_EQ(twice.normals[1][2], 1);
  mesh.colors.assign(3, {255, 128, 0, 255});
  mesh.uvs = {{0, 0}, {1, 0}, {0, 1}};
  const Mesh colored = triangles_of(std::make_shared<const Mesh>(mesh), {200, 100, 50, 255}, {});
  EXPECT_EQ(colored.colors[0].r, 200);
  EXPECT_EQ(colored.colors[0].g, 50);
  EXPECT_EQ(colored.colors[0].b, 0);
  EXPECT_EQ(colored.uvs[1][0], 1);
}

struct RandomGrid {
  std::vector<uint8_t> cells;
  GridField field;
};

RandomGrid random_grid(uint64_t seed, int width, int height, double occupied_part) {
  RandomStream random(seed, 0, StreamPurpose::kPlaceBlocks);
  std::vector<uint8_t> cells;
  for (int i = 0; i < width * height; ++i) {
    const double u = random.uniform();
    cells.push_back(static_cast<uint8_t>(u < occupied_part ? Cell::kOccupied
                                         : u < 0.8         ? Cell::kFree
                                                           : Cell::kUnknown));
  }
  return {cells, GridField(cells, width, height, 0.1)};
}

TEST(Triangles, GridWallsShowEachOuterFaceOnce) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const RandomGrid grid = random_grid(seed, 13, 9, 0.4);
    const Mesh mesh = triangles_of(GridCells{&grid.field, GridCells::kWalls, 2}, {}, {});
    const auto solid = [&](int x, int y) {
      return x >= 0 && y >= 0 && x < 13 && y < 9 &&
             grid.cells[static_cast<size_t>(y) * 13 + x] == static_cast<uint8_t>(Cell::kOccupied);
    };
    int east = 0, west = 0, north = 0, south = 0, top = 0;
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 13; ++x) {
        if (!solid(x, y)) continue;
        ++top;
        east += !solid(x + 1, y), west += !solid(x - 1, y), north += !solid(x, y + 1),
            south += !solid(x, y - 1);
      }
    EXPECT_NEAR(area_facing(mesh, {1, 0, 0}), east * 0.2, 1e-4);
    EXPECT_NEAR(area_facing(mesh, {-1, 0, 0}), west * 0.2, 1e-4);
    EXPECT_NEAR(area_facing(mesh, {0, 1, 0}), north * 0.2, 1e-4);
    EXPECT_NEAR(area_facing(mesh, {0, -1, 0}), south * 0.2, 1e-4);
    EXPECT_NEAR(area_facing(mesh, {0, 0, 1}), top * 0.01, top * 0.01 * 0.01);
  }
}

TEST(Triangles, GridFloorsCoverTheirCells) {
  const RandomGrid grid = random_grid(3, 13, 9, 0.3);
  const auto unknown = std::count(grid.cells.begin(), grid.cells.end(), static_cast<uint8_t>(Cell::kUnknown));
  const Mesh free = triangles_of(GridCells{&grid.field, GridCells::kFreeFloor}, {}, {});
  const Mesh dark = triangles_of(GridCells{&grid.field, GridCells::kUnknownFloor}, {}, {});
  EXPECT_NEAR(area_facing(free, {0, 0, 1}), 13 * 9 * 0.01, 0.01);
  EXPECT_NEAR(area_facing(dark, {0, 0, 1}), unknown * 0.01, unknown * 0.01 * 0.01);
}

TEST(Triangles, MapsOfRoomsTakeFewTriangles) {
  std::vector<uint8_t> cells(160000, static_cast<uint8_t>(Cell::kUnknown));
  for (int y = 20; y < 380; ++y)
    for (int x = 20; x < 380; ++x)
      cells[static_cast<size_t>(y) * 400 + x] =
          static_cast<uint8_t>(x % 90 < 24 || y % 90 < 24 ? Cell::kOccupied : Cell::kFree);
  const GridField field(cells, 400, 400, 0.05);
  size_t triangles = 0;
  for (const auto part : {GridCells::kWalls, GridCells::kFreeFloor, GridCells::kUnknownFloor})
    triangles += triangles_of(GridCells{&field, part}, {}, {}).indices.size() / 3;
  EXPECT_LT(triangles, 2000U);
}

// A checkerboard has the most corners that cells can have.
TEST(Triangles, MapsOfSingleCellsMergeUntilTheyFit) {
  const auto checkerboard = [](int side) {
    std::vector<uint8_t> cells;
    for (int i = 0; i < side * side; ++i)
      cells.push_back(static_cast<uint8_t>((i / side + i % side) % 2 == 0 ? Cell::kOccupied : Cell::kFree));
    return GridField(cells, side, side, 0.1);
  };
  const GridField small = checkerboard(400), large = checkerboard(1001);
  EXPECT_EQ(count_corners(DrawnCells(small, 1)), 401U * 401);
  EXPECT_EQ(count_corners(DrawnCells(small, 2)), 4U);
  EXPECT_EQ(merged_to_fit({&small}).merged, std::vector<int>{1});
  EXPECT_EQ(merged_to_fit({&large}).merged, std::vector<int>{2});
  EXPECT_EQ(merged_to_fit({&small, &small}).merged, (std::vector<int>{2, 1})) << "the sum counts";
  EXPECT_EQ(merged_to_fit({&small, &small}).corners, 401U * 401 + 4);
  EXPECT_EQ(merged_to_fit({&small}, 1000).merged, std::vector<int>{2});
  const Mesh mesh = triangles_of(GridCells{&large, GridCells::kWalls, 1, 2}, {}, {});
  EXPECT_LT(mesh.indices.size() / 3, 100U);
  EXPECT_NEAR(area_facing(mesh, {0, 0, 1}), 100.2 * 100.2, 0.5) << "501 squares of 0.2 m";
}

TEST(Triangles, MergedCellsAreOccupiedIfOneOfThemIs) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const RandomGrid grid = random_grid(seed, 13, 9, 0.2);
    const DrawnCells merged(grid.field, 3);
    ASSERT_EQ(merged.width, 5);
    ASSERT_EQ(merged.height, 3);
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 5; ++x) {
        bool occupied = false, free = false;
        for (int v = 3 * y; v < std::min(3 * y + 3, 9); ++v)
          for (int u = 3 * x; u < std::min(3 * x + 3, 13); ++u) {
            occupied = occupied || grid.field.cell(u, v) == Cell::kOccupied;
            free = free || grid.field.cell(u, v) == Cell::kFree;
          }
        EXPECT_EQ(merged.cell(x, y), occupied ? Cell::kOccupied : free ? Cell::kFree : Cell::kUnknown);
      }
  }
}

TEST(Triangles, HillsFaceUpAlongTheirSlope) {
  std::vector<float> heights;
  for (int row = 0; row < 3; ++row) heights.insert(heights.end(), 4, 0.75F * 0.5F * static_cast<float>(row));
  const HeightField field{.rows = 3, .columns = 4, .heights = heights, .corner = {-2, 1}, .step_x = 0.5};
  const Mesh mesh = triangles_of(field, {}, {});
  EXPECT_EQ(mesh.indices.size(), 2u * 3 * 2 * 3);
  EXPECT_NEAR(area_facing(mesh, normalized({-0.75, 0, 1})), 1 * 3 * 1.25, 1e-5);
}

TEST(Triangles, OfLargeHillsEveryNthNodeIsTaken) {
  std::vector<float> heights(101 * 41);
  for (size_t i = 0; i < heights.size(); ++i) heights[i] = static_cast<float>(i / 41) * 0.1F;
  const HeightField field{
      .rows = 101, .columns = 41, .heights = heights, .corner = {}, .step_x = 0.1, .step_y = 0.1};
  EXPECT_EQ(triangles_of(field, {}, {}).positions.size(), heights.size());
  const Mesh coarse = triangles_of(field, {}, {}, {.max_nodes = 26});
  EXPECT_EQ(coarse.positions.size(), 26u * 11);
  EXPECT_NEAR(area_facing(coarse, normalized({-1, 0, 1})), 10 * 4 * std::sqrt(2), 1e-4);
}

}  // namespace
}  // namespace mvsim::triangles_test
