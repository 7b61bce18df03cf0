// Tags of sensors: names, places, periods, checks; sensors that stand in the world; the
// definition files that come with the package.
#include <algorithm>
#include <array>
#include <cstring>

#include "model/compile.h"
#include "sensor/sensors.h"
#include "sim/sense.h"
#include "sim/simulation.h"
#include "source_dir.h"
#include "worldfile/world_text.h"

namespace mvsim::definitions_test {
namespace {

std::shared_ptr<const Model> model_of(const std::string& body) {
  const TempFolder folder;
  WorldLoadOptions options = options_with(source_dir());
  options.sensor_prefixes = sensor_prefixes();
  return compile_world(load_world_text(world_of(body), folder.path(), options));
}

std::string vehicle_with(const std::string& sensors) {
  return "<vehicle name='r'><dynamics class='differential'/><init_pose>0 0 0</init_pose>" + sensors +
         "</vehicle>";
}

std::string error(const std::string& body) {
  try {
    model_of(body);
  } catch (const WorldFileError& e) {
    EXPECT_GT(e.where().line, 0);
    return e.what();
  }
  return "";
}

TEST(SensorTags, NamePlaceAndPeriod) {
  const auto model = model_of(vehicle_with(
      "<sensor class='camera'><pose_3d>1 2 3 0 0 0</pose_3d><sensor_period>0.25</sensor_period></sensor>"
      "<sensor class='camera'/><sensor class='rgbd_camera'/><sensor class='laser'/>"));
  ASSERT_EQ(model->sensors.size(), 4u);
  EXPECT_EQ(model->sensors[0].name, "camera1");
  EXPECT_EQ(model->sensors[0].sensor->mount().z, 3);
  EXPECT_EQ(model->sensors[0].period, 0.25);
  EXPECT_EQ(model->sensors[1].period, 0.1);  // fact 3
  EXPECT_EQ(model->sensors[2].name, "camera3");
  EXPECT_EQ(model->sensors[3].name, "laser4");
  EXPECT_EQ(joined(model->warnings), "");
}

TEST(SensorTags, ThoseOfVehiclesCountInTheTimeStepAndStandaloneOnesDoNot) {
  const std::string fast = "<sensor class='imu'><sensor_period>0.002</sensor_period></sensor>";
  EXPECT_EQ(model_of(vehicle_with(fast))->timestep, 0.002);
  const auto model = model_of(fast + "<sensor class='laser'/>" + vehicle_with("<sensor class='laser'/>"));
  EXPECT_EQ(model->timestep, 0.005);
  ASSERT_EQ(model->sensors.size(), 3u);
  EXPECT_FALSE(model->sensors[0].is_standalone());
  EXPECT_EQ(model->sensors[1].name, "imu0");
  EXPECT_EQ(model->sensors[2].class_name, "laser");
  EXPECT_TRUE(model->sensors[2].is_standalone());
  EXPECT_EQ(model->sensors[2].sensor->mount().z, 0.05);
  ASSERT_EQ(model->warnings.size(), 1u);
  EXPECT_NE(model->warnings[0].find("sensor 'imu0' is read once a step, at 200 Hz in place of 500 Hz"),
            std::string::npos);
}

// They read where they stand: a vehicle that passes comes into a lidar's view (fact 41).
TEST(SensorTags, StandaloneSensorsRead) {
  const auto model = model_of(
      "<sensor class='laser'><pose>2 0 180</pose><nrays>3</nrays></sensor>"
      "<sensor class='imu'/>" +
      vehicle_with(""));
  Simulation sim(model, 1);
  sim.run(0.11);
  double front = 0;
  for (const Vec2 p : model->vehicles[0].chassis.outline) front = std::max(front, p.x);
  EXPECT_NEAR(sim.reading(0)[1], 2 - front, 0.05);
  EXPECT_EQ(sim.reading_valid(0)[1], 1);
  std::array<double, 6> imu{};
  std::memcpy(imu.data(), reading_of(sim, 1).data(), sizeof imu);
  EXPECT_NEAR(imu[5], 9.81, 0.2);
}

TEST(SensorTags, TheirValuesAreChecked) {
  EXPECT_TRUE(has(error(vehicle_with("<sensor class='cammera'/>")), "did you mean 'camera'?"));
  EXPECT_TRUE(has(error("<sensor class='lidar4d'/>"), "did you mean 'lidar3d'?"));
  EXPECT_TRUE(has(error("<sensor/>"), "class"));
  EXPECT_TRUE(has(error(vehicle_with("<sensor class='camera'><ncols>x</ncols></sensor>")), "ncols"));
  EXPECT_TRUE(has(error(vehicle_with("<sensor class='imu'><orientation_std_noise>-1</orientation_std_noise>"
                                     "</sensor>")),
                  "expected >= 0"));
  const std::string lidar = "<sensor class='lidar3d'><vert_nrays>3</vert_nrays><vertical_ray_angles>";
  EXPECT_EQ(error(lidar + "2 0 -1</vertical_ray_angles></sensor>"), "");
  EXPECT_TRUE(has(error(lidar + "2 0</vertical_ray_angles></sensor>"), "expected 3 different ones"));
  EXPECT_TRUE(has(error(lidar + "2 0 0</vertical_ray_angles></sensor>"), "one of them twice"));
  EXPECT_TRUE(
      has(joined(model_of("<sensor class='gnss'><horizontal_noise>1</horizontal_noise></sensor>")->warnings),
          "<horizontal_noise> is unknown"));
}

TEST(SensorTags, IgnoreParentBodyIsOfLasersIn3D) {
  const std::string ignores = "<ignore_parent_body>true</ignore_parent_body></sensor>";
  const auto warned = [&](const std::string& more) {
    return joined(model_of(vehicle_with("<sensor class='laser'>" + more + ignores))->warnings);
  };
  EXPECT_TRUE(has(warned(""), "without <raytrace_3d> a lidar never sees its own vehicle"));
  EXPECT_TRUE(has(warned("<raytrace_3d>false</raytrace_3d>"), "<ignore_parent_body> has no effect"));
  EXPECT_EQ(warned("<raytrace_3d>true</raytrace_3d>"), "");
  EXPECT_TRUE(has(error(vehicle_with("<sensor class='laser'><raytrace_3d>maybe</raytrace_3d></sensor>")),
                  "raytrace_3d"));
}

TEST(SensorTags, DefinitionFilesOfWhatHasReadingsHaveThem) {
  const auto model =
      model_of("<georeference><latitude>40</latitude><longitude>3</longitude></georeference>" +
               vehicle_with("<include file='definitions/imu.sensor.xml' sensor_measure_orientation='true'/>"
                            "<include file='definitions/gnss.sensor.xml' sensor_z='1.5'/>"));
  ASSERT_EQ(model->sensors.size(), 2u);
  EXPECT_EQ(model->sensors[0].name, "imu1");
  EXPECT_DOUBLE_EQ(model->sensors[0].period, 0.05);
  EXPECT_EQ(model->sensors[0].sensor->reading().size(), 10u);
  EXPECT_EQ(model->sensors[1].name, "gps1");
  EXPECT_DOUBLE_EQ(model->sensors[1].period, 1);
  EXPECT_EQ(model->sensors[1].sensor->mount().z, 1.5);
  EXPECT_EQ(joined(model->warnings), "");
}

struct Definition {
  const char *file, *class_name, *name;
  double period;
};

TEST(SensorTags, DefinitionFiles) {
  const std::vector<Definition> all{
      {"camera", "camera", "camera1", 0.1},           {"rgbd_camera", "rgbd_camera", "camera1", 0.1},
      {"velodyne-vlp16", "lidar3d", "lidar1", 0.1},   {"ouster-os1", "lidar3d", "lidar1", 0.1},
      {"helios-32-FOV-26", "lidar3d", "lidar1", 0.1}, {"helios-32-FOV-31", "lidar3d", "lidar1", 0.1},
      {"helios-32-FOV-70", "lidar3d", "lidar1", 0.1}, {"hesai-xt32", "lidar3d", "lidar1", 0.1}};
  for (const Definition& d : all) {
    const auto model = model_of(vehicle_with("<include file='definitions/" + std::string(d.file) +
                                             ".sensor.xml' sensor_x='1.5' sensor_publish='false'/>"));
    ASSERT_EQ(model->sensors.size(), 1u) << d.file;
    const SensorModel& sensor = model->sensors[0];
    EXPECT_EQ(sensor.class_name, d.class_name);
    EXPECT_EQ(sensor.name, d.name);
    EXPECT_DOUBLE_EQ(sensor.period, d.period) << d.file;
    EXPECT_EQ(sensor.sensor->mount().x, 1.5);
    EXPECT_EQ(joined(model->warnings), "");
  }
}

// Facts 23 and 24.
TEST(SensorTags, RotationSetsTheColumns) {
  const auto columns = [](const std::string& file, const std::string& parameter) {
    const TempFolder folder;
    const WorldSpec world =
        load_world_text(world_of("<include file='definitions/" + file + ".sensor.xml' " + parameter + "/>"),
                        folder.path(), options_with(source_dir()));
    return parse_int(*world.sensors.at(0).params.find(file == "rplidar-a2" ? "nrays" : "horz_nrays"));
  };
  EXPECT_EQ(columns("velodyne-vlp16", "sensor_rpm='300'"), 3616);
  EXPECT_EQ(columns("velodyne-vlp16", ""), 1808);
  EXPECT_EQ(columns("velodyne-vlp16", "sensor_rpm='1200'"), 904);
  EXPECT_EQ(columns("helios-32-FOV-70", "sensor_rate='20'"), 904);
  EXPECT_EQ(columns("hesai-xt32", ""), 2000);
  EXPECT_EQ(columns("hesai-xt32", "sensor_rate='20'"), 1000);
  EXPECT_EQ(columns("rplidar-a2", "sensor_hz='15'"), 533);
  EXPECT_EQ(columns("ouster-os1", ""), 1024);
}

}  // namespace
}  // namespace mvsim::definitions_test
