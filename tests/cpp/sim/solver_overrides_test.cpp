// Our functions of Box2D against those of the library, to the bit.
#include <box2d/b2_friction_joint.h>
#include <box2d/b2_stack_allocator.h>
#include <box2d/b2_time_of_impact.h>
#include <box2d/b2_time_step.h>
#include <box2d/box2d.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>

#include "base/math.h"
#include "base/random.h"
#include "sim/solver_bodies.h"

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

b2Sweep random_sweep(RandomStream& random, double way) {
  b2Sweep sweep;
  const auto number = [&](double most) { return static_cast<float>(random.uniform(-most, most)); };
  sweep.localCenter = {number(0.1), number(0.1)};
  sweep.c0 = {number(0.5), number(0.5)};
  sweep.a0 = number(3);
  sweep.c = sweep.c0 + b2Vec2(number(way), number(way));
  sweep.a = sweep.a0 + number(way);
  sweep.alpha0 = 0;
  return sweep;
}

// Pairs that cannot meet, of which the library is not asked, and others.
TEST(SolverOverrides, TimesOfImpactAreThoseOfTheLibrary) {
  void* const library = dlopen("libbox2d.so.2", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << "no shared library of Box2D 2 to compare with";
  using Search = void (*)(b2TOIOutput*, const b2TOIInput*);
  const auto theirs =
      reinterpret_cast<Search>(dlsym(library, "_Z14b2TimeOfImpactP11b2TOIOutputPK10b2TOIInput"));
  ASSERT_NE(theirs, nullptr);
  const Search ours = &b2TimeOfImpact;
  ASSERT_NE(ours, theirs) << "the linker took the library's";
  RandomStream random(6, 0, StreamPurpose::kSpawn);
  int separated = 0, touching = 0;
  for (int i = 0; i < 200'000; ++i) {
    const b2PolygonShape a = random_polygon(random), b = random_polygon(random);
    const double way = random.below(2) == 0 ? 0.02 : 0.4;
    b2TOIInput input;
    input.proxyA.Set(&a, 0);
    input.proxyB.Set(&b, 0);
    input.sweepA = random_sweep(random, way);
    input.sweepB = random_sweep(random, random.below(2) == 0 ? 0 : way);
    input.tMax = 1;
    b2TOIOutput expected, found;
    theirs(&expected, &input);
    ours(&found, &input);
    ASSERT_EQ(expected.state, found.state) << i;
    ASSERT_EQ(expected.t, found.t) << i;
    if (found.state == b2TOIOutput::e_separated) ++separated;
    if (found.state == b2TOIOutput::e_touching) ++touching;
  }
  EXPECT_GT(separated, 40'000);
  EXPECT_GT(touching, 5000);
}

TEST(SolverOverrides, BoundsOfAPolygonAreThoseOfTheLibrary) {
  RandomStream random(2, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 20000; ++i) {
    const b2PolygonShape theirs = random_polygon(random);
    SolverShape ours;
    static_cast<b2PolygonShape&>(ours) = theirs;
    const b2Transform pose = random_pose(random);
    b2AABB expected, found;
    theirs.ComputeAABB(&expected, pose, 0);
    ours.ComputeAABB(&found, pose, 0);
    ASSERT_EQ(std::memcmp(&expected, &found, sizeof found), 0) << i;
  }
}

TEST(SolverOverrides, AFixtureKeepsOurShape) {
  b2World world({0, 0});
  b2BodyDef def;
  SolverShape shape;
  shape.SetAsBox(1, 2);
  const b2Fixture* const fixture = world.CreateBody(&def)->CreateFixture(&shape, 1);
  EXPECT_NE(dynamic_cast<const SolverShape*>(fixture->GetShape()), nullptr);
}

// Box2D lets only classes that are derived from its own name this function.
struct FrictionAccess : b2FrictionJoint {
  static constexpr void (b2FrictionJoint::*kSolve)(const b2SolverData&) =
      &FrictionAccess::SolveVelocityConstraints;
};

TEST(SolverOverrides, FrictionOnTheGroundIsThatOfTheLibrary) {
  void* const library = dlopen("libbox2d.so.2", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << "no shared library of Box2D 2 to compare with";
  using Solve = void (*)(b2FrictionJoint*, const b2SolverData&);
  constexpr const char* kName = "_ZN15b2FrictionJoint24SolveVelocityConstraintsERK12b2SolverData";
  const auto theirs = reinterpret_cast<Solve>(dlsym(library, kName));
  ASSERT_NE(theirs, nullptr);
  ASSERT_NE(dlsym(RTLD_DEFAULT, kName), reinterpret_cast<void*>(theirs)) << "the library's own is called";
  RandomStream random(3, 0, StreamPurpose::kSpawn);
  int changed = 0;
  for (int i = 0; i < 2000; ++i) {
    b2World world({0, 0});
    b2BodyDef def;
    b2FrictionJointDef friction;
    friction.bodyA = world.CreateBody(&def);
    def.type = b2_dynamicBody;
    friction.bodyB = world.CreateBody(&def);
    const b2PolygonShape shape = random_polygon(random);
    friction.bodyB->CreateFixture(&shape, 10);
    friction.localAnchorB = {static_cast<float>(random.uniform(-1, 1)), 0.5f};
    friction.maxForce = static_cast<float>(random.uniform(0, 20));
    friction.maxTorque = random.below(3) == 0 ? static_cast<float>(random.uniform(0, 5)) : 0;
    auto& joint = *static_cast<b2FrictionJoint*>(world.CreateJoint(&friction));
    world.Step(0.01f, 1, 1);
    const auto speed = [&] {
      const float zeros[] = {0.0f, -0.0f};
      return random.below(4) == 0 ? zeros[random.below(2)] : static_cast<float>(random.uniform(-2, 2));
    };
    b2Velocity expected[2], found[2];
    for (b2Velocity& v : expected) v = {{speed(), speed()}, speed()};
    std::copy(expected, expected + 2, found);
    b2SolverData data{};
    data.step.dt = 0.01f;
    std::array<std::byte, sizeof(b2FrictionJoint)> before, after;
    std::memcpy(before.data(), static_cast<void*>(&joint), sizeof joint);
    data.velocities = expected;
    for (int k = 0; k < 3; ++k) theirs(&joint, data);
    std::memcpy(after.data(), static_cast<void*>(&joint), sizeof joint);
    std::memcpy(static_cast<void*>(&joint), before.data(), sizeof joint);
    data.velocities = found;
    for (int k = 0; k < 3; ++k) (joint.*FrictionAccess::kSolve)(data);
    ASSERT_EQ(std::memcmp(expected, found, sizeof found), 0) << i;
    ASSERT_EQ(std::memcmp(after.data(), static_cast<void*>(&joint), sizeof joint), 0) << i;
    changed += before != after ? 1 : 0;
  }
  EXPECT_GT(changed, 1500);
}

TEST(SolverOverrides, MemoryOfAStepIsNested) {
  const auto allocator = std::make_unique<b2StackAllocator>();
  auto* const first = static_cast<char*>(allocator->Allocate(60 * 1024));
  auto* const second = static_cast<char*>(allocator->Allocate(60 * 1024));  // more than is left
  std::memset(first, 1, 60 * 1024);
  std::memset(second, 2, 60 * 1024);
  auto* const third = static_cast<char*>(allocator->Allocate(16));
  EXPECT_EQ(third, first + 60 * 1024);
  allocator->Free(third);
  allocator->Free(second);
  EXPECT_EQ(first[60 * 1024 - 1], 1);
  allocator->Free(first);
  EXPECT_EQ(allocator->Allocate(16), static_cast<void*>(first));
}

}  // namespace
}  // namespace mvsim::solver_overrides_test
