// The stock vehicles and lidars in worlds/definitions.
#include "source_dir.h"
#include "worldfile/world_text.h"

namespace mvsim::definitions_test {
namespace {

WorldSpec load_stock(const std::string& body) {
  const TempFolder folder;
  return load_world_text(world_of(body), folder.path(), options_with(source_dir()));
}

VehicleSpec load_vehicle(const std::string& name, const std::string& parameters,
                         const std::string& inside = "") {
  const WorldSpec world = load_stock("<include file='definitions/" + name + ".vehicle.xml' " + parameters +
                                     "/><vehicle name='r' class='" + name + "'><init_pose>0 0 0</init_pose>" +
                                     inside + "</vehicle>");
  EXPECT_TRUE(world.warnings.empty()) << joined(world.warnings);
  return world.vehicles.at(0);
}

double number(const ParamSet& set, const char* name) {
  return parse_number(*set.find(name));
}

TEST(Definitions, TurtleBot) {
  VehicleSpec v = load_vehicle("turtlebot3_burger", "");
  EXPECT_EQ(v.dynamics.class_name, "differential");
  EXPECT_EQ(v.wheels.at(0).position->y, 0.08);
  EXPECT_EQ(v.wheels[0].diameter, 0.066);
  EXPECT_EQ(v.chassis.mass, 1.0);
  double reach = 0;
  for (const Vec2 p : *v.chassis.shape) reach = std::max({reach, std::fabs(p.x), std::fabs(p.y)});
  EXPECT_EQ(reach, 0.0685);
  EXPECT_EQ(v.controller.class_name, "twist_ideal");
  EXPECT_EQ(number(v.friction, "C_rr"), 0.01);
  EXPECT_NE(*v.odometry.yaw, 1);
  ASSERT_EQ(v.sensors.size(), 3u);
  EXPECT_EQ(v.sensors[0].name, "laser1");
  EXPECT_EQ(v.sensors[1].name, "camera1");
  EXPECT_EQ(v.sensors[1].params.find("pose_3d")->text, "0.069 -0.047 0.107 -90 0 -90");
  EXPECT_EQ(number(v.sensors[1].params, "ncols"), 1920);
  EXPECT_NEAR(number(v.sensors[1].params, "sensor_period"), 1 / 30.0, 1e-9);
  EXPECT_EQ(v.sensors[2].name, "imu1");
  EXPECT_EQ(number(v.sensors[2].params, "sensor_period"), 0.005);
  EXPECT_EQ(v.sensors[0].params.find("pose_3d")->text, "-0.032 0 0.171 0 0 0");
  EXPECT_EQ(number(v.sensors[0].params, "nrays"), 800);
  v = load_vehicle("turtlebot3_burger",
                   "controller='twist_pid' KP='0.1' KI='4' max_torque='0.12' default_sensors='false'");
  EXPECT_EQ(v.controller.class_name, "twist_pid");
  EXPECT_EQ(number(v.controller, "KP"), 0.1);
  EXPECT_EQ(number(v.controller, "KI"), 4);
  EXPECT_EQ(number(v.controller, "max_torque"), 0.12);
  EXPECT_TRUE(v.sensors.empty());
}

TEST(Definitions, Jackal) {
  VehicleSpec v = load_vehicle("jackal", "controller='twist_pid' lidar2d_fov_degrees='270'");
  EXPECT_EQ(v.wheels.size(), 4u);
  EXPECT_EQ(v.chassis.z_max, 0.2495);
  EXPECT_EQ(v.controller.class_name, "twist_pid");
  EXPECT_EQ(number(v.controller, "KP"), 20);
  EXPECT_EQ(number(v.controller, "max_torque"), 100);
  ASSERT_EQ(v.sensors.size(), 3u);
  EXPECT_EQ(v.sensors[0].name, "scanner1");
  EXPECT_EQ(v.sensors[1].name, "lidar1");
  EXPECT_EQ(v.sensors[1].params.find("pose_3d")->text, "0.15 0 0.35 0 0 0");
  EXPECT_EQ(number(v.sensors[1].params, "range_std_noise"), 0.0025);
  EXPECT_EQ(v.sensors[1].params.find("generate_intensity")->text, "true");
  EXPECT_EQ(v.sensors[2].name, "cam1");
  EXPECT_EQ(number(v.sensors[0].params, "fov_degrees"), 270);
  EXPECT_EQ(number(v.sensors[0].params, "sensor_period"), 0.1);
  v = load_vehicle(
      "jackal", "default_sensors='false' max_torque='2.5'",
      "<include file='definitions/lidar2d.sensor.xml' sensor_x='0.2' sensor_name='l' sensor_nrays='90'/>");
  EXPECT_EQ(number(v.controller, "max_torque"), 2.5);
  EXPECT_EQ(v.sensors.at(0).name, "l");
  EXPECT_EQ(number(v.sensors[0].params, "nrays"), 90);
  EXPECT_EQ(number(v.sensors[0].params, "max_range"), 30);
}

TEST(Definitions, SmallRobotAndRplidar) {
  for (const auto& [hz, rays] : {std::pair("5", 1600), {"10", 800}, {"15", 533}}) {
    const VehicleSpec v = load_vehicle(
        "small_robot", "",
        "<include file='definitions/rplidar-a2.sensor.xml' sensor_hz='" + std::string(hz) + "'/>");
    EXPECT_EQ(number(v.sensors.at(0).params, "nrays"), rays);
    EXPECT_NEAR(number(v.sensors[0].params, "sensor_period"), 1 / std::stod(hz), 1e-15);
    EXPECT_EQ(number(v.controller, "KP"), 4.1543);
  }
}

}  // namespace
}  // namespace mvsim::definitions_test
