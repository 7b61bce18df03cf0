// Several robots of which some touch things: those Box2D moves, the others move freely beside them.
#include "sim/free_room.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/measure.h"
#include "sim/worlds.h"

namespace mvsim::test::free_room_test {
namespace {

const char* const kWall =
    "<block name='wall'><static>true</static><init_pose>2 0 0</init_pose>"
    "<geometry type='box' lx='0.2' ly='8' lz='1'/></block>";

bool same_pose(const Simulation& a, const Simulation& b, size_t vehicle) {
  const Pose3 p = vehicle_pose(a, vehicle), q = vehicle_pose(b, vehicle);
  return p.x == q.x && p.y == q.y && p.yaw == q.yaw;
}

TEST(FreeRoom, OneThatLeansOnAWallLeavesTheOthersFree) {
  const auto model = model_of("<simul_timestep>0.01</simul_timestep>" + std::string(kWall) +
                              bot("leans", kPid, "<init_pose>0.5 0 0</init_pose>") +
                              bot("far", kPid, "<init_pose>-3 -3 0</init_pose>") +
                              bot("comes", kPid, "<init_pose>-8 0 0</init_pose>"));
  Simulation sim(model, 1), solved(model, 1);
  solved.set_always_solver(true);
  bool leant = false, came = false;
  for (int i = 0; i < 2500; ++i) {
    for (Simulation* s : {&sim, &solved}) {
      s->set_twist(0, 0.5, 0);
      s->set_twist(1, 0.3, 0.5);
      s->set_twist(2, 0.5, 0);
      s->step();
    }
    for (size_t v = 0; v < 3; ++v) ASSERT_TRUE(same_pose(sim, solved, v)) << "step " << i << " vehicle " << v;
    const auto& vehicles = sim.state().vehicles;
    leant = leant || vehicles[0].in_collision;
    EXPECT_TRUE(vehicles[0].by_solver || !leant) << i;
    EXPECT_FALSE(vehicles[1].by_solver) << i;
    came = came || (vehicles[2].by_solver && vehicles[2].in_collision);
  }
  EXPECT_TRUE(leant);
  EXPECT_TRUE(came);
}

TEST(FreeRoom, OneThatBacksOffMovesFreelyAgain) {
  const auto model = model_of("<simul_timestep>0.01</simul_timestep>" + std::string(kWall) +
                              bot("a", kPid, "<init_pose>1 0 0</init_pose>") +
                              bot("b", kPid, "<init_pose>1 3 0</init_pose>"));
  Simulation sim(model, 1);
  for (int i = 0; i < 400; ++i) {
    sim.set_twist(0, 0.5, 0);
    sim.set_twist(1, 0.5, 0);
    sim.step();
  }
  EXPECT_TRUE(sim.state().vehicles[0].by_solver && sim.state().vehicles[1].by_solver);
  for (int i = 0; i < 400; ++i) {
    sim.set_twist(0, -0.5, 0);
    sim.step();
  }
  EXPECT_FALSE(sim.state().vehicles[0].by_solver);
  EXPECT_TRUE(sim.state().vehicles[1].by_solver && sim.state().in_contact);
}

// Box2D separates overlapping bodies without giving them a speed.
TEST(FreeRoom, BlocksThatArePartedCountWhereTheyAreThen) {
  const std::string box =
      "<mass>20</mass><ground_friction>0</ground_friction><geometry type='box' lx='1' ly='1' "
      "lz='1'/></block>";
  const auto model = model_of("<block name='a'><init_pose>0 0 0</init_pose>" + box +
                              "<block name='b'><init_pose>0.6 0 0</init_pose>" + box +
                              bot("v", kIdeal, "<init_pose>2.4 0 180</init_pose>"));
  Simulation sim(model, 1);
  sim.step(0.01);
  const BodyState& b = sim.state().bodies[static_cast<size_t>(model->blocks[1].body)];
  EXPECT_GT(b.x, 0.65F);
  EXPECT_EQ(b.vx, 0);
  ASSERT_FALSE(sim.state().vehicles[0].by_solver);
  EXPECT_LT(sim.state().free_distances[0] + model->vehicles[0].radius + model->collision_threshold,
            distance_to_static(sim, {2.4, 0}, 5));
}

std::string crowd() {
  std::string robots;
  for (int i = 0; i < 12; ++i)
    robots += bot("r" + std::to_string(i), kIdeal,
                  "<init_pose>" + std::to_string(-3 + 2 * (i % 4)) + " " +
                      std::to_string(-2.5 + 2.5 * (i / 4)) + " 0</init_pose>");
  return R"(<simul_timestep>0.01</simul_timestep>
    <for var="i" from="0" to="3"><block name="box${i}"><mass>5</mass><init_pose>$f{-2+2*i} $f{1.3*(i%2)} 0</init_pose>
      <geometry type="box" lx="0.4" ly="0.3" lz="1"/></block></for>
    <walls><wallThickness>0.1</wallThickness><shape><pt>-5 -4</pt><pt>5 -4</pt><pt>5 -4</pt><pt>5 4</pt>
      <pt>5 4</pt><pt>-5 4</pt><pt>-5 4</pt><pt>-5 -4</pt></shape></walls>)" +
         robots;
}

// Nothing that moves freely touches anything, by the outlines alone; what is restored in between goes on
// alike.
TEST(FreeRoom, InACrowdNoContactIsMissed) {
  const auto model = model_of(crowd());
  int collisions = 0, free = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Simulation sim(model, seed), twin(model, seed);
    RandomStream random(seed, 0, StreamPurpose::kActionNoise);
    for (int i = 0; i < 600; ++i) {
      for (size_t v = 0; v < 12 && i % 25 == 0; ++v) {
        const double vx = random.uniform(-1, 3), omega = random.uniform(-4, 4);
        sim.set_twist(v, vx, omega);
        if (i > 300) twin.set_twist(v, vx, omega);
      }
      if (i == 300) twin.restore(sim.snapshot());
      sim.step();
      if (i >= 300) twin.step();
      for (size_t v = 0; v < 12; ++v) {
        const VehicleState& state = sim.state().vehicles[v];
        collisions += state.in_collision;
        free += !state.by_solver;
        ASSERT_TRUE(state.in_collision || clearance(sim, v, 0.1) > 0) << "seed " << seed << " step " << i;
        ASSERT_TRUE(i < 300 || same_pose(sim, twin, v)) << "seed " << seed << " step " << i;
      }
    }
  }
  EXPECT_GT(collisions, 1000);
  EXPECT_GT(free, 1000);
}

}  // namespace
}  // namespace mvsim::test::free_room_test
