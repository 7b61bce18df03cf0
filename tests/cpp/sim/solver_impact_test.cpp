// Where nothing can be met, Box2D without its search for the time of impact moves as with it, to the bit.
#include "sim/solver_passage.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "base/random.h"

namespace mvsim::solver_impact_test {
namespace {

constexpr float kSkin = 0.0025f;

b2Body& add_box(b2World& world, b2BodyType type, b2Vec2 at, float yaw, float half_x, float half_y) {
  b2BodyDef def;
  def.type = type;
  def.position = at;
  def.angle = yaw;
  b2Body& body = *world.CreateBody(&def);
  b2PolygonShape shape;
  shape.SetAsBox(half_x, half_y);
  shape.m_radius = kSkin;
  body.CreateFixture(&shape, 5);
  return body;
}

// A car among walls, and another one that also drives.
struct Scene {
  explicit Scene(RandomStream random) : world({0, 0}) {
    for (int i = 0; i < 12; ++i) {
      const auto angle = static_cast<float>(i * kPi / 6);
      const auto far = static_cast<float>(random.uniform(1.0, 2.0));
      add_box(world, b2_staticBody, {far * std::cos(angle), far * std::sin(angle)}, angle, 0.05f, 0.5f);
    }
    for (const float y : {-0.3f, 0.3f})
      cars.push_back({.body = &add_box(world, b2_dynamicBody, {0, y}, 0, 0.25f, 0.14f), .radius = 0.3f});
  }

  b2World world;
  std::vector<MovingBody> cars;
};

TEST(SolverImpact, WhereNothingIsMetTheSearchChangesNoBit) {
  int alone = 0, met = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, 0, StreamPurpose::kSpawn);
    Scene with(random), without(random);
    const auto some = [&](double max) { return static_cast<float>(random.uniform(-max, max)); };
    for (int step = 0; step < 150; ++step) {
      const double dt = 0.01;
      std::vector<std::optional<BodyForce>> forces;
      for (size_t i = 0; i < with.cars.size(); ++i) {
        const BodyForce force{some(40), some(40), some(2)};
        forces.emplace_back(force);
        for (const Scene* scene : {&with, &without}) {
          b2Body& body = *scene->cars[i].body;
          body.ApplyForceToCenter({force.x, force.y}, true);
          body.ApplyTorque(force.torque, true);
        }
      }
      const bool nothing = nothing_meets(without.world, without.cars, forces, dt);
      ++(nothing ? alone : met);
      without.world.SetContinuousPhysics(!nothing);
      with.world.Step(static_cast<float>(dt), 8, 3);
      without.world.Step(static_cast<float>(dt), 8, 3);
      for (size_t i = 0; i < with.cars.size(); ++i) {
        const b2Body &a = *with.cars[i].body, &b = *without.cars[i].body;
        const float x[] = {a.GetPosition().x, a.GetPosition().y, a.GetAngle(), a.GetLinearVelocity().x,
                           a.GetAngularVelocity()};
        const float y[] = {b.GetPosition().x, b.GetPosition().y, b.GetAngle(), b.GetLinearVelocity().x,
                           b.GetAngularVelocity()};
        for (int k = 0; k < 5; ++k)
          ASSERT_EQ(std::bit_cast<uint32_t>(x[k]), std::bit_cast<uint32_t>(y[k])) << seed << " step " << step;
      }
    }
  }
  EXPECT_GT(alone, 50);
  EXPECT_GT(met, 200);
}

TEST(SolverImpact, SpeedDecidesHowFarIsFarEnough) {
  b2World world({0, 0});
  add_box(world, b2_staticBody, {1, 0}, 0, 0.1f, 2);
  const MovingBody car{.body = &add_box(world, b2_dynamicBody, {0.6f, 0}, 0, 0.25f, 0.1f), .radius = 0.27f};
  world.Step(1e-6f, 1, 1);  // makes pairs; 5 cm lie between them
  const std::optional<BodyForce> none;
  const auto is_alone = [&](float speed) {
    car.body->SetLinearVelocity({speed, 0});
    return nothing_meets(world, {&car, 1}, {&none, 1}, 0.01);
  };
  EXPECT_TRUE(is_alone(0));
  EXPECT_TRUE(is_alone(3));
  EXPECT_FALSE(is_alone(4)) << "4 cm and what shapes may come nearer";
  EXPECT_FALSE(is_alone(20)) << "farther than pairs are made of";
}

}  // namespace
}  // namespace mvsim::solver_impact_test
