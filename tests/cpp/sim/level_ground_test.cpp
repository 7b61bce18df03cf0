// Level ground that a vehicle remembers: the same bits as when it asks for the ground at every step, whatever
// lies about it and whatever is changed meanwhile.
#include "sim/stand.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/state_hash.h"
#include "sim/worlds.h"

namespace mvsim::test::level_ground_test {
namespace {

std::string text(double value) {
  return std::to_string(value);
}

std::string tag(const std::string& name, const std::string& value) {
  return "<" + name + ">" + value + "</" + name + ">";
}

std::string random_plane(RandomStream& random) {
  constexpr const char* kHeights[] = {"0", "0", "0.02", "-0.3", "0.25", "2"};
  const double x = random.uniform(-6, 3), y = random.uniform(-6, 3);
  return "<element class='horizontal_plane'>" + tag("x_min", text(x)) +
         tag("x_max", text(x + random.uniform(1, 9))) + tag("y_min", text(y)) +
         tag("y_max", text(y + random.uniform(1, 9))) + tag("z", kHeights[random.below(6)]) + "</element>";
}

// A flat map with a hill or a hole in it, higher or lower than the planes.
std::string random_map(RandomStream& random) {
  const std::string base = text(0.1 * random.below(3) - 0.1);
  std::string rows;
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; column < 5; ++column)
      rows += (row == 2 && column == 2 ? text(random.uniform(-0.2, 0.3)) : base) + " ";
    rows += row < 4 ? ";" : "]";
  }
  return "<element class='elevation_map'><resolution>0.8</resolution><corner_min_x>" +
         text(random.uniform(-4, 2)) + "</corner_min_x><corner_min_y>" + text(random.uniform(-4, 2)) +
         "</corner_min_y><elevation_data_matrix>[" + rows + "</elevation_data_matrix></element>";
}

std::string random_block(int index, RandomStream& random) {
  const uint32_t kind = random.below(5);
  std::string shape = "<zmin>0</zmin><zmax>" + text(random.uniform(0.01, 0.6)) +
                      "</zmax><geometry type='box' lx='" + text(random.uniform(0.2, 1.5)) + "' ly='" +
                      text(random.uniform(0.2, 1.5)) + "' lz='0.2'/>";
  if (kind == 3)
    shape = "<geometry type='ramp' lx='1.2' ly='1' lz='" + text(random.uniform(0.02, 0.3)) + "'/>";
  if (kind == 4)
    shape =
        "<geometry type='semi_cylinder_bump' lx='1' ly='0.5' lz='" + text(random.uniform(0.02, 0.1)) + "'/>";
  return "<block name='b" + std::to_string(index) + "'>" + tag("static", kind == 1 ? "false" : "true") +
         tag("intangible", kind == 0 || kind >= 3 ? "true" : "false") +
         tag("init_pose", text(random.uniform(-4, 4)) + " " + text(random.uniform(-4, 4)) + " " +
                              text(random.uniform(-180, 180))) +
         shape + "</block>";
}

std::shared_ptr<const Model> random_world(RandomStream& random) {
  std::string world = "<simul_timestep>0.02</simul_timestep>";
  for (uint32_t i = random.below(4); i > 0; --i) world += random_plane(random);
  if (random.below(3) == 0) world += random_map(random);
  const int blocks = static_cast<int>(random.below(6));
  for (int i = 0; i < blocks; ++i) world += random_block(i, random);
  const auto pose = [&] {
    return "<init_pose>" + text(random.uniform(-3, 3)) + " " + text(random.uniform(-3, 3)) + " " +
           text(random.uniform(-180, 180)) + "</init_pose>";
  };
  world += bot("a", kPid, pose()) + four_wheels(kPid, pose());
  CompileOptions options;
  options.placed_blocks = {"b0", "b1"};
  return model_of(world, options);
}

// Something from outside, the same for both.
void change(Simulation& sim, uint32_t what, const Pose2& pose) {
  const Model& m = sim.model();
  if (what == 0) sim.place_vehicle(0, pose);
  if (what == 1 && !m.blocks.empty()) {
    const BlockModel& block = m.blocks[0];
    if (!block.traits.is_static || block.placed || block.traits.intangible) sim.place_block(0, pose);
  }
  if (what == 2 && !m.blocks.empty())
    sim.set_param(m.blocks[0].params + kBlockScale, 0.5 + std::fabs(pose.yaw));
  if (what == 3) sim.restore(sim.snapshot());
  if (what == 4) sim.reset(7, 7);
}

TEST(LevelGround, RememberedGroundGivesTheBitsOfGroundThatIsAskedForAtEveryStep) {
  RandomStream random(11, 0, StreamPurpose::kActionNoise);
  for (int world = 0; world < 150; ++world) {
    const auto model = random_world(random);
    Simulation remembers(model, 1), asks(model, 1);
    for (int step = 0; step < 250; ++step) {
      if (step % 25 == 0)
        for (size_t v = 0; v < 2; ++v) {
          const double vx = random.uniform(-0.5, 2), omega = random.uniform(-2, 2);
          remembers.set_twist(v, vx, omega);
          asks.set_twist(v, vx, omega);
        }
      if (step % 60 == 59) {
        const uint32_t what = random.below(6);
        const Pose2 pose{random.uniform(-3, 3), random.uniform(-3, 3), random.uniform(-3, 3)};
        change(remembers, what, pose);
        change(asks, what, pose);
      }
      remembers.refill_solver();
      asks = Simulation(asks);  // a copy remembers nothing, nor has it a solver
      remembers.step();
      asks.step();
      Hash a, b;
      mix_state(remembers, a);
      mix_state(asks, b);
      for (size_t v = 0; v < 2; ++v)
        for (const Simulation* sim : {&remembers, &asks}) {
          const Pose3 pose = vehicle_pose(*sim, v);
          (sim == &remembers ? a : b).mix(pose.pitch + 3 * pose.roll);
        }
      ASSERT_EQ(a.value(), b.value()) << "world " << world << ", step " << step;
    }
  }
}

GroundQuery small_query() {
  return {.ceiling = 0.4, .reach = 0.5};
}

std::shared_ptr<const Model> on_floor(const std::string& more) {
  return model_of(
      "<element "
      "class='horizontal_plane'><x_min>-5</x_min><x_max>5</x_max><y_min>-5</y_min><y_max>5</y_max></"
      "element>" +
      more + bot("a", kPid, kOrigin));
}

double room_at(const std::shared_ptr<const Model>& model, Vec2 at, double z = 0) {
  return find_level_ground(*model, Simulation(model, 1).state(), at, z, small_query()).room;
}

TEST(LevelGround, ReachesToWhateverIsLowEnoughToMatter) {
  const std::string box =
      "<static>true</static><init_pose>2 0 0</init_pose><zmin>0</zmin>"
      "<geometry type='box' lx='1' ly='1' lz='0.2'/>";
  EXPECT_NEAR(room_at(on_floor(""), {}), 10, 1e-4);  // off the plane the ground is at 0 as well
  EXPECT_NEAR(room_at(on_floor("<block name='b'>" + box + "<zmax>0.2</zmax></block>"), {}), 1.5, 1e-4);
  EXPECT_NEAR(room_at(on_floor("<block name='b'>" + box + "<zmax>0.5</zmax></block>"), {}), 10, 1e-4);
  EXPECT_LE(room_at(on_floor(""), {}, 1), 0);  // nothing lies there
}

TEST(LevelGround, OfARaisedPlaneEndsAtItsBorder) {
  const std::string plane =
      "<element class='horizontal_plane'><x_min>0</x_min><x_max>4</x_max><y_min>-2</y_min>"
      "<y_max>2</y_max><z>0.3</z></element>";
  EXPECT_NEAR(room_at(on_floor(plane), {2, 0}, 0.3), 1.5, 1e-4);
  EXPECT_NEAR(room_at(on_floor(plane), {-3, 0}, 0), 2.5, 1e-4);
}

TEST(LevelGround, KnowsWhetherItRestsOnBlocksThatCanMove) {
  const std::string block =
      "<block name='b'><init_pose>4 0 0</init_pose><zmin>0</zmin><zmax>0.1</zmax>"
      "<geometry type='box' lx='1' ly='1' lz='0.2'/></block>";
  const auto model = on_floor(block);
  EXPECT_TRUE(
      find_level_ground(*model, Simulation(model, 1).state(), {}, 0, small_query()).on_movable_blocks);
}

}  // namespace
}  // namespace mvsim::test::level_ground_test
