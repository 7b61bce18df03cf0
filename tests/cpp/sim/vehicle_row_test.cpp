// Wheels that make their step at once move a vehicle as wheels that make it one by one.
#include "sim/vehicle_row.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/state_hash.h"
#include "sim/worlds.h"
#include "source_dir.h"

namespace mvsim::test::vehicle_row_test {
namespace {

// An observer asks for the details of each wheel, so the wheels make their steps one by one.
class Watcher final : public StepObserver {
 public:
  void after_step(const Simulation&, const StepDetails&, double) override { ++steps; }
  int steps = 0;
};

void drive_at_random(Simulation& sim, RandomStream& random) {
  for (size_t v = 0; v < sim.model().vehicles.size(); ++v) {
    std::vector<double> command;
    for (const CommandInfo& info : sim.model().vehicles[v].controller->command())
      command.push_back(info.unit == "N m" ? random.uniform(-2, 2) : random.uniform(-0.6, 1));
    sim.set_command(v, command);
  }
}

uint64_t hash_of(const Simulation& sim) {
  Hash hash;
  mix_state(sim, hash);
  return hash.value();
}

bool has_row(const Model& model, size_t vehicle) {
  std::vector<WheelInput> inputs(model.vehicles[vehicle].wheels.size());
  return row_of(model.vehicles[vehicle], inputs).has_value();
}

// Some vehicle of the model has a row.
void expect_same_drive(const std::shared_ptr<const Model>& model) {
  size_t rows = 0;
  for (size_t v = 0; v < model->vehicles.size(); ++v) rows += has_row(*model, v) ? 1 : 0;
  ASSERT_GT(rows, 0);
  Simulation sim(model, 1), watched(model, 1);
  Watcher watcher;
  watched.add_observer(watcher);
  RandomStream random(4, 0, StreamPurpose::kActionNoise), same(4, 0, StreamPurpose::kActionNoise);
  for (int i = 0; i < 4000; ++i) {
    if (i % 40 == 0) {
      drive_at_random(sim, random);
      drive_at_random(watched, same);
    }
    sim.step();
    watched.step();
    ASSERT_EQ(hash_of(sim), hash_of(watched)) << "step " << i;
  }
  EXPECT_EQ(watcher.steps, 4000);
}

TEST(VehicleRow, LeavesAllBitsOfEveryDynamicsAndTire) {
  size_t rows = 0;
  for (const Dynamics* dynamics : dynamics_classes())
    for (const TireModel* tire : tire_models()) {
      const auto model = model_of(vehicle(std::string(dynamics->name()), "",
                                          "<friction class='" + std::string(tire->name()) + "'/>"));
      if (!has_row(*model, 0)) continue;
      ++rows;
      SCOPED_TRACE(std::string(dynamics->name()) + " with " + std::string(tire->name()));
      expect_same_drive(model);
    }
  EXPECT_GE(rows, 6);
}

// Servos, motors, delays, limits and transferred loads.
TEST(VehicleRow, LeavesAllBitsOfCarsWithAllTheirTags) {
  expect_same_drive(
      compile_world(load_world(source_dir() + "/tests/data/cars.world.xml", {}), CompileOptions()));
}

// A region with friction of its own, in which the vehicle starts. There wheels make their steps one by one.
TEST(VehicleRow, LeavesAllBitsOnGroundThatChanges) {
  expect_same_drive(
      model_of("<element class='property_region'><property_name>friction_mu</property_name>"
               "<value_double>0.2</value_double>"
               "<x_min>-0.5</x_min><x_max>0.5</x_max><y_min>-3</y_min><y_max>3</y_max></element>" +
               vehicle("differential_4_wheels", "", "<friction class='default'/>")));
}

}  // namespace
}  // namespace mvsim::test::vehicle_row_test
