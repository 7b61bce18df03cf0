#include "render/pictures/overlay.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mvsim::mark_mesh_test {
namespace {

Vec3 corner(const MarkMesh& mesh, uint32_t index) {
  const double* p = mesh.vertices()[index].position;
  return {p[0], p[1], p[2]};
}

double area_facing_up(const MarkMesh& mesh, const std::vector<uint32_t>& indices) {
  double sum = 0;
  for (size_t i = 0; i < indices.size(); i += 3) {
    const Vec3 a = corner(mesh, indices[i]);
    const Vec3 twice = cross(corner(mesh, indices[i + 1]) - a, corner(mesh, indices[i + 2]) - a);
    if (twice.z > 0.99 * norm(twice)) sum += norm(twice) / 2;
  }
  return sum;
}

TEST(MarkMesh, LinesAreNeverThinnerThanAPixel) {
  MarkMesh mesh({}, {{0.5, 0, 10}, 0.01});
  mesh.line({0, 0, 0}, {1, 0, 0}, 1e-6, {});
  EXPECT_NEAR(area_facing_up(mesh, mesh.opaque()), 0.1, 2e-3);
}

TEST(MarkMesh, FloorLinesGrowPalerInsteadOfWider) {
  const auto alpha = [](double height) {
    MarkMesh mesh({}, {{0.5, 0, height}, 0.01});
    mesh.floor_line({0, 0, 0}, {1, 0, 0}, 0.02, {{0, 0, 0, 255}});
    EXPECT_TRUE(mesh.opaque().empty());
    return mesh.vertices().at(0).color[3];
  };
  EXPECT_EQ(alpha(1.5), 254);
  EXPECT_NEAR(alpha(20), 254 * 0.1, 2);
}

TEST(MarkMesh, BallsFaceOutwards) {
  MarkMesh mesh({}, {{0, 0, 100}, 1e-9});
  mesh.ball({1, 2, 3}, 0.5, {});
  double volume = 0;
  for (size_t i = 0; i < mesh.opaque().size(); i += 3) {
    const auto at = [&](size_t k) { return corner(mesh, mesh.opaque()[i + k]); };
    volume += dot(at(0), cross(at(1), at(2))) / 6;
  }
  EXPECT_NEAR(volume, 2.53615 * 0.125, 1e-3);  // icosahedron of circumradius 0.5
}

TEST(MarkMesh, WhatIsSeenThroughIsBlended) {
  MarkMesh mesh({}, {{0, 0, 10}, 0.001});
  mesh.ring({}, 0.5, 1, {{1, 2, 3, 100}});
  EXPECT_TRUE(mesh.opaque().empty());
  EXPECT_NEAR(area_facing_up(mesh, mesh.blended()), kPi * 0.75, 0.01);
}

TEST(MarkMesh, DivergedPlacesGiveFiniteVertices) {
  MarkMesh mesh({}, {{0, 0, 10}, 0.001});
  mesh.arrow(Frame3(Pose3{NAN, INFINITY, 1e300, 0, 0, 0}), 1, {});
  mesh.ball({NAN, 0, 0}, 1, {});
  for (const GpuVertex& v : mesh.vertices())
    for (const double p : v.position) EXPECT_TRUE(std::isfinite(static_cast<float>(p)));
}

}  // namespace
}  // namespace mvsim::mark_mesh_test
