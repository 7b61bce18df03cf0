// Static surroundings in Box2D: it holds only those that may be met, and gives the same bits as with all of
// them.
#include "sim/solver_surroundings.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/worlds.h"

namespace mvsim::test::solver_surroundings_test {
namespace {

std::string box(const std::string& name, double x, double y) {
  return "<block name='" + name + "'><static>true</static><init_pose>" + std::to_string(x) + " " +
         std::to_string(y) + " 0</init_pose><geometry type='box' lx='0.6' ly='0.6' lz='1'/></block>";
}

// Two robots in a corner of boxes, and whatever else stands.
std::string corner(const std::string& others) {
  return "<simul_timestep>0.01</simul_timestep>" + others + box("a", 2, 0) + box("b", 2, 0.6) +
         box("c", 1.4, 1.2) + box("d", 0.8, 1.2) + bot("r1", kPid, "<init_pose>1 0.2 30</init_pose>") +
         bot("r2", kPid, "<init_pose>0.2 0.3 10</init_pose>");
}

std::string crowd() {
  std::string blocks;
  for (int i = 0; i < 60; ++i) blocks += box("far" + std::to_string(i), -40 + i, i % 2 ? 25 : -25);
  return blocks;
}

void push(Simulation& sim, int step) {
  sim.set_twist(0, 0.6, step % 200 < 100 ? 0.7 : -0.5);
  sim.set_twist(1, 0.6, step % 150 < 70 ? -0.4 : 0.3);
  sim.step();
}

void expect_same(const Simulation& a, const Simulation& b, int step) {
  for (size_t v = 0; v < 2; ++v) {
    const Pose3 p = vehicle_pose(a, v), q = vehicle_pose(b, v);
    ASSERT_TRUE(p.x == q.x && p.y == q.y && p.yaw == q.yaw) << "step " << step << " vehicle " << v;
  }
}

TEST(SolverSurroundings, WhatStandsFarAwayChangesNoBitOfAContact) {
  Simulation alone(model_of(corner("")), 1), among(model_of(corner(crowd())), 1);
  bool touched = false;
  for (int i = 0; i < 1500; ++i) {
    push(alone, i);
    push(among, i);
    expect_same(alone, among, i);
    touched = touched || alone.state().vehicles[0].in_collision;
  }
  EXPECT_TRUE(touched);
}

TEST(SolverSurroundings, FilledAgainItGoesOnAsOneThatIsNew) {
  Simulation sim(model_of(corner(crowd())), 1);
  for (int i = 0; i < 1500; ++i) {
    if (i % 10 == 0) {
      sim.refill_solver();
      Simulation fresh(sim);  // its solver is made of the state
      for (int k = i; k < i + 10; ++k) {
        push(sim, k);
        push(fresh, k);
        expect_same(sim, fresh, k);
      }
      i += 9;
    }
  }
}

TEST(SolverSurroundings, ABlockIsThereToBeHitHoweverFastOneComes) {
  const std::string fast = "<init_pose>-60 0 0</init_pose><init_vel>45 0 0</init_vel>";
  Simulation sim(model_of("<simul_timestep>0.05</simul_timestep>" + box("far", 30, 30) + box("wall", 0, 0) +
                          bot("r", kPid, fast)),
                 1);
  sim.set_always_solver(true);
  bool touched = false;
  for (int i = 0; i < 200; ++i) {
    sim.step();
    touched = touched || sim.state().vehicles[0].in_collision;
    ASSERT_LT(vehicle_pose(sim, 0).x, 0) << i;
  }
  EXPECT_TRUE(touched);
}

}  // namespace
}  // namespace mvsim::test::solver_surroundings_test
