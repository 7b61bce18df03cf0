// Effects of sim-to-real randomisation on actions, readings and robots, against numbers computed by hand.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "model/transfer_params.h"
#include "sensor/ray_sensor.h"
#include "task/track/race.h"

namespace mvsim::transfer_test {
namespace {

using namespace testing;

// A task with parameters of a fixed value, in their units.
EnvSpec with(const std::string& name, const std::vector<std::pair<std::string, double>>& values) {
  EnvSpec spec = shipped(name);
  for (const auto& [path, value] : values)
    apply_overrides(spec, dict({{"randomize", dict({{path, dict({{"value", number(value)}})}})}}));
  return spec;
}

struct Drive {
  explicit Drive(const EnvSpec& spec, uint64_t key = 1)
      : task(compile_task(spec, load_options())), env(make_env(*task, key)) {
    start_episode(*task, env);
  }
  void step(std::initializer_list<double> action) {
    double reward = 0;
    env.agents[0].action = action;
    step_period(*task, env, [] { return true; }, {&reward, 1});
  }
  const double* command() const { return env.simulation.state().vehicles[0].command; }
  double vx() const { return vehicle_twist(env.simulation, 0).vx; }

  std::unique_ptr<Task> task;
  EnvState env;
};

// vx and omega of NavArena for values of an action.
double vx_of(double value) {
  return 0.11 * (value + 1);
}

TEST(Transfer, AnActionComesTwoPeriodsLate) {
  Drive run(with("nav_arena", {{"vehicle:robot/action/delay", 0.4}}));
  for (int i = 0; i < 8; ++i) {
    run.step({-1 + 0.2 * i, 0.1 * i});
    if (i < 2) {
      EXPECT_EQ(run.command()[0], 0) << "nothing has arrived";
      EXPECT_EQ(run.command()[1], 0);
    } else {
      EXPECT_NEAR(run.command()[0], vx_of(-1 + 0.2 * (i - 2)), 1e-12);
      EXPECT_NEAR(run.command()[1], 2 * 0.1 * (i - 2), 1e-12);
    }
  }
  EXPECT_NEAR(run.env.agents[0].action[1], 0.7, 1e-12) << "what the agent did is as it did it";
}

TEST(Transfer, APartOfAPeriodIsToTheTimeStep) {
  Drive run(with("nav_arena", {{"vehicle:robot/action/delay", 0.26}}));  // a period and 3 steps of 20 ms
  run.step({1, 0});
  run.step({1, 0});
  const Delay delay = run.env.agents[0].transfer.actions.delay;
  EXPECT_EQ(delay.periods, 1u);
  EXPECT_EQ(delay.steps, 3u);
  EXPECT_NEAR(run.command()[0], vx_of(1), 1e-12);
  Drive at_once(with("nav_arena", {}));
  at_once.step({1, 0});
  at_once.step({1, 0});
  EXPECT_LT(run.vx(), at_once.vx());
}

TEST(Transfer, ADelayThatIsTooLongIsAnError) {
  EXPECT_THROW(Drive(with("race", {{"vehicle:car1/action/delay", 9.9}})), Error);
  EXPECT_THROW(Drive(with("race", {{"vehicle:car1/sensor:lidar/delay", 9.9}})), Error);
}

TEST(Transfer, NoiseOfActionsHasItsDeviation) {
  Drive run(with("nav_arena", {{"vehicle:robot/action/noise", 0.05}}));
  double sum = 0, squares = 0;
  constexpr int kPeriods = 1000;
  for (int i = 0; i < kPeriods; ++i) {
    run.env.agents[0].end = EpisodeEnd::kNone;
    run.env.steps = i;
    run.step({-0.5, 0.2});
    const double error = run.command()[1] / 2 - 0.2;
    sum += error;
    squares += error * error;
  }
  EXPECT_NEAR(sum / kPeriods, 0, 0.05 * 4 / std::sqrt(kPeriods));
  EXPECT_NEAR(std::sqrt(squares / kPeriods), 0.05, 0.05 * 0.1);
}

TEST(Transfer, SteeringHasAnOffsetAndARateOfItsOwn) {
  Drive straight(with("race", {{"vehicle:car1/steering/offset", 2}}));
  straight.step({0, 0});
  EXPECT_NEAR(straight.command()[1], 2 * kDegree, 1e-12);
  Drive slow(with("race", {{"vehicle:car1/steering/rate", 0.5}}));
  slow.step({0, 1});
  EXPECT_NEAR(slow.command()[1], 0.5 * 0.04 * 183 * kDegree, 1e-12);
}

// The scans of an env under one action, with the reset's.
std::vector<std::vector<float>> scans(const EnvSpec& spec, int steps) {
  Batch batch(spec, options(1));
  batch.seed_env(0, 3);
  batch.reset();
  const size_t k = observation_index(batch, "scan");
  const auto row = [&] {
    const auto* values = reinterpret_cast<const float*>(batch.observation_buffer(k).row(0));
    return std::vector<float>(values, values + batch.observations()[k].low.size());
  };
  std::vector<std::vector<float>> out{row()};
  const std::vector<float> action{1, 0.2F};
  for (int i = 0; i < steps; ++i) {
    batch.step(action);
    out.push_back(row());
  }
  return out;
}

TEST(Transfer, AScanIsAsOldAsItsDelay) {
  const std::pair<std::string, double> quiet{"vehicle:robot/sensor:lidar/range_std_noise", 0};
  const auto now = scans(with("nav_arena", {quiet}), 8);
  const auto late = scans(with("nav_arena", {quiet, {"vehicle:robot/sensor:lidar/delay", 0.4}}), 8);
  EXPECT_EQ(late[0], now[0]);
  EXPECT_EQ(late[1], now[0]);
  for (size_t i = 2; i < 8; ++i) EXPECT_EQ(late[i], now[i - 2]) << i;
  EXPECT_NE(now[7], now[5]);
  // half a period: the observation of an env that acts twice as often
  EnvSpec often = with("nav_arena", {quiet});
  apply_overrides(often, dict({{"control_period", number(0.1)}}));
  const auto twice = scans(often, 16);
  const auto half = scans(with("nav_arena", {quiet, {"vehicle:robot/sensor:lidar/delay", 0.1}}), 8);
  for (size_t i = 1; i < 8; ++i) EXPECT_EQ(half[i], twice[2 * i - 1]) << i;
}

TEST(Transfer, RaysDropOutAtTheirRate) {
  const std::pair<std::string, double> quiet{"vehicle:robot/sensor:lidar/range_std_noise", 0};
  Drive run(with("nav_arena", {quiet, {"vehicle:robot/sensor:lidar/dropout", 0.02}})),
      whole(with("nav_arena", {quiet}));
  const size_t rays = run.env.simulation.model().sensors[0].sensor->reading().size();
  const auto max = static_cast<float>(run.env.simulation.model().sensors[0].sensor->reading().high);
  std::vector<float> ranges(rays), expected(rays);
  std::vector<uint8_t> valid(rays), hit(rays);
  whole.env.simulation.read_now(0, expected.data(), hit.data());
  double dropped = 0, hits = 0;
  while (hits < 1e5) {
    run.env.simulation.read_now(0, ranges.data(), valid.data());
    for (size_t i = 0; i < rays; ++i) {
      if (hit[i] == 0) continue;
      ++hits;
      if (valid[i] != 0) {
        ASSERT_EQ(ranges[i], expected[i]);
        continue;
      }
      ++dropped;
      ASSERT_EQ(ranges[i], max);
    }
  }
  EXPECT_NEAR(dropped / hits, 0.02, 4 * std::sqrt(0.02 * 0.98 / 1e5));
}

TEST(Transfer, AReadingThatDropsOutIsTheOneBefore) {
  const auto folder = std::filesystem::temp_directory_path() / ("mvsim_late_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "imu.world.xml")
      << R"(<mvsim_world><vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential">
    <controller class="twist_ideal"/></dynamics><sensor class="imu" name="i"/></vehicle></mvsim_world>)";
  const EnvSpec spec = load_env_text(R"(<mvsim_env world="imu.world.xml" control_period="0.1">
    <agent><action class="twist" vx="0 1" omega="-1 1"/><observe class="imu"/></agent>
    <reward class="time"/><randomize of="vehicle:r/sensor:i/dropout" value="0.5"/></mvsim_env>)",
                                     (folder / "t.env.xml").string(), load_options());
  Batch batch(spec, options(1));
  batch.reset();
  const auto first = [&] { return *reinterpret_cast<const float*>(batch.observation_buffer(0).row(0)); };
  float before = first();
  int held = 0;
  constexpr int kSteps = 400;
  for (int i = 0; i < kSteps; ++i) {
    batch.step(std::vector<float>{0.3F, 0.5F});
    held += first() == before;
    before = first();
  }
  EXPECT_NEAR(held / double{kSteps}, 0.5, 4 * std::sqrt(0.25 / kSteps));
}

TEST(Transfer, APushChangesTheTwistByWhatIsDrawn) {
  Drive run(with("nav_arena", {}));
  Simulation& s = run.env.simulation;
  for (int i = 0; i < 5; ++i) run.step({1, 0.3});
  const Twist2 before = vehicle_twist(s, 0);
  const double spin = wheel_states(s, 0)[0].spin;
  s.push_vehicle(0, {0.1, -0.03, 0.3});
  const Twist2 after = vehicle_twist(s, 0);
  EXPECT_NEAR(after.vx - before.vx, 0.1, 1e-6);  // of single precision
  EXPECT_NEAR(after.vy - before.vy, -0.03, 1e-6);
  EXPECT_NEAR(after.omega - before.omega, 0.3, 1e-6);
  EXPECT_EQ(wheel_states(s, 0)[0].spin, spin);
}

TEST(Transfer, PushesComeAtTheirIntervals) {
  Drive run(with("race", {{"vehicle:car1/push/shortest", 0.1},
                          {"vehicle:car1/push/longest", 0.4},
                          {"vehicle:car1/push/omega", 1e-6}}));
  double last = 0;
  for (int i = 0; i < 500; ++i) {
    run.env.agents[0].end = EpisodeEnd::kNone;
    const uint32_t count = run.env.agents[0].transfer.pushes.count;
    run.step({-1, 0});
    const Pushes& pushes = run.env.agents[0].transfer.pushes;
    if (pushes.count == count) continue;
    EXPECT_LE(pushes.count - count, 1u) << "no two within a period";
    EXPECT_GE(pushes.due - last, 0.1);
    last = pushes.due;
  }
  const double mean = 500 * 0.04 / run.env.agents[0].transfer.pushes.count;
  EXPECT_NEAR(mean, 0.25, 0.05);
}

TEST(Transfer, ALargerWheelDrivesFasterThanTheOdometryBelieves) {
  Drive run(with("nav_arena", {{"vehicle:robot/wheels/*/radius", 1.03 * 0.033}}));
  const double nominal = run.env.simulation.model().vehicles[0].wheels[0].radius;
  ASSERT_NEAR(nominal, 0.033, 1e-9);
  for (int i = 0; i < 15; ++i) {
    run.env.agents[0].end = EpisodeEnd::kNone;
    run.step({1, 0});
  }
  EXPECT_NEAR(run.vx() / vehicle_odometry_twist(run.env.simulation, 0).vx, 1.03, 0.005);
}

TEST(Transfer, AWiderTrackTurnsLess) {
  Drive run(with("nav_arena", {{"vehicle:robot/wheels/track", 1.1}}));
  for (int i = 0; i < 15; ++i) run.step({-1, 0.5});
  const double believed = vehicle_odometry_twist(run.env.simulation, 0).omega;
  EXPECT_NEAR(believed / vehicle_twist(run.env.simulation, 0).omega, 1.1, 0.005);
}

TEST(Transfer, ALoadShiftsTheCentreOfMass) {
  Drive nominal(with("nav_arena", {})), loaded(with("nav_arena", {{"vehicle:robot/load/x", 0.02}}));
  const Model& m = nominal.env.simulation.model();
  const size_t body = m.vehicles[0].body;
  double whole = m.params[m.vehicles[0].body_params + kChassisMass].nominal;
  const double chassis = whole;
  for (const WheelModel& w : m.vehicles[0].wheels) whole += w.mass;
  const BodyInertia &a = nominal.env.simulation.state().inertias[body],
                    &b = loaded.env.simulation.state().inertias[body];
  EXPECT_EQ(a.inverse_mass, b.inverse_mass);
  EXPECT_NEAR(b.center_x - a.center_x, 0.02 * chassis / whole, 1e-6);
}

TEST(Transfer, ALidarSitsAskew) {
  const std::pair<std::string, double> quiet{"vehicle:robot/sensor:lidar/range_std_noise", 0};
  const auto scan = [&](double x, double yaw) {
    Drive run(with(
        "nav_arena",
        {quiet, {"vehicle:robot/sensor:lidar/mount/x", x}, {"vehicle:robot/sensor:lidar/mount/yaw", yaw}}));
    Simulation& s = run.env.simulation;
    for (size_t i = 0; i < s.model().blocks.size(); ++i)
      if (s.model().blocks[i].placed) s.place_block(i, {100.0 + 2 * static_cast<double>(i), 100, 0});
    s.place_vehicle(0, {0, 0, 0});
    std::vector<float> ranges(s.model().sensors[0].sensor->reading().size());
    s.read_now(0, ranges.data(), nullptr);
    return ranges;
  };
  const auto straight = scan(0, 0), ahead = scan(0.1, 0), turned = scan(0, 2);
  const auto* lidar = as_ray_sensor(*Drive(with("nav_arena", {})).env.simulation.model().sensors[0].sensor);
  const size_t middle = straight.size() / 2;
  ASSERT_NE(lidar, nullptr);
  const auto nearest =
      static_cast<size_t>(std::min_element(straight.begin(), straight.end()) - straight.begin());
  EXPECT_NE(straight[nearest], ahead[nearest]);
  // beams are 2 degrees apart: a lidar that is turned by one sees along the next
  for (const size_t i : {middle - 20, middle + 11, middle + 30})
    EXPECT_NEAR(turned[i], straight[i + 1], 1e-3);
  EXPECT_NEAR(straight[middle] - ahead[middle], 0.1, 0.02);
}

TEST(Transfer, LevelsDrawFromTheirRanges) {
  for (const char* name :
       {"nav_arena", "nav_map", "ice_drive", "off_road", "race", "terrain_goal", "multi_nav"}) {
    EnvSpec spec = shipped(name);
    apply_overrides(spec, {{{"randomize"}, "standard"}});
    Drive run(spec, 7);
    const Model& m = run.env.simulation.model();
    const auto& params = run.env.simulation.state().params;
    const VehicleModel& v = m.vehicles[run.task->agents[0].vehicle];
    const double mass = params[v.body_params + kChassisMass] / m.params[v.body_params + kChassisMass].nominal;
    EXPECT_GE(mass, 0.9) << name;
    EXPECT_LE(mass, 1.2) << name;
    const std::vector<double> before(params.begin(), params.end());
    start_episode(*run.task, run.env);
    EXPECT_NE(before[v.body_params + kChassisMass], params[v.body_params + kChassisMass]) << name;
    const double pushes = params[m.find_params("vehicle:" + v.name + "/push/longest").at(0)];
    EXPECT_EQ(pushes > 0, find_tracker<RaceTracker>(run.task->trackers) != nullptr) << name;
  }
}

TEST(Transfer, AnUnknownLevelIsAnError) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, {{{"randomize"}, "hard"}});
  EXPECT_THROW(compile_task(spec, load_options()), WorldFileError);
}

TEST(Transfer, AStateHoldsWhatIsOnItsWay) {
  for (const char* name : {"nav_arena", "race"}) {
    EnvSpec spec = shipped(name);
    apply_overrides(spec, {{{"randomize"}, "strong"}});
    Batch one(spec, options(1)), other(spec, options(3, 2));
    one.seed_env(0, 5);
    one.reset();
    other.reset();
    const auto actions = [](uint32_t step, size_t n) {
      std::vector<float> out(2 * n);
      for (size_t i = 0; i < n; ++i) random_action(3, step, &out[2 * i], 2);
      return out;
    };
    for (uint32_t moment = 0; moment < 8; ++moment) {
      for (uint32_t s = 0; s < 5; ++s) one.step(actions(100 * moment + s, 1));
      const std::string state = one.state(0);
      const std::string_view view = state;
      const int slot = static_cast<int>(moment % 3);
      other.set_state(std::span(&slot, 1), std::span(&view, 1));
      ASSERT_EQ(other.state(slot), state);
      for (uint32_t s = 50; s < 70; ++s) {
        one.step(actions(100 * moment + s, 1));
        other.step(actions(100 * moment + s, 3));
        ASSERT_EQ(row_of(one, 0), row_of(other, slot)) << name << " " << moment << " " << s;
      }
    }
  }
}

}  // namespace
}  // namespace mvsim::transfer_test
