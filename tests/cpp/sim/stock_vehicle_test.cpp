// Every stock vehicle of worlds/definitions/: mass and footprint of the table, driving straight, left,
// stopping.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/solver_bodies.h"
#include "sim/worlds.h"
#include "source_dir.h"

namespace mvsim::test::stock_vehicle_test {
namespace {

struct Stock {
  const char *file, *name;
  double mass;  // kg with wheels
  Rect footprint;
  double z_min, z_max;
  double speed, turn;  // m/s and rad/s that it is asked for
  const char* parameters = "";
};

// Masses: chassis and wheels of the table of stock vehicles.
const Stock kStock[] = {
    {"turtlebot3_burger", "turtlebot3_burger", 1.2, {-0.0685, 0.0685, -0.0685, 0.0685}, 0, 0.141, 0.2, 0.8},
    {"turtlebot3_burger",
     "turtlebot3_burger",
     1.2,
     {-0.0685, 0.0685, -0.0685, 0.0685},
     0,
     0.141,
     0.2,
     0.8,
     "controller='twist_pid' KP='0.1' KI='4' max_torque='0.12'"},
    {"jackal", "jackal", 14, {-0.2515, 0.2515, -0.215, 0.215}, 0.0655, 0.2495, 1, 0.6},
    {"jackal",
     "jackal",
     14,
     {-0.2515, 0.2515, -0.215, 0.215},
     0.0655,
     0.2495,
     1,
     0.3,
     "controller='twist_pid' max_torque='2.5'"},
    {"jackal-ellipse", "jackal", 14, {-0.2515, 0.2515, -0.215, 0.215}, 0.0655, 0.2495, 1, 0.6},
    {"small_robot", "small_robot", 23, {-0.4, 0.6, -0.5, 0.5}, 0.05, 0.6, 0.8, 0.5},
    {"ackermann", "car_ackermann", 824, {-0.8, 1.8, -1, 1}, 0.15, 1.0, 2, 0.5},
    {"pickup", "pickup", 2024, {-2.95, 2.71, -1.24, 1.24}, 0, 1.86, 3, 0.3},
    {"agricobiot2", "agricobiot2", 97 + 4 * 5.35, {-0.25, 0.87, -0.30, 0.30}, 0.15, 1.2, 1, 0.4},
    {"scania_truck", "scania_truck", 3060, {2.5, 4, -1, 1}, 0.4, 3.5, 3, 0.3},
    {"f1tenth", "f1tenth", 3.5, {-0.27, 0.27, -0.13, 0.13}, 0.03, 0.14, 2, 0.8},
    {"offroad_4x4", "offroad_4x4", 1750, {-1.95, 1.9, -0.88, 0.88}, 0.28, 1.85, 4, 0.3},
    {"offroad_4x4", "offroad_4x4", 1750, {-1.95, 1.9, -0.88, 0.88}, 0.28, 1.85, 4, 0.2, "surface='sand'"},
};

WorldLoadOptions stock_options() {
  WorldLoadOptions options;
  options.assets = source_dir();
  return options;
}

std::shared_ptr<const Model> load_stock(const std::string& file, const std::string& parameters,
                                        const std::string& vehicles) {
  return compile_world(load_world_text("<mvsim_world><include file='definitions/" + file + ".vehicle.xml' " +
                                           parameters + "/>" + vehicles + "</mvsim_world>",
                                       ".", stock_options()),
                       {});
}

std::shared_ptr<const Model> model_of(const Stock& stock) {
  return load_stock(stock.file, stock.parameters,
                    "<vehicle name='r' class='" + std::string(stock.name) +
                        "'><init_pose>0 0 0</init_pose></vehicle><simul_timestep>0.005</simul_timestep>");
}

Rect box_of(const Polygon& outline) {
  Rect r{1e9, -1e9, 1e9, -1e9};
  for (const Vec2 p : outline)
    r = {std::min(r.x_min, p.x), std::max(r.x_max, p.x), std::min(r.y_min, p.y), std::max(r.y_max, p.y)};
  return r;
}

void expect_body(const Model& model, const VehicleModel& v, double mass, const Rect& footprint, double z_min,
                 double z_max) {
  std::vector<double> params;
  for (const ParamEntry& p : model.params) params.push_back(p.nominal);
  EXPECT_NEAR(vehicle_mass(v, params).mass, mass, 1e-6 * mass);
  const Rect box = box_of(v.chassis.outline);
  EXPECT_NEAR(box.x_min, footprint.x_min, 1e-12);
  EXPECT_NEAR(box.x_max, footprint.x_max, 1e-12);
  EXPECT_NEAR(box.y_min, footprint.y_min, 1e-12);
  EXPECT_NEAR(box.y_max, footprint.y_max, 1e-12);
  EXPECT_EQ(v.z_min, z_min);
  EXPECT_EQ(v.z_max, z_max);
}

class StockVehicle : public ::testing::TestWithParam<Stock> {};

TEST_P(StockVehicle, HasMassAndFootprintOfTheTable) {
  const Stock& stock = GetParam();
  const auto model = model_of(stock);
  expect_body(*model, model->vehicles[0], stock.mass, stock.footprint, stock.z_min, stock.z_max);
  EXPECT_TRUE(model->warnings.empty()) << model->warnings[0];
}

TEST_P(StockVehicle, DrivesStraightTurnsLeftAndStops) {
  const Stock& stock = GetParam();
  Simulation sim(model_of(stock), 0);
  sim.set_twist(0, stock.speed, 0);
  sim.run(10);
  const Pose3 there = vehicle_pose(sim, 0);
  EXPECT_GT(there.x, 5 * stock.speed);
  // agricobiot2's rear wheels stand askew and its terrain drags
  EXPECT_LT(std::fabs(there.y), 0.03 * there.x);
  EXPECT_NEAR(vehicle_twist(sim, 0).vx, stock.speed, 0.06 * stock.speed);
  sim.set_twist(0, stock.speed, stock.turn);
  sim.run(3);
  // skid steering by 2.5 N m a wheel turns less than it is asked for
  EXPECT_GT(vehicle_pose(sim, 0).yaw, there.yaw + 0.4 * 3 * stock.turn);
  EXPECT_LT(vehicle_pose(sim, 0).yaw, there.yaw + 1.1 * 3 * stock.turn);
  EXPECT_GT(vehicle_pose(sim, 0).y, there.y);
  sim.set_twist(0, 0, 0);
  sim.run(15);
  EXPECT_LT(std::hypot(vehicle_twist(sim, 0).vx, vehicle_twist(sim, 0).vy), 0.055);
  EXPECT_TRUE(is_finite(sim));
}

std::string name_of(const ::testing::TestParamInfo<Stock>& info) {
  std::string name = info.param.file;
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(All, StockVehicle, ::testing::ValuesIn(kStock), name_of);

TEST(StockVehicles, TheTruckPullsItsTrailer) {
  const auto model =
      load_stock("scania_truck", "",
                 "<vehicle name='truck' class='scania_truck'><init_pose>0 0 0</init_pose></vehicle>"
                 "<vehicle name='trailer' class='scania_trailer'><init_pose>0 0 0</init_pose></vehicle>"
                 "<joint type='revolute' body_a='truck' anchor_a='0 0' body_b='trailer' anchor_b='0 0'/>");
  expect_body(*model, model->vehicles[1], 4040, {-6.6, 0.9, -1.25, 1.25}, 0.5, 4.0);
  Simulation sim(model, 0);
  sim.set_twist(0, 2, 0);
  sim.run(5);
  EXPECT_NEAR(vehicle_pose(sim, 1).x, vehicle_pose(sim, 0).x, 0.1);
  sim.set_twist(0, 2, 0.15);
  sim.run(5);
  EXPECT_GT(vehicle_pose(sim, 1).yaw, 0.2);                             // it follows
  EXPECT_LT(vehicle_pose(sim, 1).yaw, vehicle_pose(sim, 0).yaw - 0.1);  // behind
  EXPECT_FALSE(sim.state().vehicles[0].contacts);
}

}  // namespace
}  // namespace mvsim::test::stock_vehicle_test
