#include "assets/read_mesh.h"

#include <gtest/gtest.h>

namespace mvsim::mesh_edges_test {
namespace {

// A square of two triangles in the plane, and one triangle more that is folded up from its right side.
Mesh folded(double height) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {2, 0, height}};
  mesh.normals.assign(5, {0, 0, 1});
  mesh.indices = {0, 1, 2, 0, 2, 3, 1, 4, 2};
  return mesh;
}

TEST(MeshEdges, DiagonalsOfFlatFacesAreNone) {
  EXPECT_EQ(sharp_edges(folded(1)).size(), 6U) << "all sides and the fold";
  EXPECT_EQ(sharp_edges(folded(0)).size(), 5U) << "flat";
}

TEST(MeshEdges, CornersAtOnePlaceAreOne) {
  Mesh mesh = folded(0);
  mesh.positions.push_back({1, 0, 0});  // as readers split corners whose texture differs
  mesh.normals.push_back({0, 0, 1});
  mesh.indices[6] = 5;
  EXPECT_EQ(sharp_edges(mesh).size(), 5U);
}

TEST(MeshEdges, EdgesComeOnceInTheOrderOfTheTriangles) {
  const auto edges = sharp_edges(folded(1));
  EXPECT_EQ(edges[0], (std::array<Vec3, 2>{Vec3{0, 0, 0}, Vec3{1, 0, 0}}));
  EXPECT_EQ(edges[1], (std::array<Vec3, 2>{Vec3{1, 0, 0}, Vec3{1, 1, 0}}));
}

TEST(MeshEdges, TrianglesWithoutAnAreaHaveNone) {
  Mesh mesh = folded(0);
  mesh.indices = {0, 1, 1, 0, 0, 0};
  EXPECT_TRUE(sharp_edges(mesh).empty());
}

}  // namespace
}  // namespace mvsim::mesh_edges_test
