// Joints: constraint errors, momentum, and a trailer against the kinematics of its tractrix.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/state_hash.h"
#include "sim/worlds.h"

namespace mvsim::test::joint_test {
namespace {

const std::string kStep = "<simul_timestep>0.005</simul_timestep>";
constexpr double kHitch = 0.6, kDrawbar = 1.2;  // m: hitch behind the truck's axle, ahead of the trailer's

// A truck at the origin and a passive trailer behind it.
std::string rig(const std::string& controller, const std::string& joint_more = "") {
  return kStep + bot("truck", controller, kOrigin) + bot("trailer", "", "<init_pose>-1.8 0 0</init_pose>") +
         R"(<joint type="revolute" body_a="truck" anchor_a="-0.6 0" body_b="trailer" anchor_b="1.2 0" )" +
         joint_more + "/>";
}

// Yaw of body b less that of body a, 0 at the start; rad, not wrapped.
double joint_angle(const SimView& sim, size_t index) {
  const JointModel& joint = sim.model.joints.at(index);
  return sim.state.bodies[joint.body_b].angle - sim.state.bodies[joint.body_a].angle - joint.initial_angle;
}

double gap(const Simulation& sim, size_t joint = 0) {
  const auto [a, b] = joint_anchors(sim, joint);
  return norm(b - a);
}

std::string slider(const std::string& name, const std::string& pose, const std::string& more = "") {
  return R"(<block name=")" + name + R"("><mass>2</mass><ground_friction>0</ground_friction>
    <linear_damping>0</linear_damping><angular_damping>0</angular_damping><init_pose>)" +
         pose + "</init_pose>" + more +
         "<shape><pt>-.1 -.1</pt><pt>-.1 .1</pt><pt>.1 .1</pt><pt>.1 -.1</pt></shape></block>";
}

const std::string kPost = R"(<block name="post"><static>true</static><init_pose>0 0 0</init_pose>
  <shape><pt>-.1 -.1</pt><pt>-.1 .1</pt><pt>.1 .1</pt><pt>.1 -.1</pt></shape></block>)";

struct Momentum {
  Vec2 linear;
  double angular = 0, energy = 0;
};

// Returns the momentum of equal blocks: squares of 2 kg and 0.2 m.
Momentum momentum(const Simulation& sim) {
  constexpr double kMass = 2, kInertia = kMass * (0.04 + 0.04) / 12;
  Momentum out;
  for (size_t i = 0; i < sim.model().blocks.size(); ++i) {
    const Pose3 p = block_pose(sim, i);
    const Twist2 t = block_world_twist(sim, i);
    out.linear = out.linear + kMass * Vec2{t.vx, t.vy};
    out.angular += kMass * cross(Vec2{p.x, p.y}, Vec2{t.vx, t.vy}) + kInertia * t.omega;
    out.energy += 0.5 * kMass * (t.vx * t.vx + t.vy * t.vy) + 0.5 * kInertia * t.omega * t.omega;
  }
  return out;
}

TEST(Joint, ATrailerInACircleTakesTheAngleOfItsTractrix) {
  for (const char* controller : {kIdeal, kPid})
    for (const double radius : {2.0, 3.0, -4.0}) {
      Simulation sim(model_of(rig(controller)), 0);
      sim.set_twist(0, 0.5, 0.5 / radius);
      sim.run(60);
      const Twist2 truck = vehicle_twist(sim, 0);
      const double r = truck.vx / truck.omega, at_hitch = std::sqrt(r * r + kHitch * kHitch);
      const double expected =
          -std::copysign(std::atan(kHitch / std::fabs(r)) + std::asin(kDrawbar / at_hitch), r);
      // the tires' one-step slip turns it by some v dt / (2 R) rad
      EXPECT_NEAR(joint_angle(sim, 0), expected, 4e-3) << controller << " " << radius;
      EXPECT_LT(gap(sim), 1e-3);
    }
}

TEST(Joint, TheHitchHoldsOverALongManoeuvre) {
  Simulation sim(model_of(rig(kPid)), 0);
  RandomStream random(7, 0, StreamPurpose::kActionNoise);
  double max = 0;
  for (int i = 0; i < 12000; ++i) {  // one minute, with brakes and sharp turns
    if (i % 200 == 0) {
      const double omega = random.uniform(-0.7, 0.7), vx = random.uniform(-0.5, 1.5);
      sim.set_twist(0, vx, omega);
    }
    sim.step();
    max = std::max(max, gap(sim));
  }
  EXPECT_LT(max, 2e-3);
  EXPECT_TRUE(is_finite(sim));
}

TEST(Joint, RefillingTheSolverEachControlPeriodKeepsTheTrailerInPlace) {
  Simulation kept(model_of(rig(kPid)), 0), refilled(kept);
  double max = 0, apart = 0;
  for (int i = 0; i < 4000; ++i) {
    if (i % 40 == 0) {
      const double omega = 0.4 * std::sin(i * 0.005);
      kept.set_twist(0, 0.8, omega);
      refilled.set_twist(0, 0.8, omega);
      refilled.refill_solver();
    }
    kept.step();
    refilled.step();
    max = std::max(max, gap(refilled));
    const Pose3 a = vehicle_pose(kept, 1), b = vehicle_pose(refilled, 1);
    apart = std::max(apart, norm(Vec2{a.x - b.x, a.y - b.y}));
  }
  EXPECT_LT(max, 2e-3);
  EXPECT_LT(apart, 5e-3);
  RecordProperty("apart_mm", std::to_string(1e3 * apart));
}

TEST(Joint, ACopyInMidDriveContinuesBitForBitAfterARefill) {
  Simulation sim(model_of(rig(kPid, R"(enable_limit="true" lower_angle_deg="-60" upper_angle_deg="60")")), 0);
  sim.set_twist(0, 0.6, 0.5);
  sim.run(3);
  sim.refill_solver();
  Simulation copy(sim);
  sim.run(3);
  copy.run(3);
  Hash a, b;
  mix_state(sim, a);
  mix_state(copy, b);
  EXPECT_EQ(a.value(), b.value());
}

TEST(Joint, LimitsStopTheJackknife) {
  Simulation sim(model_of(rig(kPid, R"(enable_limit="true" lower_angle_deg="-45" upper_angle_deg="45")")), 0);
  sim.set_twist(0, -0.4, 0.05);  // backwards: unstable
  double max = 0;
  for (int i = 0; i < 6000; ++i) {
    sim.step();
    max = std::max(max, std::fabs(joint_angle(sim, 0)));
  }
  EXPECT_GT(max, 44 * kDegree);
  EXPECT_LT(max, 47 * kDegree);

  Simulation free(model_of(rig(kPid)), 0);
  free.set_twist(0, -0.4, 0.05);
  free.run(30);
  EXPECT_GT(std::fabs(joint_angle(free, 0)), 80 * kDegree);
}

TEST(Joint, AnglesAreMeasuredFromTheStart) {
  const std::string joint = R"(<joint type="pin" body_a="a" anchor_a="0 0" body_b="b" anchor_b="0 0"
    enable_limit="1" lower_angle_deg="-10" upper_angle_deg="20"/>)";
  Simulation sim(
      model_of(slider("a", "0 0 350") + slider("b", "0 0 30", "<init_vel>0 0 90</init_vel>") + joint), 0);
  EXPECT_NEAR(joint_angle(sim, 0), 0, 1e-6);
  double max = 0;
  for (int i = 0; i < 1000; ++i) {
    sim.step();
    max = std::max(max, joint_angle(sim, 0));
  }
  EXPECT_NEAR(max, 20 * kDegree, 2 * kDegree);
}

TEST(Joint, MomentumIsKeptAndEnergyDoesNotGrow) {
  Simulation sim(
      model_of("<simul_timestep>0.001</simul_timestep>" +
               slider("a", "0 0 0", "<init_vel>0.5 1 200</init_vel>") + slider("b", "0.5 0 0") +
               slider("c", "1 0 0", "<init_vel>0 -1 0</init_vel>") +
               R"(<joint type="revolute" body_a="a" anchor_a="0.25 0" body_b="b" anchor_b="-0.25 0"/>
                  <joint type="revolute" body_a="b" anchor_a="0.25 0" body_b="c" anchor_b="-0.25 0"/>)"),
      0);
  const Momentum before = momentum(sim);
  double energy = before.energy;
  for (int i = 0; i < 10000; ++i) {
    sim.step();
    const Momentum now = momentum(sim);
    EXPECT_LT(now.energy, energy + 2e-3) << i;
    energy = std::min(energy, now.energy);
    EXPECT_LT(gap(sim, 0) + gap(sim, 1), 5e-3);
  }
  const Momentum after = momentum(sim);
  EXPECT_NEAR(after.linear.x, before.linear.x, 1e-4);
  EXPECT_NEAR(after.linear.y, before.linear.y, 1e-4);
  EXPECT_NEAR(after.angular, before.angular, 0.02 * std::fabs(before.angular));
}

TEST(Joint, ARopeLetsBodiesApproachAndNeverSeparate) {
  Simulation sim(model_of(kStep + kPost + slider("ball", "1.5 0 0", "<init_vel>-0.5 0.8 0</init_vel>") +
                          R"(<joint type="rope" body_a="post" anchor_a="0 0" body_b="ball" anchor_b="0 0"
                             max_length="2"/>)"),
                 0);
  double min = 10, max = 0;
  bool straight = true;  // until the rope is taut
  for (int i = 0; i < 4000; ++i) {
    sim.step();
    const double d = gap(sim);
    min = std::min(min, d);
    max = std::max(max, d);
    if (straight && max < 1.99) straight = std::fabs(block_world_twist(sim, 1).vx + 0.5) < 1e-5;
  }
  EXPECT_TRUE(straight);
  EXPECT_LT(min, 1.3);
  EXPECT_GT(max, 1.999);
  EXPECT_LT(max, 2.008);
}

TEST(Joint, ASpringSwingsWithItsPeriod) {
  // its rest is max_length; pushed together it comes back there after a quarter of 2 pi sqrt(m/k)
  Simulation sim(model_of("<simul_timestep>0.001</simul_timestep>" + kPost + slider("ball", "0.8 0 0") +
                          R"(<joint type="distance" body_a="post" anchor_a="0 0" body_b="ball" anchor_b="0 0"
                             max_length="1" stiffness="50"/>)"),
                 0);
  double fastest = 0;
  while (gap(sim) < 0.999 && sim.state().time < 2) {
    sim.step();
    fastest = std::max(fastest, block_world_twist(sim, 1).vx);
  }
  EXPECT_NEAR(sim.state().time, kPi / 2 * std::sqrt(2.0 / 50), 0.01);
  EXPECT_NEAR(fastest, 0.2 * std::sqrt(50 / 2.0), 0.01);
}

TEST(Joint, JoinedBodiesDoNotCollide) {
  // the trailer's nose lies inside the truck
  const std::string close =
      kStep + bot("truck", kPid, kOrigin) + bot("trailer", "", "<init_pose>-0.6 0 0</init_pose>") +
      R"(<joint type="pin" body_a="truck" anchor_a="-0.3 0" body_b="trailer" anchor_b="0.3 0"/>)";
  Simulation sim(model_of(close), 0);
  sim.set_twist(0, 0.5, 0);
  sim.run(4);
  EXPECT_FALSE(sim.state().vehicles[0].contacts || sim.state().vehicles[1].contacts);
  EXPECT_GT(vehicle_pose(sim, 1).x, 0.8);
}

TEST(Joint, ATrailerHitsWallsAndStopsTheTruck) {
  Simulation sim(model_of(R"(<block name="wall"><static>true</static><init_pose>-4 0 0</init_pose>
    <shape><pt>0 -2</pt><pt>0 2</pt><pt>.2 2</pt><pt>.2 -2</pt></shape></block>)" +
                          rig(kPid)),
                 0);
  sim.set_twist(0, -0.5, 0);
  sim.run(6);
  EXPECT_TRUE(sim.state().vehicles[1].in_collision);
  EXPECT_FALSE(sim.state().vehicles[0].contacts);
  EXPECT_TRUE(had_collision(sim, 0));  // the rig
  EXPECT_GT(vehicle_pose(sim, 1).x, -4 + 0.2 + 0.38);
}

TEST(Joint, APlacedTruckBringsItsTrailer) {
  Simulation sim(model_of(rig(kIdeal)), 0);
  sim.set_twist(0, 0.5, 0.3);
  sim.run(5);
  sim.place_vehicle(0, {5, 6, 2});
  EXPECT_LT(gap(sim), 1e-5);
  EXPECT_NEAR(joint_angle(sim, 0), 0, 1e-6);
  EXPECT_EQ(vehicle_twist(sim, 1).vx, 0);
  sim.set_twist(0, 0, 0);
  sim.run(1);
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 5, 1e-3);

  Simulation tied(model_of(kPost + bot("r", kIdeal, "<init_pose>1 0 0</init_pose>") +
                           R"(<joint type="rope" body_a="post" anchor_a="0 0" body_b="r" anchor_b="0 0"/>)"),
                  0);
  EXPECT_THROW(tied.place_vehicle(0, {}), Error);
}

TEST(Joint, ClearanceIsThatOfTheWholeRig) {
  // 0.75 m behind the trailer's tail, and the trailer is no obstacle to its truck
  const auto model = model_of(R"(<block name="wall"><static>true</static><init_pose>-3.15 0 0</init_pose>
    <shape><pt>0 -2</pt><pt>0 2</pt><pt>.2 2</pt><pt>.2 -2</pt></shape></block>)" +
                              rig(kIdeal));
  Simulation sim(model, 0);
  EXPECT_NEAR(clearance(sim, 0, 10), -1.8 - 0.4 - (-3.15 + 0.2), 1e-5);
  EXPECT_NEAR(distance_to_obstacles(sim, {-1.8, 0}, 10, 0), 1.15, 1e-5);
}

TEST(Joint, ModelKnowsWhatHangsTogether) {
  const auto model = model_of(kPost + slider("a", "0.5 0 0") + slider("b", "1 0 0") +
                              slider("free", "3 0 0") + bot("t", "", "<init_pose>1.5 0 0</init_pose>") +
                              R"(<joint type="rope" body_a="t" anchor_a="0.1 0.2" body_b="b" anchor_b="0 0"/>
         <joint type="rope" body_a="t" anchor_a="0.3 0" body_b="a" anchor_b="0 0"/>
         <joint type="rope" body_a="a" anchor_a="0 0" body_b="post" anchor_b="0 0"/>)");
  ASSERT_EQ(model->joint_groups.size(), 1u);
  EXPECT_EQ(model->joint_groups[0].bodies, (std::vector<size_t>{1, 2, 4}));
  EXPECT_TRUE(model->joint_groups[0].tied);
  EXPECT_EQ(model->bodies[3].joint_group, -1);
  EXPECT_EQ(model->vehicles[0].first_joint_anchor->y, 0.2);
}

TEST(Joint, SaysWhatDoesNotFit) {
  const auto warnings = [](const std::string& world) {
    std::string all;
    const auto model = model_of(world);
    for (const std::string& w : model->warnings) all += w + "\n";
    return all;
  };
  const std::string two = slider("a", "0 0 0") + slider("b", "1 0 0");
  EXPECT_EQ(warnings(two), "");
  EXPECT_NE(warnings(two + R"(<joint type="pin" body_a="a" anchor_a="0 0" body_b="b" anchor_b="0 0"/>)")
                .find("<joint>: its anchors are 1 m apart at the start, expected the same point"),
            std::string::npos);
  EXPECT_NE(warnings(two + R"(<joint type="rope" body_a="a" anchor_a="0 0" body_b="b" anchor_b="0 0"
                              max_length="0.5"/>)")
                .find("apart at the start, expected 0 m to 0.5 m"),
            std::string::npos);
  EXPECT_NE(warnings(two + R"(<joint type="pin" body_a="a" anchor_a=".5 0" body_b="b" anchor_b="-.5 0"
                              enable_limit="1" lower_angle_deg="5" upper_angle_deg="9"/>)")
                .find("the limits leave out the angle at the start"),
            std::string::npos);
  EXPECT_THROW(model_of(kPost + R"(<block name="wall"><static>1</static><init_pose>0 3 0</init_pose></block>
    <joint type="rope" body_a="post" anchor_a="0 0" body_b="wall" anchor_b="0 0"/>)"),
               WorldFileError);
  EXPECT_THROW(model_of(two + R"(<joint type="rope" body_a="a" anchor_a="0 0" body_b="b" anchor_b="0 0"/>)",
                        {.placed_blocks = {"b"}}),
               WorldFileError);
}

TEST(Joint, GoldenHash) {
  Simulation sim(model_of(rig(kPid, R"(enable_limit="true" lower_angle_deg="-60" upper_angle_deg="60")") +
                          slider("crate", "-3 0 0") +
                          R"(<joint type="rope" body_a="trailer" anchor_a="-0.4 0" body_b="crate"
                             anchor_b="0.1 0" max_length="0.9" min_length="0.2" stiffness="30" damping="2"/>)"),
                 12345);
  RandomStream random(99, 0, StreamPurpose::kActionNoise);
  Hash hash;
  for (int i = 0; i < 2000; ++i) {
    if (i % 100 == 0) {  // drawn one after the other: compilers evaluate arguments in different orders
      const double omega = random.uniform(-0.8, 0.8), vx = random.uniform(-0.4, 1);
      sim.set_twist(0, vx, omega);
    }
    if (i % 40 == 0) sim.refill_solver();
    sim.step();
    mix_state(sim, hash);
  }
  EXPECT_EQ(hash.value(), 0x18759734b1fcc94fu) << std::hex << hash.value();
}

}  // namespace
}  // namespace mvsim::test::joint_test
