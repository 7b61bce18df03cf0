// Facts that hold for sensors of every class: names, periods, stamps, noise, errors. Steps are of 5 ms where
// nothing else is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sensor/sensors.h"
#include "sim/worlds.h"

namespace mvsim::test::facts_test {
namespace {

std::string sensor(const std::string& more = "", const std::string& name = "l") {
  return "<sensor class='laser' name='" + name + "'><nrays>21</nrays>" + more + "</sensor>";
}

std::string world(const std::string& sensors, const std::string& timestep = "0.005") {
  return "<simul_timestep>" + timestep + "</simul_timestep>" + bot("r", kIdeal, sensors + kOrigin);
}

// The stamps of the first `count` readings.
std::vector<double> stamps(const std::string& text, size_t count) {
  Simulation sim(model_of(text), 1);
  std::vector<double> out;
  while (out.size() < count) {
    const uint32_t before = sim.state().sensors.at(0).count;
    sim.step();
    EXPECT_LE(sim.state().sensors.at(0).count, before + 1);
    if (sim.state().sensors.at(0).count > before) out.push_back(sim.state().sensors.at(0).stamp);
  }
  return out;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
}

TEST(SensorFacts, AClassIsNamedAndKnown) {
  EXPECT_TRUE(has(error_of_world(world("<sensor name='l'/>")), "class"));
  EXPECT_TRUE(has(error_of_world(world("<sensor class='lasr'/>")), "did you mean 'laser'?"));
}

TEST(SensorFacts, UnknownTagsAreWarnedOf) {
  const auto model = model_of(world(sensor("<rangstd>1</rangstd>")));
  ASSERT_EQ(model->warnings.size(), 1u);
  EXPECT_TRUE(has(model->warnings[0], "<rangstd> is unknown in <sensor> and ignored"));
}

TEST(SensorFacts, TheLastPoseOfTheFileCounts) {
  const auto mount = [](const std::string& more) {
    return model_of(world(sensor(more)))->sensors[0].sensor->mount();
  };
  EXPECT_EQ(mount("").z, 0.05);
  EXPECT_EQ(mount("<pose_3d>1 2 3 90 0 0</pose_3d><height>4</height>").z, 4);
  EXPECT_EQ(mount("<height>4</height><pose>1 2 90</pose>").z, 0);
  EXPECT_NEAR(mount("<pose_3d>1 2 3 90 0 0</pose_3d>").yaw, kPi / 2, 1e-15);
}

TEST(SensorFacts, ThePeriodIsATenthOfASecondUnlessSaid) {
  EXPECT_EQ(model_of(world(sensor()))->sensors[0].period, 0.1);
  EXPECT_EQ(model_of(world(sensor("<sensor_period>0.25</sensor_period>")))->sensors[0].period, 0.25);
}

TEST(SensorFacts, StampsAre0105And0205And0305) {
  expect_near(stamps(world(sensor()), 4), {0.105, 0.205, 0.305, 0.405});
}

// Readings at the first step at or after each multiple of the period.
TEST(SensorFacts, APeriodBetweenStepsKeepsItsMeanRate) {
  expect_near(stamps(world(sensor("<sensor_period>0.012</sensor_period>")), 5),
              {0.02, 0.03, 0.045, 0.055, 0.065});
}

TEST(SensorFacts, APeriodBelowTheStepGivesOneReadingAStepFromTheSecondOn) {
  expect_near(stamps(world(sensor("<sensor_period>0.005</sensor_period>")), 3), {0.01, 0.015, 0.02});
  expect_near(stamps(world(sensor("<sensor_period>0.001</sensor_period>")), 3), {0.01, 0.015, 0.02});
}

TEST(SensorFacts, TheTimestepFollowsTheShortestPeriod) {
  EXPECT_EQ(model_of(world(sensor("<sensor_period>0.002</sensor_period>"), "0"))->timestep, 0.002);
  EXPECT_EQ(model_of(world(sensor(), "0"))->timestep, 0.005);
  const auto late = model_of(world(sensor("<sensor_period>0.002</sensor_period>")));
  ASSERT_EQ(late->warnings.size(), 1u);
  EXPECT_TRUE(has(late->warnings[0], "is read once a step, at 200 Hz in place of 500 Hz"));
}

TEST(SensorFacts, UnnamedSensorsAreCountedByVehicle) {
  const std::string unnamed = "<sensor class='laser'/>";
  const auto model = model_of(world(unnamed + unnamed) + bot("s", kIdeal, unnamed + kOrigin));
  std::vector<std::string> names;
  for (const SensorModel& s : model->sensors) names.push_back(s.name);
  EXPECT_EQ(names, (std::vector<std::string>{"laser1", "laser2", "laser1"}));
}

// The stream of a sensor follows from its index alone: others may be read or not.
TEST(SensorFacts, NoiseStreamsAreIndependentByIndex) {
  const std::string noisy =
      "<range_std_noise>1</range_std_noise><max_range>50</max_range><sensor_period>0.01</sensor_period>";
  const std::string wall =
      "<block name='w'><static>true</static><init_pose>20 0 0</init_pose>"
      "<shape><pt>0 -90</pt><pt>0 90</pt><pt>1 90</pt><pt>1 -90</pt></shape></block>";
  const auto model = model_of(wall + world(sensor(noisy, "a") + sensor(noisy, "b")));
  const auto readings = [&](size_t which, bool other, uint64_t key, uint32_t episode) {
    Simulation sim(model, key, episode);
    sim.set_sensor_scheduled(1 - which, other);
    std::vector<float> out;
    for (int i = 0; i < 10; ++i) {
      sim.step();
      out.insert(out.end(), sim.reading(which).begin(), sim.reading(which).end());
    }
    return out;
  };
  const std::vector<float> first = readings(0, true, 1, 0), second = readings(1, true, 1, 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, readings(0, false, 1, 0)) << "one seed repeats, whoever else is read";
  EXPECT_EQ(second, readings(1, false, 1, 0));
  EXPECT_NE(first, readings(0, true, 2, 0));
  EXPECT_NE(first, readings(0, true, 1, 1));
}

}  // namespace
}  // namespace mvsim::test::facts_test
