// An environment whose vehicle draws a trailer: the rig is one thing to resets, clearance and collisions.
#include <gtest/gtest.h>

#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "sim/simulation.h"

namespace mvsim::rig_test {
namespace {

EnvSpec rig(const std::string& inside = "") {
  return testing::from_text(
      R"(<mvsim_env world="../tests/data/rig.world.xml" control_period="0.2" time_limit="20">
    <agent vehicle="tractor"><action class="twist" vx="-0.5 0.5" omega="-1 1"/>
      <observe class="goal" max_distance="15"/><observe class="velocity"/></agent>
    <reset><spawn clearance="0.3"/><goal clearance="0.3" distance="1 8"/>)" +
      inside + R"(</reset>
    <reward class="progress" weight="1"/>
    <terminate class="goal" radius="0.25"/><terminate class="collision"/></mvsim_env>)");
}

double hitch_gap(const Simulation& s) {
  const auto [a, b] = joint_anchors(s, 0);
  return norm(b - a);
}

TEST(Rig, StandsFreeAndWholeAfterEveryReset) {
  const auto task = compile_task(rig(), testing::load_options());
  EnvState env = make_env(*task, 3);
  for (int i = 0; i < 500; ++i) {
    start_episode(*task, env);
    const Simulation& s = env.simulation;
    ASSERT_LT(hitch_gap(s), 1e-5);
    ASSERT_GT(clearance(s, 0, 1), 0) << i;
    ASSERT_EQ(clearance(s, 0, 10), clearance(s, 1, 10));
    double reward = 0;
    std::fill(env.agents[0].action.begin(), env.agents[0].action.end(), 0.0);
    ASSERT_TRUE(step_period(*task, env, [] { return true; }, {&reward, 1}));
    ASSERT_FALSE(env.agents[0].now.collided()) << i;
    ASSERT_LT(hitch_gap(s), 1e-3);
  }
}

TEST(Rig, ACollisionOfTheTrailerEndsTheEpisode) {
  const auto task = compile_task(rig(), testing::load_options());
  EnvState env = make_env(*task, 3);
  start_episode(*task, env);
  env.simulation.place_vehicle(0, {-3.2, 0, 0});
  double reward = 0;
  bool collided = false;
  for (int i = 0; i < 20 && !collided; ++i) {
    env.agents[0].action[0] = -1;
    step_period(*task, env, [] { return true; }, {&reward, 1});
    collided = env.agents[0].now.collided();
  }
  EXPECT_TRUE(collided);
  EXPECT_FALSE(env.simulation.state().vehicles[0].contacts);
}

TEST(Rig, EnvsDoNotDependOnEachOther) {
  const EnvSpec spec = rig();
  Batch three(spec, testing::options(3, 2)), one(spec, testing::options(1));
  EXPECT_EQ(testing::traces(three, 150)[2], testing::traces(one, 150, 2)[0]);
}

}  // namespace
}  // namespace mvsim::rig_test
