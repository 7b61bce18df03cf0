#include "worldfile/world_text.h"

namespace mvsim::vehicle_test {
namespace {

std::string vehicle(const std::string& inside, const std::string& attributes = "") {
  return "<vehicle" + attributes + "><dynamics class='differential'/><init_pose>0 0 0</init_pose>" + inside +
         "</vehicle>";
}

VehicleSpec load_vehicle(const std::string& inside) {
  return load_body(vehicle(inside)).vehicles.at(0);
}

VehicleSpec load_dynamics(const std::string& inside) {
  return load_body("<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'>" + inside +
                   "</dynamics></vehicle>")
      .vehicles.at(0);
}

TEST(Vehicle, DefaultsAreThoseOfTheLanguage) {
  const VehicleSpec v = load_vehicle("");
  EXPECT_EQ(v.name, "veh1");
  EXPECT_EQ(v.dynamics.class_name, "differential");
  EXPECT_EQ(v.controller.class_name, "raw");
  EXPECT_EQ(v.friction.class_name, "default");
  EXPECT_FALSE(v.chassis.mass || v.chassis.shape || v.odometry.x);
  EXPECT_TRUE(v.wheels.empty() && v.sensors.empty());
  EXPECT_TRUE(v.placement.adjust_elevation);
}

TEST(Vehicle, PosesAndVelocitiesBecomeRadians) {
  VehicleSpec v =
      load_body(
          "<vehicle><dynamics class='x'/><init_pose>1 2 90</init_pose>"
          "<init_vel>1 -2 180</init_vel><skip_elevation_adjust>false</skip_elevation_adjust></vehicle>")
          .vehicles[0];
  EXPECT_DOUBLE_EQ(v.placement.pose.yaw, kPi / 2);
  EXPECT_EQ(v.placement.velocity.vy, -2);
  EXPECT_DOUBLE_EQ(v.placement.velocity.omega, kPi);
  EXPECT_FALSE(v.placement.adjust_elevation);
  v = load_body("<vehicle><dynamics class='x'/><init_pose3d>1 2 3 90 45 -90</init_pose3d></vehicle>")
          .vehicles[0];
  EXPECT_EQ(v.placement.pose.z, 3);
  EXPECT_DOUBLE_EQ(v.placement.pose.pitch, kPi / 4);
  EXPECT_DOUBLE_EQ(v.placement.pose.roll, -kPi / 2);
}

TEST(Vehicle, WheelsReadAttributesAndChildren) {
  const VehicleSpec v = load_dynamics(
      "<l_wheel pos='1 2 90' mass='4' width='0.1' diameter='0.4' inertia='0.3' color='#102030'/>"
      "<r_wheel mass='4'><mass>5</mass><pos>0 -1</pos></r_wheel>");
  ASSERT_EQ(v.wheels.size(), 2u);
  EXPECT_EQ(v.wheels[0].tag, "l_wheel");
  EXPECT_EQ(v.wheels[0].position->y, 2);
  EXPECT_DOUBLE_EQ(v.wheels[0].yaw, kPi / 2);
  EXPECT_EQ(v.wheels[0].inertia, 0.3);
  EXPECT_EQ(v.wheels[0].color.g, 0x20);
  EXPECT_EQ(v.wheels[1].mass, 5) << "the child wins";
  EXPECT_EQ(v.wheels[1].position->y, -1);
  EXPECT_EQ(v.wheels[1].inertia, -1);
}

TEST(Vehicle, ChassisReadsAttributesChildrenAndShape) {
  const VehicleSpec v = load_dynamics(
      "<chassis mass='9' zmin='0.1' zmax='0.7' angular_damping='0.5' color='#ff000080'>"
      "<linear_damping>10</linear_damping><shape><pt>0 0</pt><pt>1 0</pt><pt>$f{0.5} "
      "1</pt></shape></chassis>");
  EXPECT_EQ(v.chassis.mass, 9);
  EXPECT_EQ(v.chassis.z_max, 0.7);
  EXPECT_EQ(v.chassis.linear_damping, 10);
  EXPECT_EQ(v.chassis.angular_damping, 0.5);
  EXPECT_EQ(v.chassis.color->a, 0x80);
  ASSERT_EQ(v.chassis.shape->size(), 3u);
  EXPECT_EQ(v.chassis.shape->at(2).x, 0.5);
}

TEST(Vehicle, ComponentsAreSetsOfTexts) {
  const VehicleSpec v =
      load_body(
          "<variable name='k' value='4'/><vehicle><init_pose>0 0 0</init_pose>"
          "<dynamics class='car_ackermann'><f_wheels_x>1.3</f_wheels_x>"
          "<controller class='twist_pid'><KP>$f{k/2}</KP><KI>1</KI><KI>${k}</KI></controller>"
          "<drivetrain type='open_rear'><front_rear_split>0.4</front_rear_split></drivetrain>"
          "</dynamics><friction class='ellipse'><C_s>7</C_s></friction></vehicle>")
          .vehicles[0];
  EXPECT_EQ(v.controller.class_name, "twist_pid");
  EXPECT_EQ(v.controller.find("KP")->text, "2");
  EXPECT_EQ(v.controller.find("KI")->text, "4") << "the last one counts";
  EXPECT_TRUE(has(v.controller.find("KP")->where.text(), "<text>:2:"));
  EXPECT_EQ(v.dynamics.find("f_wheels_x")->text, "1.3");
  EXPECT_EQ(v.dynamics.find("drivetrain/type")->text, "open_rear");
  EXPECT_EQ(v.dynamics.find("drivetrain/front_rear_split")->text, "0.4");
  EXPECT_EQ(v.friction.class_name, "ellipse");
}

TEST(Vehicle, InstanceFrictionReplacesThatOfTheClass) {
  const VehicleSpec v =
      load_body(
          "<vehicle:class name='c'><dynamics class='differential'/><friction class='default'><mu>0.1</mu>"
          "<C_rr>0.2</C_rr></friction><init_vel>1 0 0</init_vel></vehicle:class>"
          "<vehicle name='a' class='c'><init_pose>0 0 0</init_pose>"
          "<friction class='default'><mu>0.5</mu></friction></vehicle>")
          .vehicles[0];
  EXPECT_EQ(v.class_name, "c");
  EXPECT_EQ(v.friction.find("mu")->text, "0.5");
  EXPECT_EQ(v.friction.find("C_rr"), nullptr);
  EXPECT_EQ(v.placement.velocity.vx, 1);
}

TEST(Vehicle, OdometryMultipliersAreDrawnPerInstance) {
  const WorldSpec world = load_body(
      "<vehicle:class name='c'><dynamics class='differential'/>"
      "<odometry x_multiplier='$f{1+0.02*randn()}' y_multiplier='1'/></vehicle:class>"
      "<vehicle class='c'><init_pose>0 0 0</init_pose></vehicle><vehicle class='c'><init_pose>0 0 "
      "0</init_pose></vehicle>");
  EXPECT_NE(*world.vehicles[0].odometry.x, *world.vehicles[1].odometry.x);
  EXPECT_EQ(*world.vehicles[0].odometry.y, 1);
  EXPECT_FALSE(world.vehicles[0].odometry.yaw);
}

TEST(Vehicle, SensorsComeFromIncludesThenInstanceThenClass) {
  TempFolder folder;
  folder.write(
      "definitions/s.sensor.xml",
      "<sensor class='laser' name='${sensor_name|laser1}'><pose_3d>${sensor_x|1} 0 0.5 0 0 0</pose_3d>"
      "<label>/${PARENT_NAME}/${NAME}</label></sensor>");
  folder.write("definitions/two.xml",
               "<include file='s.sensor.xml' sensor_name='${first}'/>"
               "<if condition='${with_second|0}'><include file='s.sensor.xml' sensor_name='n2'/></if>");
  const std::string path = folder.write(
      "worlds/w.xml",
      world_of(
          "<vehicle:class name='c'><dynamics class='differential'/><sensor class='laser'/></vehicle:class>"
          "<vehicle name='r1' class='c'><init_pose>0 0 0</init_pose><sensor class='imu'/>"
          "<include file='../definitions/s.sensor.xml' sensor_x='0.2'/>"
          "<include file='../definitions/two.xml' first='n1' with_second='1'/></vehicle>"));
  const VehicleSpec v = load_world(path, {}).vehicles.at(0);
  std::vector<std::string> names;
  for (const SensorSpec& sensor : v.sensors) names.push_back(sensor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"laser1", "n1", "n2", "imu4", "laser5"}));
  EXPECT_EQ(v.sensors[0].params.find("pose_3d")->text, "0.2 0 0.5 0 0 0");
  EXPECT_EQ(v.sensors[1].params.find("label")->text, "/r1/n1");
}

TEST(Vehicle, NamesResolvePerInstanceInsideAClassFromAFile) {
  TempFolder folder;
  folder.write(
      "definitions/c.xml",
      "<vehicle:class name='c'><dynamics class='differential'/>"
      "<sensor class='laser' name='l'><label>${PARENT_NAME}/${NAME}</label></sensor></vehicle:class>");
  const std::string path = folder.write(
      "worlds/w.xml", world_of("<include file='../definitions/c.xml'/>"
                               "<vehicle name='a' class='c'><init_pose>0 0 0</init_pose></vehicle>"
                               "<vehicle name='b' class='c'><init_pose>0 0 0</init_pose></vehicle>"));
  const WorldSpec world = load_world(path, {});
  EXPECT_EQ(world.vehicles[0].sensors[0].params.find("label")->text, "a/l");
  EXPECT_EQ(world.vehicles[1].sensors[0].params.find("label")->text, "b/l");
}

TEST(Vehicle, IfsWorkInsideAnInstance) {
  const std::string inside =
      "<if condition='1'><sensor class='laser'/></if><if condition='0'><sensor class='imu'/></if>";
  EXPECT_EQ(load_vehicle(inside).sensors.size(), 1u);
}

TEST(Vehicle, AutomaticNamesSkipThoseTaken) {
  const WorldSpec world =
      load_body(vehicle("", " name='veh1'") + vehicle("") + vehicle("") + "<for var='i' from='7' to='8'>" +
                vehicle("", " name='r${i}'") + "</for>");
  std::vector<std::string> names;
  for (const VehicleSpec& v : world.vehicles) names.push_back(v.name);
  EXPECT_EQ(names, (std::vector<std::string>{"veh1", "veh2", "veh3", "r7", "r8"}));
}

TEST(Vehicle, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"<vehicle><init_pose>0 0 0</init_pose></vehicle>", ":2:1: <vehicle> 'veh1' has no <dynamics>"},
      {"<vehicle><dynamics/><init_pose>0 0 0</init_pose></vehicle>", ":2:10: <dynamics> has no class"},
      {"<vehicle><dynamics class='d'/></vehicle>",
       ":2:1: <vehicle> 'veh1' has no <init_pose> and no <init_pose3d>"},
      {"<vehicle class='robto'/><vehicle:class name='robot'/>", "the vehicle class 'robto' is not defined"},
      {"<vehicle:class name='robot'/><vehicle class='robto'/>", "did you mean 'robot'?"},
      {"<vehicle:class/>", "<vehicle:class> has no name"},
      {vehicle("", " name='a'") + vehicle("", " name='a'"), "the name 'a' is given to a second <vehicle>"},
      {vehicle("", " name=''"), "<vehicle> has no name"},
      {vehicle("<friction/>"), "<friction> has no class"},
      {vehicle("<sensor/>"), "<sensor> has no class"},
      {vehicle("<sensor class='laser' name='a'/><sensor class='imu' name='a'/>"),
       "given to a second <sensor>"},
      {vehicle("<animation type='keyframes'/>"), "<animation> has no <time_pose>"},
      {"<vehicle><init_pose>0 0 0</init_pose><dynamics class='d'><controller/></dynamics></vehicle>",
       "<controller> has no class"},
      {"<vehicle><init_pose>0 0 0</init_pose><dynamics class='d'><l_wheel/><l_wheel/></dynamics></vehicle>",
       "<l_wheel> is given twice"},
  };
  for (const auto& [body, expected] : cases) EXPECT_TRUE(has(error_of(body), expected)) << body;
}

TEST(Vehicle, TagsWithoutEffectAreCheckedAndSaidOnce) {
  const WorldSpec world = load_body(vehicle(
      "<visual><model_uri>http://example.org/a.dae</model_uri><model_scale>2</model_scale></visual><visual/>"
      "<publish><publish_pose_topic>/${NAME}/pose</publish_pose_topic></publish><log_path>logs/</log_path>"
      "<auto_start_recording>true</auto_start_recording>"
      "<sensor "
      "class='laser'><viz_visiblePlane>true</viz_visiblePlane><publish><publish_topic>/a</publish_topic>"
      "</publish></sensor>"));
  const std::string warnings = joined(world.warnings);
  for (const char* tag : {"log_path", "auto_start_recording", "viz_visiblePlane"})
    EXPECT_TRUE(has(warnings, "<" + std::string(tag) + "> has no effect")) << warnings;
  EXPECT_EQ(world.warnings.size(), 4u) << warnings;
  EXPECT_TRUE(has(warnings,
                  "'http://example.org/a.dae' is not drawn, being neither in a mapped folder nor in "
                  "the cache: `mvsim-gym fetch"));
  EXPECT_EQ(world.vehicles[0].sensors[0].params.find("viz_visiblePlane"), nullptr);
}

TEST(Vehicle, MisspeltTagsAreWarnedOf) {
  const std::string warnings = joined(
      load_body(
          "<vehicle><init_pos>0</init_pos><init_pose>0 0 0</init_pose><dynamics class='d'>"
          "<l_wheel diametre='1'/><chassis><shap/></chassis></dynamics><odometry x_mult='1'/></vehicle>")
          .warnings);
  EXPECT_TRUE(has(warnings, "<init_pos> is unknown in <vehicle> and ignored, did you mean 'init_pose'?"));
  EXPECT_TRUE(
      has(warnings, "the attribute diametre is unknown in <l_wheel> and ignored, did you mean 'diameter'?"));
  EXPECT_TRUE(has(warnings, "<shap> is unknown in <chassis> and ignored, did you mean 'shape'?"));
  EXPECT_TRUE(has(warnings, "the attribute x_mult is unknown in <odometry>"));
}

}  // namespace
}  // namespace mvsim::vehicle_test
