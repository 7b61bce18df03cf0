// A vehicle near things that it does not touch moves as it does in Box2D's hands, and so does it after a
// touch.
#include "sim/apart_steps.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "sim/state_hash.h"
#include "sim/worlds.h"

namespace fs = std::filesystem;

namespace mvsim::test::apart_steps_test {
namespace {

// With something else that moves, all steps near things are made by Box2D at once. This can be touched by
// nothing.
const std::string kMoving =
    "<block name='far'><intangible>true</intangible><init_pose>200 200 0</init_pose>"
    "<animation type='keyframes'><time_pose>0 200 200 0</time_pose><time_pose>9 201 200 "
    "0</time_pose></animation>"
    "<geometry type='box' lx='1' ly='1' lz='1'/></block>";

const std::string kStep = "<simul_timestep>0.01</simul_timestep>";

const char* const kSoftPid =
    "<controller class='twist_pid'><KP>1</KP><KI>4</KI><max_torque>5</max_torque></controller>";

std::string block(const std::string& name, double x, double y, const std::string& geometry) {
  return "<block name='" + name + "'><static>true</static><init_pose>" + std::to_string(x) + " " +
         std::to_string(y) + " 0</init_pose><geometry " + geometry + "/></block>";
}

// Walls and posts about the start; they begin `half` m from it at most.
std::string yard(double half = 2.5) {
  const std::string side = std::to_string(2 * half),
                    post = "type='cylinder' radius='0.1' length='1' vertex_count='6'";
  const std::string along_x = "type='box' lx='" + side + "' ly='0.1' lz='1'",
                    along_y = "type='box' lx='0.1' ly='" + side + "' lz='1'";
  return block("north", 0, half, along_x) + block("south", 0, -half, along_x) +
         block("east", half, 0, along_y) + block("west", -half, 0, along_y) +
         block("a", 0.5 * half, 0.2 * half, post) + block("b", -0.45 * half, 0.35 * half, post) +
         block("c", 0.1 * half, -0.5 * half, post) + block("d", -0.55 * half, -0.3 * half, post);
}

// A grid of free cells of 0.1 m with a border and some single cells, 5 m x 5 m about the start.
class Map : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("apart_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    std::ofstream image(folder_ / "map.pgm");
    constexpr int kSide = 50;
    image << "P2 " << kSide << " " << kSide << " 255\n";
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const bool border = x == 0 || y == 0 || x == kSide - 1 || y == kSide - 1;
        const bool inner = x % 13 == 6 && y % 12 == 5 && (x - 25) * (x - 25) + (y - 25) * (y - 25) > 50;
        image << (border || inner ? "0 " : "255 ");
      }
    std::ofstream(folder_ / "map.yaml")
        << "image: map.pgm\nresolution: 0.1\norigin: [-2.5, -2.5, 0]\nnegate: "
           "0\noccupied_thresh: 0.65\nfree_thresh: 0.2\n";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::shared_ptr<const Model> world(const std::string& vehicle) const {
    WorldLoadOptions load;
    load.roots = {folder_};
    return compile_world(
        load_world_text("<mvsim_world>" + kStep +
                            "<element class='occupancy_grid'><file>map.yaml</file></element>" + vehicle +
                            "</mvsim_world>",
                        folder_, load),
        {});
  }

  fs::path folder_;
};

uint64_t hash_of(const Simulation& sim) {
  Hash hash;
  const BodyState& b = sim.state().bodies[sim.model().vehicles[0].body];
  for (const double x : {b.x, b.y, b.angle, double{b.vx}, double{b.vy}, double{b.omega}}) hash.mix(x);
  const VehicleState& v = sim.state().vehicles[0];
  for (const double x : {v.rounded.x, v.rounded.y, v.rounded.angle}) hash.mix(x);
  hash.mix(v.contacts);
  hash.mix(v.in_collision);
  hash.mix(v.by_solver);
  for (const WheelState& w : wheel_states(sim, 0)) hash.mix(w.spin);
  return hash.value();
}

// Random drives, now and then from another place, most of the time with the solver filled anew as in a batch.
void expect_same_drive(const std::shared_ptr<const Model>& model, const std::shared_ptr<const Model>& other,
                       double fastest) {
  ASSERT_TRUE(ApartSteps::are_possible(*model));
  ASSERT_FALSE(ApartSteps::are_possible(*other));
  Simulation sim(model, 0), solved(other, 0);
  RandomStream random(3, 0, StreamPurpose::kActionNoise);
  int touched = 0, near = 0, left = 0;
  for (int i = 0; i < 20'000; ++i) {
    const bool was_held = sim.state().vehicles[0].by_solver;
    if (i % 500 == 0) {
      const Pose2 pose{random.uniform(-0.6, 0.6), random.uniform(-0.6, 0.6), random.uniform(-kPi, kPi)};
      for (Simulation* s : {&sim, &solved}) s->place_vehicle(0, pose);
    }
    if (i % 10 == 0 && i / 1000 % 3 != 2)
      for (Simulation* s : {&sim, &solved}) s->refill_solver();
    if (i % 125 == 0) {
      const bool stops = random.uniform(0, 1) < 0.2;
      const double first = stops ? 0 : random.uniform(-fastest, fastest), second = random.uniform(-0.5, 0.5);
      for (Simulation* s : {&sim, &solved}) s->set_command(0, std::vector<double>{first, second});
    }
    sim.step();
    solved.step();
    ASSERT_EQ(hash_of(sim), hash_of(solved)) << "step " << i;
    const VehicleState& v = sim.state().vehicles[0];
    if (v.in_collision) ++touched;
    if (v.by_solver && !v.in_collision) ++near;
    if (was_held && !v.by_solver) ++left;
  }
  EXPECT_GT(touched, 500);
  EXPECT_GT(near, 500);
  EXPECT_GT(left, 10);
}

TEST(ApartSteps, LeaveAllBitsOfADriveAmongPosts) {
  const auto same = [](const std::string& vehicle, double fastest) {
    const std::string world = kStep + yard() + vehicle;
    expect_same_drive(model_of(world), model_of(world + kMoving), fastest);
  };
  same(bot("r", kPid, kOrigin), 1.2);
  same(bot("r", kIdeal, kOrigin), 1.2);
  same(four_wheels(kSoftPid, kOrigin, 0.6, "ellipse"), 1.2);
}

TEST(ApartSteps, LeaveAllBitsOfADriveOfASteeredCar) {
  const std::string world =
      kStep + yard(7) +
      car("ackermann", "<controller class='twist_front_steer_pid'><KP>200</KP></controller>");
  expect_same_drive(model_of(world), model_of(world + kMoving), 2);
}

TEST_F(Map, LeavesAllBitsOfADrive) {
  for (const std::string& vehicle :
       {bot("r", kPid, kOrigin), four_wheels(kSoftPid, kOrigin, 0.6, "ellipse"), bot("r", kIdeal, kOrigin)})
    expect_same_drive(world(vehicle), world(vehicle + kMoving), 1.2);
}

TEST(ApartSteps, ArePossibleWhereOneVehicleAloneMoves) {
  const auto possible = [](const std::string& world) { return ApartSteps::are_possible(*model_of(world)); };
  const std::string robot = bot("r", kPid, kOrigin);
  EXPECT_TRUE(possible(robot));
  EXPECT_TRUE(possible(robot + yard()));
  EXPECT_FALSE(possible(robot + kMoving));
  EXPECT_FALSE(possible(robot + bot("s", kPid, "<init_pose>5 0 0</init_pose>")));
}

TEST(ApartSteps, HaveTheRoomOfTheNearestCornerOfAVehicle) {
  // a wall whose face is 0.5 m ahead of the chassis, which ends at x = 0.4
  const auto model = model_of(bot("r", kPid, kOrigin) +
                              "<block name='wall'><static>true</static><init_pose>0.9 0 0</init_pose>"
                              "<geometry type='box' lx='0.2' ly='9' lz='1'/></block>");
  Simulation sim(model, 0);
  const auto has_room = [&](ApartSteps& apart, double x, double angle) {
    BodyState after = sim.state().bodies[0];
    after.x += x;
    after.angle += angle;
    return apart.has_room(sim, after);
  };
  // 0.1 m before it; the threshold of contacts is 0.03 m, skins have 0.021 m, rounding 0.001 m
  sim.place_vehicle(0, {0.4, 0, 0});
  ApartSteps apart;
  EXPECT_TRUE(has_room(apart, 0, 0));
  EXPECT_TRUE(has_room(apart, 0.047, 0));
  EXPECT_FALSE(has_room(apart, 0.049, 0));
  EXPECT_TRUE(has_room(apart, 0, 0.08));  // of a corner that is 0.47 m from the middle
  EXPECT_FALSE(has_room(apart, 0, 0.15));
  sim.place_vehicle(0, {0.45, 0, 0});
  EXPECT_FALSE(has_room(apart, 0.01, 0));
  // looks again, no farther than 0.1 m
  sim.place_vehicle(0, {0.2, 0, 0});
  EXPECT_TRUE(has_room(apart, -0.09, 0));
  EXPECT_FALSE(has_room(apart, -0.11, 0));
}

}  // namespace
}  // namespace mvsim::test::apart_steps_test
