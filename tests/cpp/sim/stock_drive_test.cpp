// Every stock vehicle with every controller that follows a speed, at steps of 5, 10 and 20 ms: it drives
// straight and turns as it is told, or loading it warns and names gains with which it does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "sim/worlds.h"
#include "source_dir.h"

namespace mvsim::test::stock_drive_test {
namespace {

struct Drive {
  const char *file, *name, *controller;  // "": the only one
  double speed, turn;                    // m/s, rad/s; of front_steer_pid: rad
  double turned = 0.8;                   // share of the commanded turn
};

// Skid steering on `ellipse` tires: pushing and sliding both take slip, so that the speeds of the sides are
// not those of the ground. At 1 m/s and w rad/s of 0.6 asked for, (0.6 - w) 0.16 of slip ratio at 0.16 m
// drive against 0.13 w of slip angle at 0.13 m, both tires' curves being nearly the same: w = 0.34, 57 %.
// Tolerance for tires between stick and slip, which lose more.
constexpr double kSkidding = 0.25;

const Drive kDrives[] = {
    {"turtlebot3_burger", "turtlebot3_burger", "twist_ideal", 0.2, 0.8},
    {"turtlebot3_burger", "turtlebot3_burger", "twist_pid", 0.2, 0.8},
    {"jackal", "jackal", "twist_ideal", 1, 0.6},
    {"jackal", "jackal", "twist_pid", 1, 0.6},
    {"jackal-ellipse", "jackal", "twist_ideal", 1, 0.6},
    {"jackal-ellipse", "jackal", "twist_pid", 1, 0.6, kSkidding},
    {"small_robot", "small_robot", "", 0.8, 0.5},
    {"ackermann", "car_ackermann", "", 2, 0.5},
    {"pickup", "pickup", "", 3, 0.3},
    {"agricobiot2", "agricobiot2", "", 1, 0.4},
    {"scania_truck", "scania_truck", "", 3, 0.3},
    {"scania_truck", "scania_truck", "twist_front_steer_pid", 2, 0.3},
    {"scania_truck", "scania_truck", "front_steer_pid", 2, 0.15},
    {"f1tenth", "f1tenth", "twist_front_steer_pid", 2, 0.8},
    {"f1tenth", "f1tenth", "front_steer_pid", 2, 0.15},
    {"offroad_4x4", "offroad_4x4", "twist_front_steer_pid", 4, 0.3},
    {"offroad_4x4", "offroad_4x4", "front_steer_pid", 4, 0.15},
    {"compact_car", "compact_car", "twist_front_steer_pid", 3, 0.3},
    {"compact_car", "compact_car", "front_steer_pid", 3, 0.15},
};

std::shared_ptr<const Model> load(const Drive& drive, double timestep, const std::string& gains) {
  WorldLoadOptions options;
  options.assets = source_dir();
  const std::string controller =
      *drive.controller ? " controller='" + std::string(drive.controller) + "'" : "";
  return compile_world(
      load_world_text("<mvsim_world><include file='definitions/" + std::string(drive.file) + ".vehicle.xml'" +
                          controller + gains + "/><simul_timestep>" + std::to_string(timestep) +
                          "</simul_timestep><vehicle name='r' class='" + drive.name +
                          "'><init_pose>0 0 0</init_pose></vehicle></mvsim_world>",
                      ".", options),
      {});
}

// The gains that a warning names, as parameters of the include; "" without a warning.
std::string better_gains(const Model& model) {
  static const std::regex kNamed("; KP ([^ ]+), KI ([^ ]+), max_torque ([^ ]+) do$");
  for (const std::string& warning : model.warnings) {
    std::smatch found;
    if (std::regex_search(warning, found, kNamed))
      return " KP='" + found[1].str() + "' KI='" + found[2].str() + "' max_torque='" + found[3].str() + "'";
  }
  return "";
}

// Returns the shares of the commanded distance and angle that are reached, after 4 s of settling.
std::pair<double, double> shares(const std::shared_ptr<const Model>& model, const Drive& drive) {
  const bool steered = model->vehicles[0].controller->name() == "front_steer_pid";
  Simulation sim(model, 0);
  const double straight[] = {drive.speed, 0}, turning[] = {drive.speed, drive.turn};
  sim.set_command(0, straight);
  sim.run(4);
  const double x = vehicle_pose(sim, 0).x;
  sim.run(4);
  const double driven = (vehicle_pose(sim, 0).x - x) / (4 * drive.speed);
  sim.reset(0, 0);
  sim.set_command(0, turning);
  sim.run(4);
  const double yaw = vehicle_pose(sim, 0).yaw;
  sim.run(4);
  double rate = drive.turn;
  if (steered) {
    const std::vector<WheelModel>& w = model->vehicles[0].wheels;
    rate = drive.speed * std::tan(drive.turn) / (w[2].position.x - w[0].position.x);
  }
  return {driven, (vehicle_pose(sim, 0).yaw - yaw) / (4 * rate)};
}

class StockDrive : public ::testing::TestWithParam<std::tuple<Drive, double>> {};

TEST_P(StockDrive, DrivesAsItIsToldOrNamesGainsThatDo) {
  const auto& [drive, timestep] = GetParam();
  auto model = load(drive, timestep, "");
  const std::string gains = better_gains(*model);
  if (!gains.empty()) {
    model = load(drive, timestep, gains);
    EXPECT_EQ(better_gains(*model), "") << "what it names is good";
  }
  const auto [driven, turned] = shares(model, drive);
  EXPECT_GT(driven, 0.8) << gains;
  EXPECT_LT(driven, 1.05) << gains;
  EXPECT_GT(turned, drive.turned) << gains;
  EXPECT_LT(turned, 1.1) << gains;
}

// The defaults of MVSim's own files that do not drive, and only those, are warned of.
TEST(StockDrives, TheDocumentedPairsAreWarnedOf) {
  for (const Drive& drive : kDrives)
    for (const double timestep : {0.005, 0.01, 0.02}) {
      const std::string file = drive.file;
      const bool expected = std::string(drive.controller) == "twist_pid" &&
                            (file.starts_with("jackal") || file == "turtlebot3_burger");
      const auto model = load(drive, timestep, "");
      EXPECT_EQ(!better_gains(*model).empty(), expected)
          << file << " " << drive.controller << " " << timestep;
      // beside that an IMU of 200 Hz, of whose readings steps as long as that have fewer
      const bool loses_readings = file == "turtlebot3_burger" && timestep >= 0.01;
      EXPECT_EQ(model->warnings.size(), size_t{expected} + size_t{loses_readings})
          << file << " " << drive.controller;
    }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Drive, double>>& info) {
  const auto& [drive, timestep] = info.param;
  std::string name = std::string(drive.file) + "_" + drive.controller + "_" +
                     std::to_string(static_cast<int>(std::lround(1000 * timestep)));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, StockDrive,
                         ::testing::Combine(::testing::ValuesIn(kDrives),
                                            ::testing::Values(0.005, 0.01, 0.02)),
                         name_of);

}  // namespace
}  // namespace mvsim::test::stock_drive_test
