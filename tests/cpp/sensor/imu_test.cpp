// The class `imu`: what it measures at rest, on slopes and in curves, its noise, its orientation.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "sensor/sensor.h"
#include "sim/worlds.h"

namespace mvsim::test::imu_test {
namespace {

constexpr const char* kQuiet =
    "<angular_velocity_white_noise_std_noise>0</angular_velocity_white_noise_std_noise>"
    "<linear_acceleration_white_noise_std_noise>0</linear_acceleration_white_noise_std_noise>"
    "<orientation_std_noise>0</orientation_std_noise>";

std::string imu(const std::string& more) {
  return "<sensor class='imu'><sensor_period>0.005</sensor_period>" + more + "</sensor>";
}

std::string world(const std::string& more, const std::string& globals = "",
                  const std::string& pose = kOrigin) {
  return "<simul_timestep>0.005</simul_timestep>" + globals + bot("r", kIdeal, imu(more) + pose);
}

std::vector<double> reading(const Simulation& sim) {
  const std::span<const std::byte> bytes = reading_of(sim, 0);
  std::vector<double> out(bytes.size() / sizeof(double));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

// The readings of one value at rest, one a step.
std::vector<double> series(Simulation& sim, size_t value, int count) {
  std::vector<double> out;
  sim.step();  // the first step makes no reading
  for (int i = 0; i < count; ++i) {
    sim.step();
    out.push_back(reading(sim)[value]);
  }
  return out;
}

double deviation(const std::vector<double>& values, double mean) {
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// The bias of the gyro after `seconds`, for each of many seeds.
double walked(const std::string& period, double seconds) {
  const auto model =
      model_of("<simul_timestep>0.01</simul_timestep>" +
               bot("r", kIdeal,
                   "<sensor class='imu'><sensor_period>" + period + "</sensor_period>" + kQuiet +
                       "<angular_velocity_random_walk_std_noise>0.1"
                       "</angular_velocity_random_walk_std_noise></sensor>" +
                       std::string(kOrigin)));
  std::vector<double> out;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Simulation sim(model, seed);
    sim.run(seconds);
    out.push_back(reading(sim)[2]);
  }
  return deviation(out, 0);
}

TEST(Imu, AtRestItFeelsGravityAlone) {
  Simulation sim(model_of(world(kQuiet)), 1);
  sim.run(0.1);
  expect_near(reading(sim), {0, 0, 0, 0, 0, 9.81}, 1e-9);
  Simulation moon(model_of(world(kQuiet, "<gravity>3.7</gravity>")), 1);
  moon.run(0.1);
  expect_near(reading(moon), {0, 0, 0, 0, 0, 3.7}, 1e-9);
  EXPECT_EQ(sim.model().sensors[0].name, "imu1");
}

TEST(Imu, OnASlopeItFeelsGravityAlongIt) {
  Simulation sim(model_of(world(kQuiet)), 1);
  Pose3 pose{.pitch = 0.2};
  const BodyMotion motion{.pose = pose, .gravity = 9.81};
  double memory[7] = {}, out[6];
  const double params[5] = {};
  const auto& sensor = dynamic_cast<const StateSensor&>(*sim.model().sensors[0].sensor);
  sensor.read({params, memory, nullptr}, motion, reinterpret_cast<std::byte*>(out), nullptr);
  expect_near({out, out + 6}, {0, 0, 0, -9.81 * std::sin(0.2), 0, 9.81 * std::cos(0.2)}, 1e-12);
}

TEST(Imu, InALeftTurnItFeelsAPullToTheLeft) {
  Simulation sim(model_of(world(kQuiet)), 1);
  sim.set_twist(0, 0.5, 0.4);
  sim.run(2);
  expect_near(reading(sim), {0, 0, 0.4, 0, 0.5 * 0.4, 9.81}, 2e-3);
}

TEST(Imu, ItsMountTurnsWhatItMeasures) {
  Simulation sim(model_of(world(std::string(kQuiet) + "<pose_3d>0.3 0 0 90 0 0</pose_3d>")), 1);
  sim.set_twist(0, 0.5, 0.4);
  sim.run(2);
  expect_near(reading(sim), {0, 0, 0.4, 0.5 * 0.4, 0, 9.81}, 2e-3);
  Simulation upside_down(model_of(world(std::string(kQuiet) + "<pose_3d>0 0 0 0 0 180</pose_3d>")), 1);
  upside_down.run(0.1);
  expect_near(reading(upside_down), {0, 0, 0, 0, 0, -9.81}, 1e-9);
}

TEST(Imu, WhiteNoiseHasItsDeviation) {
  Simulation sim(model_of(world("<angular_velocity_white_noise_std_noise>0.05"
                                "</angular_velocity_white_noise_std_noise>"
                                "<linear_acceleration_std_noise>0.2</linear_acceleration_std_noise>")),
                 1);
  const std::vector<double> rates = series(sim, 2, 10'000);
  EXPECT_NEAR(deviation(rates, 0), 0.05, 0.005);
  double sum = 0;
  for (const double rate : rates) sum += rate;
  EXPECT_NEAR(sum / 10'000, 0, 0.002);
  EXPECT_NEAR(deviation(series(sim, 5, 10'000), 9.81), 0.2, 0.02);
}

// of white noise the deviation of the mean falls with the root of what is averaged: a slope of -1/2
TEST(Imu, WhiteNoiseAveragesOut) {
  Simulation sim(
      model_of(world("<angular_velocity_white_noise_std_noise>1</angular_velocity_white_noise_std_noise>")),
      1);
  const std::vector<double> rates = series(sim, 2, 20'000);
  std::vector<double> means;
  for (size_t i = 0; i < rates.size(); i += 100) {
    double sum = 0;
    for (size_t k = i; k < i + 100; ++k) sum += rates[k];
    means.push_back(sum / 100);
  }
  EXPECT_NEAR(deviation(means, 0), 0.1, 0.015);
}

TEST(Imu, TheBiasWalksAlikeAtEveryPeriod) {
  EXPECT_NEAR(walked("0.01", 10), 0.1 * std::sqrt(10), 0.035);
  EXPECT_NEAR(walked("0.1", 10), 0.1 * std::sqrt(10), 0.035);
}

TEST(Imu, AResetClearsTheBias) {
  Simulation sim(model_of(world(std::string(kQuiet) + "<linear_acceleration_random_walk_std_noise>5"
                                                      "</linear_acceleration_random_walk_std_noise>")),
                 1);
  sim.run(1);
  EXPECT_GT(std::fabs(reading(sim)[3]), 0.1);
  sim.reset(1, 1);
  for (const double value : sim.state().memory) EXPECT_EQ(value, 0);
}

TEST(Imu, OrientationIsAQuaternionToTheWorld) {
  const std::string measured = std::string(kQuiet) + "<measure_orientation>true</measure_orientation>";
  Simulation sim(model_of(world(measured, "", "<init_pose>0 0 90</init_pose>")), 1);
  sim.run(0.1);
  const double half = std::sqrt(0.5);
  expect_near(reading(sim), {0, 0, 0, 0, 0, 9.81, half, 0, 0, half}, 1e-7);
  // a mount that looks down: about z, then about y
  Simulation down(
      model_of(world(measured + "<pose_3d>0 0 0 0 90 0</pose_3d>", "", "<init_pose>0 0 90</init_pose>")), 1);
  down.run(0.1);
  expect_near(reading(down), {0, 0, 0, -9.81, 0, 0, 0.5, -0.5, 0.5, 0.5}, 1e-7);
}

TEST(Imu, OrientationNoiseTurnsAboutEveryAxis) {
  Simulation sim(model_of(world("<measure_orientation>1</measure_orientation>"
                                "<orientation_std_noise>0.02</orientation_std_noise>")),
                 1);
  for (const size_t axis : {7, 8, 9}) EXPECT_NEAR(2 * deviation(series(sim, axis, 5'000), 0), 0.02, 0.002);
}

TEST(Imu, OfANameAndItsAliasTheLaterCounts) {
  const auto nominal = [](const std::string& more) {
    return model_of(world(more))->sensors[0].sensor->nominal_params()[0];
  };
  const std::string name =
                        "<angular_velocity_white_noise_std_noise>1</angular_velocity_white_noise_std_noise>",
                    alias = "<angular_velocity_std_noise>2</angular_velocity_std_noise>";
  EXPECT_EQ(nominal(name + alias), 2);
  EXPECT_EQ(nominal(alias + name), 1);
  EXPECT_EQ(nominal(""), 2e-4);
  EXPECT_TRUE(model_of(world(alias))->warnings.empty());
}

TEST(Imu, ANegativeNoiseIsRefused) {
  EXPECT_TRUE(
      has(error_of_world(world("<orientation_std_noise>-1</orientation_std_noise>")), "expected >= 0"));
  EXPECT_TRUE(has(error_of_world(world("<measure_orientation>maybe</measure_orientation>")),
                  "<measure_orientation>"));
}

}  // namespace
}  // namespace mvsim::test::imu_test
