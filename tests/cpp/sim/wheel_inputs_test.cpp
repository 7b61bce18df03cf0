// Cached inputs of wheels: a change of any parameter counts from the next step on.
#include <gtest/gtest.h>

#include <optional>

#include "sim/state_hash.h"
#include "sim/worlds.h"
#include "source_dir.h"

namespace mvsim::test::wheel_inputs_test {
namespace {

// Some other value that the parameter may have.
std::optional<double> another(const ParamInfo& info, double value) {
  for (const double next : {1.05 * value + 0.01, 0.95 * value, value + 1, value - 1})
    if (next != value && in_range(info, next)) return next;
  return std::nullopt;
}

void steer(Simulation& sim, double angle) {
  for (size_t v = 0; v < sim.model().vehicles.size(); ++v) {
    const std::span<const CommandInfo> command = sim.model().vehicles[v].controller->command();
    std::vector<double> values(command.size(), 0.5);
    for (size_t k = 0; k < command.size(); ++k)
      if (command[k].unit != "m/s") values[k] = angle;
    sim.set_command(v, values);
  }
}

uint64_t hash_of(const Simulation& sim) {
  Hash hash;
  mix_state(sim, hash);
  return hash.value();
}

void expect_that_changes_count(const std::shared_ptr<const Model>& model) {
  Simulation sim(model, 1);
  size_t changed = 0;
  for (size_t index = 0; index < model->params.size(); ++index) {
    const ParamEntry& entry = model->params[index];
    const std::optional<double> value = another(entry.info, sim.state().params[index]);
    if (!value) continue;
    steer(sim, index % 2 == 0 ? 0.1 : -0.3);
    for (int step = 0; step < 3; ++step) sim.step();
    sim.set_param(index, *value);
    sim.refill_solver();
    Simulation copy = sim;  // remembers nothing
    for (int step = 0; step < 3; ++step) {
      sim.step();
      copy.step();
    }
    ASSERT_EQ(hash_of(sim), hash_of(copy)) << entry.path;
    ++changed;
  }
  EXPECT_GT(changed, model->params.size() / 2);
}

TEST(WheelInputs, AChangedParameterOfACarCountsAtTheNextStep) {
  expect_that_changes_count(
      compile_world(load_world(source_dir() + "/tests/data/cars.world.xml", {}), CompileOptions()));
}

TEST(WheelInputs, AChangedParameterOfADifferentialDriveCountsAtTheNextStep) {
  expect_that_changes_count(
      model_of(four_wheels(kPid, kOrigin) + bot("b", kPid, "<init_pose>0 5 0</init_pose>")));
}

}  // namespace
}  // namespace mvsim::test::wheel_inputs_test
