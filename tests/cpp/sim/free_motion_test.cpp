// Box2D is the oracle of free motion: the same bits over many steps where nothing is touched, and the same
// collisions in the same step where something is.
#include "sim/move.h"

#include <box2d/box2d.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"
#include "sim/worlds.h"

namespace mvsim::test::free_motion_test {
namespace {

uint32_t bits(float v) {
  return std::bit_cast<uint32_t>(v);
}

TEST(FreeMotion, ThousandBodiesMoveAsBox2DMovesThem) {
  RandomStream random(17, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 1000; ++i) {
    b2World world(b2Vec2(0, 0));
    b2BodyDef def;
    def.type = b2_dynamicBody;
    def.position.Set(static_cast<float>(random.uniform(-50, 50)),
                     static_cast<float>(random.uniform(-50, 50)));
    def.angle = static_cast<float>(random.uniform(-4, 4));
    def.allowSleep = false;
    b2Body* body = world.CreateBody(&def);
    b2MassData mass;
    mass.mass = static_cast<float>(random.uniform(0.1, 100));
    mass.center.Set(static_cast<float>(random.uniform(-0.3, 0.3)),
                    static_cast<float>(random.uniform(-0.3, 0.3)));
    mass.I = mass.mass * (b2Dot(mass.center, mass.center) + static_cast<float>(random.uniform(0.01, 1)));
    body->SetMassData(&mass);
    body->SetLinearDamping(static_cast<float>(random.uniform(0, 2)));
    body->SetAngularDamping(static_cast<float>(random.uniform(0, 2)));
    body->SetLinearVelocity(
        {static_cast<float>(random.uniform(-5, 5)), static_cast<float>(random.uniform(-5, 5))});
    body->SetAngularVelocity(static_cast<float>(random.uniform(-9, 9)));

    BodyInertia inertia{.inverse_mass = 1.0f / mass.mass,
                        .inverse_inertia = 1.0f / (mass.I - mass.mass * b2Dot(mass.center, mass.center)),
                        .center_x = mass.center.x,
                        .center_y = mass.center.y,
                        .linear_damping = body->GetLinearDamping(),
                        .angular_damping = body->GetAngularDamping()};
    BodyState state = place_body({def.position.x, def.position.y, def.angle});
    state.vx = body->GetLinearVelocity().x;
    state.vy = body->GetLinearVelocity().y;
    state.omega = body->GetAngularVelocity();

    RotationMemo yaw;
    const double dt = random.uniform(1e-3, 5e-2);
    for (int step = 0; step < 200; ++step) {
      // now and then so strong that the solver's speed limits act
      const double strength = step % 50 == 49 ? 1e6 : 30;
      const auto some = [&] { return static_cast<float>(random.uniform(-strength, strength)); };
      const BodyForce force{some(), some(), some()};
      body->ApplyForceToCenter({force.x, force.y}, true);
      body->ApplyTorque(force.torque, true);
      world.Step(static_cast<float>(dt), 8, 3);
      integrate_free(state, inertia, force, dt, yaw);
      ASSERT_EQ(bits(state.vx), bits(body->GetLinearVelocity().x)) << "body " << i << " step " << step;
      ASSERT_EQ(bits(state.vy), bits(body->GetLinearVelocity().y));
      ASSERT_EQ(bits(state.omega), bits(body->GetAngularVelocity()));
      // Box2D loses the last digits of single precision in each step
      const double lost = 1e-5 * (step + 1);
      ASSERT_NEAR(state.x, body->GetPosition().x, lost);
      ASSERT_NEAR(state.y, body->GetPosition().y, lost);
      ASSERT_NEAR(state.angle, body->GetAngle(), lost);
    }
  }
}

void drive_at_random(Simulation& sim, RandomStream& random, int step) {
  if (step % 25 != 0) return;
  for (size_t v = 0; v < sim.model().vehicles.size(); ++v) {
    const double omega = random.uniform(-2, 2), vx = random.uniform(-0.5, 1.5);
    sim.set_twist(v, vx, omega);
  }
}

TEST(FreeMotion, AVehicleInTheOpenKeepsBox2DsBits) {
  const auto model = model_of("<simul_timestep>0.01</simul_timestep>" + bot("r", kPid, kOrigin, ""));
  Simulation with(model, 1), without(model, 1);
  with.set_always_solver(true);
  RandomStream a(3, 0, StreamPurpose::kActionNoise), b = a;
  for (int i = 0; i < 10000; ++i) {
    drive_at_random(with, a, i);
    drive_at_random(without, b, i);
    with.step();
    without.step();
    ASSERT_EQ(vehicle_pose(with, 0).x, vehicle_pose(without, 0).x) << i;
    ASSERT_EQ(vehicle_pose(with, 0).yaw, vehicle_pose(without, 0).yaw) << i;
  }
}

// Posts, thin walls and a second robot: fast, thin and turning bodies must not slip through.
std::string obstacle_course() {
  return R"(<simul_timestep>0.01</simul_timestep>
    <for var="i" from="0" to="5"><block name="post${i}"><static>true</static>
      <init_pose>$f{-4+1.6*i} $f{2*(i%2)-1} 0</init_pose>
      <geometry type="cylinder" radius="0.05" length="1" vertex_count="6"/></block></for>
    <walls><wallThickness>0.02</wallThickness><shape><pt>-5 -3</pt><pt>5 -3</pt><pt>5 -3</pt><pt>5 3</pt>
      <pt>5 3</pt><pt>-5 3</pt><pt>-5 3</pt><pt>-5 -3</pt></shape></walls>)" +
         bot("a", kIdeal, "<init_pose>-3 0 0</init_pose>") +
         bot("b", kIdeal, "<init_pose>3 0 170</init_pose>");
}

TEST(FreeMotion, NoContactIsMissed) {
  const auto model = model_of(obstacle_course());
  int collisions = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Simulation with(model, seed), without(model, seed);
    with.set_always_solver(true);
    RandomStream random(seed, 0, StreamPurpose::kActionNoise);
    // until the first contact both must agree: what follows a contact is chaotic
    for (int i = 0; i < 1500; ++i) {
      if (i % 25 == 0)
        for (size_t v = 0; v < 2; ++v) {
          const double vx = random.uniform(-2, 6), omega = random.uniform(-6, 6);
          with.set_twist(v, vx, omega);
          without.set_twist(v, vx, omega);
        }
      with.step();
      without.step();
      bool touched = false;
      for (size_t v = 0; v < 2; ++v) {
        ASSERT_EQ(with.state().vehicles[v].in_collision, without.state().vehicles[v].in_collision)
            << "seed " << seed << " step " << i;
        ASSERT_NEAR(vehicle_pose(with, v).x, vehicle_pose(without, v).x, 1e-6 * (i + 1));
        touched = touched || with.state().vehicles[v].in_collision;
      }
      if (!touched) continue;
      ++collisions;
      break;
    }
  }
  EXPECT_GT(collisions, 40);
}

TEST(FreeMotion, ACopyContinuesBitForBitInTheOpenAndInContact) {
  const auto model = model_of(obstacle_course());
  int contacts = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Simulation sim(model, seed);
    RandomStream random(seed, 0, StreamPurpose::kActionNoise);
    for (int i = 0; i < 400 + static_cast<int>(seed) * 7; ++i) {
      drive_at_random(sim, random, i);
      sim.step();
    }
    sim.refill_solver();
    contacts += sim.state().vehicles[0].in_collision || sim.state().vehicles[1].in_collision;
    Simulation copy = sim;
    RandomStream again = random;
    for (int i = 0; i < 300; ++i) {
      drive_at_random(sim, random, i);
      drive_at_random(copy, again, i);
      sim.step();
      copy.step();
      ASSERT_EQ(vehicle_pose(sim, 0).x, vehicle_pose(copy, 0).x) << "seed " << seed << " step " << i;
      ASSERT_EQ(vehicle_pose(sim, 1).yaw, vehicle_pose(copy, 1).yaw) << "seed " << seed << " step " << i;
    }
  }
  EXPECT_GT(contacts, 2);
}

}  // namespace
}  // namespace mvsim::test::free_motion_test
