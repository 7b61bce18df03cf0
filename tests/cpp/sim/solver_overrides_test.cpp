// Our b2CollidePolygons against that of the library, to the bit.
#include <box2d/box2d.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/math.h"
#include "base/random.h"

namespace mvsim::solver_overrides_test {
namespace {

using Collide = void (*)(b2Manifold*, const b2PolygonShape*, const b2Transform&, const b2PolygonShape*,
                         const b2Transform&);

b2PolygonShape random_polygon(RandomStream& random) {
  b2PolygonShape shape;
  if (random.below(2) == 0) {
    shape.SetAsBox(static_cast<float>(random.uniform(0.02, 0.3)),
                   static_cast<float>(random.uniform(0.02, 0.3)));
  } else {
    const auto count = static_cast<int>(3 + random.below(6));
    b2Vec2 points[8];
    for (int i = 0; i < count; ++i) {
      const SinCos at = sin_cos(2 * kPi * (i + random.uniform(0, 0.8)) / count);
      points[i] = {static_cast<float>(0.2 * at.cos), static_cast<float>(0.2 * at.sin)};
    }
    shape.Set(points, count);
  }
  shape.m_radius = random.below(2) == 0 ? 0.0025f : 0.01f;
  return shape;
}

b2Transform random_pose(RandomStream& random) {
  b2Transform pose;
  const double yaw = random.below(4) == 0 ? kPi / 2 * random.below(4) : random.uniform(-3, 3);
  pose.Set({static_cast<float>(random.uniform(-0.3, 0.3)), static_cast<float>(random.uniform(-0.3, 0.3))},
           static_cast<float>(yaw));
  return pose;
}

TEST(SolverOverrides, PolygonsCollideAsInTheLibrary) {
  void* const library = dlopen("libbox2d.so.2", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << "no shared library of Box2D 2 to compare with";
  const auto theirs = reinterpret_cast<Collide>(
      dlsym(library, "_Z17b2CollidePolygonsP10b2ManifoldPK14b2PolygonShapeRK11b2TransformS3_S6_"));
  ASSERT_NE(theirs, nullptr);
  const Collide ours = &b2CollidePolygons;
  ASSERT_NE(ours, theirs) << "the linker took the library's";
  RandomStream random(1, 0, StreamPurpose::kSpawn);
  int touching = 0, apart = 0;
  for (int i = 0; i < 20000; ++i) {
    const b2PolygonShape a = random_polygon(random), b = random_polygon(random);
    const b2Transform pose_a = random_pose(random), pose_b = random_pose(random);
    b2Manifold expected{}, found{};
    std::memset(static_cast<void*>(&expected), 0, sizeof expected);  // padding too
    std::memset(static_cast<void*>(&found), 0, sizeof found);
    theirs(&expected, &a, pose_a, &b, pose_b);
    ours(&found, &a, pose_a, &b, pose_b);
    ASSERT_EQ(std::memcmp(&expected, &found, sizeof found), 0) << i;
    ++(found.pointCount > 0 ? touching : apart);
  }
  EXPECT_GT(touching, 5000);
  EXPECT_GT(apart, 2000);
}

}  // namespace
}  // namespace mvsim::solver_overrides_test
