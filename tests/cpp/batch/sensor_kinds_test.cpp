// A sensor of each kind (tests/cpp/sensor/test_sensors.cpp): registered by one line, it is read through a
// Simulation, kept in snapshots, told apart by the fingerprint and observed by an environment.
#include <gtest/gtest.h>

#include <cstring>

#include "batch/batch_test_util.h"
#include "sim/worlds.h"
#include "task/task.h"
#include "views/draw_views.h"

namespace mvsim::test::sensor_kinds_test {
namespace {

using namespace testing;

enum { kMotion, kLaser, kRanger, kPlain };

std::string sensors(const std::string& motion = "", const std::string& plain = "") {
  return "<sensor class='test_motion' name='motion'><sensor_period>0.05</sensor_period>" + motion +
         "</sensor><sensor class='laser' name='laser'><nrays>5</nrays><sensor_period>0.05</sensor_period>"
         "</sensor><sensor class='test_ranger' name='ranger'><sensor_period>0.05</sensor_period></sensor>"
         "<sensor class='test_plain' name='plain'><sensor_period>0.05</sensor_period>" +
         plain + "</sensor>";
}

std::string world(const std::string& of = sensors()) {
  return "<simul_timestep>0.01</simul_timestep><block name='w'><static>true</static><init_pose>8 0 "
         "0</init_pose>"
         "<shape><pt>0 -1</pt><pt>0 1</pt><pt>.2 1</pt><pt>.2 -1</pt></shape></block>" +
         bot("r", kIdeal, of + kOrigin);
}

std::shared_ptr<const Model> drawn_model(const std::string& body) {
  return model_of(body, {.make_drawer = draw_by(CameraBackend::kRays)});
}

std::vector<double> motion_of(const Simulation& sim) {
  const std::span<const std::byte> bytes = reading_of(sim, kMotion);
  std::vector<double> out(bytes.size() / sizeof(double));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::vector<uint8_t> latest_picture(const Simulation& sim) {
  std::vector<uint8_t> out(18);
  const ViewFrame frame{&sim.model(), view_recipe_of(sim, kPlain).data(),
                        reinterpret_cast<std::byte*>(out.data())};
  draw_views(kPlain, 0, {&frame, 1});
  return out;
}

TEST(SensorKinds, AStateSensorSeesPoseTwistAndAcceleration) {
  Simulation sim(drawn_model(world()), 1);
  sim.set_twist(0, 0.5, 0);
  sim.run(0.06);
  EXPECT_EQ(sim.state().sensors.at(kMotion).count, 1u);
  std::vector<double> reading = motion_of(sim);
  ASSERT_EQ(reading.size(), 5u);
  EXPECT_NEAR(reading[0], 0.06, 1e-12);
  EXPECT_EQ(reading[1], vehicle_pose(sim, 0).x);
  EXPECT_EQ(reading[2], vehicle_world_twist(sim, 0).vx);
  EXPECT_NEAR(reading[3], sim.state().vehicles.at(0).acceleration.x, 1e-12);
  EXPECT_EQ(reading[4], 0);
  EXPECT_EQ(sim.reading_valid(kMotion).size(), 5u);
  sim.run(0.05);
  EXPECT_EQ(motion_of(sim)[4], 1) << "it remembers";
  sim.read_now(kMotion, reading.data(), nullptr);
  EXPECT_EQ(reading[4], 2);
  EXPECT_EQ(motion_of(sim)[4], 1) << "a fresh reading is not kept";
  sim.reset(1, 0);
  EXPECT_EQ(motion_of(sim), std::vector<double>(5));
  EXPECT_THROW((void)sim.reading(kMotion), Error) << "no values of float32";
}

TEST(SensorKinds, ARaySensorSeesTheScene) {
  Simulation sim(drawn_model(world()), 1);
  sim.run(0.06);
  ASSERT_EQ(sim.reading(kRanger).size(), 1u);
  EXPECT_NEAR(sim.reading(kRanger)[0], 8, 1e-5);
  EXPECT_EQ(sim.reading_valid(kRanger)[0], 1);
  EXPECT_EQ(sim.reading(kLaser).size(), 5u);
  EXPECT_NEAR(sim.reading(kLaser)[2], 8, 0.1);
}

TEST(SensorKinds, AViewSensorFillsItsPicture) {
  Simulation sim(drawn_model(world()), 1);
  std::vector<uint8_t> now(18);
  sim.read_now(kPlain, now.data(), nullptr);
  EXPECT_EQ(now, std::vector<uint8_t>(18, 100));
  EXPECT_EQ(latest_picture(sim), std::vector<uint8_t>(18, 0)) << "before the first";
  sim.set_param(sim.model().sensors[kPlain].params, 7);
  sim.run(0.06);
  EXPECT_EQ(sim.state().sensors.at(kPlain).count, 1u);
  EXPECT_EQ(latest_picture(sim), std::vector<uint8_t>(18, 7));
  EXPECT_TRUE(reading_of(sim, kPlain).empty()) << "no pixel in a state";
}

TEST(SensorKinds, SnapshotsHoldReadingsAndMemoryAndDrawPicturesAgain) {
  const auto model = drawn_model(world(sensors("<std_noise>1</std_noise>", "<grain>true</grain>")));
  Simulation a(model, 1), b(model, 2);
  a.set_twist(0, 0.3, 0.2);
  a.run(0.17);
  b.restore(a.snapshot());
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(motion_of(a), motion_of(b)) << i;
    ASSERT_EQ(latest_picture(a), latest_picture(b)) << i;
    ASSERT_EQ(a.reading(kRanger)[0], b.reading(kRanger)[0]) << i;
    a.run(0.05);
    b.run(0.05);
  }
  const std::vector<uint8_t> picture = latest_picture(a);
  EXPECT_EQ(picture, latest_picture(a)) << "drawn twice";
  a.run(0.05);
  EXPECT_NE(picture, latest_picture(a)) << "each picture has noise of its own";
}

TEST(SensorKinds, FingerprintsTellThemApart) {
  const auto of = [](const std::string& motion, const std::string& plain) {
    return drawn_model(world(sensors(motion, plain)))->fingerprint;
  };
  EXPECT_EQ(of("", ""), of("", ""));
  EXPECT_NE(of("", ""), of("<std_noise>1</std_noise>", ""));
  EXPECT_NE(of("", ""), of("<pose>1 0 0</pose>", ""));
  EXPECT_NE(of("", ""), of("", "<gray>7</gray>"));
}

// A robot with sensors of each kind, seen by an environment.
EnvSpec env_of(const std::string& observations) {
  const std::string folder = ::testing::TempDir();
  const std::string path = folder + "/sensor_kinds.world.xml";
  std::ofstream(path) << "<mvsim_world>" << world() << "</mvsim_world>";
  return load_env_text("<mvsim_env id='t' world='" + path +
                           "' control_period='0.1'><agent vehicle='r'><action class='twist' vx='0 0.5' "
                           "omega='-1 1'/>" +
                           observations + "</agent></mvsim_env>",
                       folder + "/sensor_kinds.env.xml", load_options());
}

std::string error_of(const std::string& observations) {
  try {
    (void)compile_task(env_of(observations), load_options());
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "";
}

template <typename T>
std::vector<T> row(Batch& batch, const std::string& key) {
  const std::span<T> values = batch.observation_buffer(observation_index(batch, key)).values<T>();
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / batch.num_envs())};
}

TEST(SensorKinds, AnEnvironmentObservesThemAsTheirReadingsAre) {
  Batch batch(env_of("<observe name='motion' class='reading' sensor='motion'/>"
                     "<observe name='due' class='reading' sensor='motion' timing='sensor'/>"
                     "<observe name='ranger' class='reading' sensor='ranger'/>"
                     "<observe name='scan' class='scan'/>"
                     "<observe name='plain' class='reading' sensor='plain'/>"
                     "<observe name='late' class='reading' sensor='plain' timing='sensor' history='2'/>"),
              options(3, 2));
  batch.reset();
  const auto spec = [&](const std::string& key) {
    return batch.observations()[observation_index(batch, key)];
  };
  EXPECT_EQ(spec("motion").dtype, DType::kFloat64);
  EXPECT_EQ(spec("motion").low, std::vector<float>(5, -1000));
  EXPECT_EQ(spec("ranger").dtype, DType::kFloat32);
  EXPECT_EQ(spec("scan").shape, std::vector<size_t>{5}) << "the first lidar";
  EXPECT_EQ(spec("plain").dtype, DType::kUint8);
  EXPECT_EQ(spec("plain").shape, (std::vector<size_t>{2, 3, 3}));
  EXPECT_EQ(spec("late").shape, (std::vector<size_t>{2, 2, 3, 3}));
  EXPECT_EQ(row<double>(batch, "due"), std::vector<double>(5));
  EXPECT_EQ(row<uint8_t>(batch, "plain"), std::vector<uint8_t>(18, 100));
  EXPECT_EQ(row<uint8_t>(batch, "late"), std::vector<uint8_t>(36, 0)) << "none was due";
  for (int i = 0; i < 3; ++i) batch.step(std::vector<float>{1, 0, 1, 0, 1, 0});
  EXPECT_NEAR(row<double>(batch, "motion")[0], 0.3, 1e-12);
  EXPECT_EQ(row<double>(batch, "motion")[1], vehicle_pose(batch.simulation(0), 0).x);
  EXPECT_NEAR(row<double>(batch, "due")[0], 0.25, 0.051);
  EXPECT_NEAR(row<float>(batch, "ranger")[0], 8 - vehicle_pose(batch.simulation(0), 0).x, 0.3);
  EXPECT_EQ(row<uint8_t>(batch, "late"), std::vector<uint8_t>(36, 100));
}

TEST(SensorKinds, AnEnvironmentSaysWhatItCannotObserve) {
  EXPECT_TRUE(has(error_of("<observe class='reading'/>"), "expected the attribute 'sensor'"));
  EXPECT_TRUE(has(error_of("<observe class='reading' sensor='plan'/>"), "did you mean 'plain'?"));
  EXPECT_TRUE(has(error_of("<observe class='scan' sensor='motion'/>"), "a sensor without rays"));
  EXPECT_TRUE(has(error_of("<observe class='scan' sensor='plain'/>"), "or a camera with depth"));
}

}  // namespace
}  // namespace mvsim::test::sensor_kinds_test
