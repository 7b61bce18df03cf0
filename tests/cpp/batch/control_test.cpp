// Changes of a running batch by a caller: held parameters, other knobs, given starts, and the caller's turn
// in a step.
#include <gtest/gtest.h>

#include "batch/batch_test_util.h"
#include "sim/simulation.h"
#include "task/env_state.h"

namespace mvsim::control_test {
namespace {

using namespace testing;

TEST(Control, AnEnvWithOtherKnobsIsOneThatWasMadeWithThem) {
  EnvSpec few = shipped("nav_arena");
  apply_overrides(few, dict({{"obstacles", number(3)}}));
  Batch made(few, options(2)), changed(shipped("nav_arena"), options(2));
  const int both[] = {0, 1};
  changed.set_knobs(both, {{{"obstacles"}, "3"}});
  EXPECT_EQ(traces(changed, 300), traces(made, 300));
  EXPECT_EQ(changed.simulation(0).model().blocks.size(), made.simulation(0).model().blocks.size());
}

TEST(Control, HeldParametersAreSetInEveryEpisode) {
  Batch batch(shipped("nav_arena"), options(2));
  batch.reset();
  const int second[] = {1};
  const double value[] = {0.25};
  batch.hold(second, "vehicle:robot/friction/mu", value);
  const int both[] = {0, 1};
  const auto read = [&] { return batch.read(both, "vehicle:robot/friction/mu").values; };
  const std::vector<double> held = read();
  EXPECT_EQ(held[1], 0.25);
  EXPECT_NE(held[0], 0.25);
  batch.reset();
  EXPECT_EQ(read(), held);
  batch.release(both);
  batch.reset();
  EXPECT_EQ(read()[1], held[0]);
}

TEST(Control, TheCallersTurnLiesBeforeTheReset) {
  Batch batch(shipped("nav_arena"), options(3, 2, AutoresetMode::kSameStep));
  batch.reset();
  const std::vector<uint8_t> ended{0, 1, 0};
  const std::vector<double> paid{1, 2, 3};
  std::vector<double> sums(3);
  double time = 0;
  const int second[] = {1};
  const Batch::Between turn = [&]() -> std::span<const uint8_t> {
    time = batch.read(second, "time").values[0];
    batch.add_rewards(paid, sums);
    return ended;
  };
  const std::vector<float> still(3 * batch.action_size(), -1.0f);
  batch.step(still, {}, turn);
  EXPECT_NEAR(time, batch.control_period(), 1e-9);
  EXPECT_NEAR(batch.read(second, "time").values[0], 0, 1e-9) << "it was reset since";
  EXPECT_EQ(std::vector<uint8_t>(batch.terminated().begin(), batch.terminated().end()), ended);
  EXPECT_EQ(std::vector<uint8_t>(batch.was_reset().begin(), batch.was_reset().end()), ended);
  EXPECT_EQ(sums, paid);
  EXPECT_EQ(info(batch, "success").values[1], 0);
  EXPECT_TRUE(info(batch, "time").mask[1] && !info(batch, "time").mask[0]);
  EXPECT_THROW(batch.step(still, {}, []() -> std::span<const uint8_t> { throw Error("mine"); }), Error);
  EXPECT_NO_THROW(batch.step(still));
}

}  // namespace
}  // namespace mvsim::control_test
