// States of single envs: they go on bit for bit in any batch of their kind, and nothing
// else is taken for one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "batch/batch.h"
#include "batch/batch_test_util.h"
#include "sim/simulation.h"

namespace mvsim::snapshot_test {
namespace {

using namespace testing;

// A robot whose path leads round crates that it can push: the field of path lengths is that of the start.
constexpr const char* kCrates =
    R"(<mvsim_env id="t" world="crates.world.xml" control_period="0.1" time_limit="4">
  <agent vehicle="r"><action class="twist" vx="0 1.5" omega="-2 2"/>
    <observe class="scan" sensor="l" sectors="9" max="5" history="3" stride="2"/><observe class="waypoint" ahead="1"/></agent>
  <reset><goal position="5.5 0.2" distance="1" geodesic="true"/></reset>
  <reward class="progress" weight="1" geodesic="true"/>
  <terminate class="goal" radius="0.3"/></mvsim_env>)";
constexpr const char* kCratesWorld = R"(<mvsim_world>
  <block name="a"><mass>4</mass><init_pose>2.2 0.1 10</init_pose>
    <shape><pt>-.4 -.4</pt><pt>-.4 .4</pt><pt>.4 .4</pt><pt>.4 -.4</pt></shape></block>
  <block name="b"><mass>4</mass><init_pose>3.2 0.3 40</init_pose>
    <shape><pt>-.4 -.4</pt><pt>-.4 .4</pt><pt>.4 .4</pt><pt>.4 -.4</pt></shape></block>
  <vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"><controller class="twist_ideal"/></dynamics>
    <sensor class="laser" name="l"><nrays>45</nrays><range_std_noise>0.02</range_std_noise></sensor></vehicle>
  </mvsim_world>)";

EnvSpec crates() {
  const auto folder = std::filesystem::temp_directory_path() / ("mvsim_crates_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "crates.world.xml") << kCratesWorld;
  return load_env_text(kCrates, (folder / "t.env.xml").string(), load_options());
}

std::vector<EnvSpec> kinds() {
  std::vector<EnvSpec> out{shipped("nav_arena"), shipped("nav_map"), crates()};
  out.push_back(shipped("nav_arena"));
  apply_overrides(out.back(), dict({{"localization", dict({{"level", text("strong")}})}}));
  for (const size_t i : {0, 1, 3}) apply_overrides(out[i], dict({{"time_limit", number(6)}}));
  return out;
}

void expect_same(Batch& a, int i, Batch& b, int j) {
  EXPECT_EQ(a.rewards()[i], b.rewards()[j]);
  EXPECT_EQ(a.terminated()[i], b.terminated()[j]);
  EXPECT_EQ(a.truncated()[i], b.truncated()[j]);
  for (size_t k = 0; k < a.observations().size(); ++k) {
    const size_t n = a.observations()[k].low.size();
    EXPECT_EQ(std::memcmp(&a.observation(k)[i * n], &b.observation(k)[j * n], n * sizeof(float)), 0) << k;
  }
  for (size_t c = 0; c < a.infos().size(); ++c)
    EXPECT_TRUE(a.infos()[c].mask[i] == b.infos()[c].mask[j] &&
                (!a.infos()[c].mask[i] || a.infos()[c].values[i] == b.infos()[c].values[j]));
}

// Forward more often than not, so that things are touched.
std::vector<float> actions_of(uint32_t step, size_t n) {
  std::vector<float> out(2 * n);
  for (size_t i = 0; i < n; ++i) {
    random_action(7, step, &out[2 * i], 2);
    out[2 * i] = 1;
  }
  return out;
}

TEST(BatchState, ContinuesInAnotherBatchAndSlot) {
  for (const EnvSpec& spec : kinds()) {
    Batch one(spec, options(1)), other(spec, options(3, 2));
    one.seed_env(0, 5);
    one.reset();
    other.reset();
    int collisions = 0;
    for (uint32_t moment = 0; moment < 20; ++moment) {
      const int slot = static_cast<int>(moment % 3);
      for (uint32_t s = 0; s < 7; ++s) one.step(actions_of(moment * 100 + s, 1));
      collisions += one.simulation(0).state().vehicles[0].in_collision;
      const std::string state = one.state(0);
      const std::string_view view = state;
      other.set_state(std::span(&slot, 1), std::span(&view, 1));
      ASSERT_EQ(other.state(slot), state);
      for (uint32_t s = 50; s < 75; ++s) {
        one.step(actions_of(moment * 100 + s, 1));
        other.step(actions_of(moment * 100 + s, 3));
        expect_same(one, 0, other, slot);
      }
      ASSERT_TRUE(one.state(0) == other.state(slot)) << spec.id << " moment " << moment;
    }
    if (spec.id == "t") {
      EXPECT_GT(collisions, 2);
    }
  }
}

TEST(BatchState, AFieldAmongMovedCratesIsThatOfTheStart) {
  const EnvSpec spec = crates();
  Batch one(spec, options(1)), other(spec, options(1));
  one.reset();
  for (uint32_t s = 0; s < 20; ++s) one.step(actions_of(s, 1));
  const Pose3 moved = block_pose(one.simulation(0), 0);
  EXPECT_GT(std::hypot(moved.x - 2.2, moved.y - 0.1), 0.1);  // a field made now would differ
  const std::string state = one.state(0);
  const std::string_view view = state;
  const int first = 0;
  other.set_state(std::span(&first, 1), std::span(&view, 1));
  for (uint32_t s = 20; s < 35; ++s) {
    one.step(actions_of(s, 1));
    other.step(actions_of(s, 1));
    expect_same(one, 0, other, 0);
  }
}

TEST(BatchState, OneStateForManyEnvs) {
  Batch real(shipped("nav_arena"), options(1)), rollouts(shipped("nav_arena"), options(5, 2));
  real.seed_env(0, 3);
  real.reset();
  rollouts.reset();
  const std::vector<int> all{0, 1, 2, 3, 4};
  const std::string state = real.state(0);
  const std::string_view view = state;
  rollouts.set_state(all, std::span(&view, 1));
  for (int i : all) ASSERT_TRUE(rollouts.state(i) == state);
  real.step(actions_of(1, 1));
  rollouts.step(actions_of(1, 5));
  for (int i : all) expect_same(real, 0, rollouts, i);
}

TEST(BatchState, AClonesFutureIsTheSame) {
  for (const EnvSpec& spec : kinds()) {
    Batch one(spec, options(3, 2));
    one.reset();
    for (uint32_t s = 0; s < 9; ++s) one.step(actions_of(s, 3));
    const auto twin = one.clone();
    for (int i = 0; i < 3; ++i) expect_same(one, i, *twin, i);
    for (uint32_t s = 9; s < 60; ++s) {
      one.step(actions_of(s, 3));
      twin->step(actions_of(s, 3));
      for (int i = 0; i < 3; ++i) expect_same(one, i, *twin, i);
    }
  }
}

TEST(BatchState, RefusesEverythingElseAndChangesNothing) {
  const EnvSpec spec = shipped("nav_arena");
  Batch one(spec, options(2)), map(shipped("nav_map"), options(1));
  one.reset();
  map.reset();
  one.step(actions_of(1, 2));
  const std::string good = one.state(0), before = one.state(1);
  const auto error = [&](std::vector<int> envs, std::vector<std::string> states) -> std::string {
    const std::vector<std::string_view> views(states.begin(), states.end());
    try {
      one.set_state(envs, views);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error({1}, {map.state(0)}).find("another environment"), std::string::npos);
  EXPECT_NE(error({1}, {"x"}).find("no snapshot"), std::string::npos);
  EXPECT_NE(error({2}, {good}).find("found 2, expected 0 to 1"), std::string::npos);
  EXPECT_NE(error({0, 1}, {}).find("found 0, expected 2"), std::string::npos);
  EXPECT_NE(error({1, 0}, {good, good.substr(1)}), "");  // the first was right, but nothing happened
  Simulation world(one.model(0), 1);
  EXPECT_NE(error({1}, {world.snapshot()}).find("of a world"), std::string::npos);
  RandomStream random(1, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good;
    if (i % 2 == 0)
      bad[random.below(static_cast<uint32_t>(bad.size()))] ^= static_cast<char>(1 << random.below(8));
    else
      bad.resize(random.below(static_cast<uint32_t>(bad.size())));
    ASSERT_NE(error({1}, {bad}), "");
  }
  EXPECT_TRUE(one.state(1) == before);
}

// A snapshot is refused if its observations and actions would mean something else.
TEST(BatchState, RefusesOtherBoundsOfActionsAndObservations) {
  Batch one(shipped("nav_arena"), options(1));
  one.reset();
  const std::string state = one.state(0);
  const std::string_view view = state;
  const int first = 0;
  const auto error = [&](const std::vector<std::pair<std::string, Overrides>>& overrides) -> std::string {
    EnvSpec spec = shipped("nav_arena");
    apply_overrides(spec, dict(overrides));
    Batch other(spec, options(1));
    try {
      other.set_state(std::span(&first, 1), std::span(&view, 1));
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string expected =
      "snapshot: it was taken in another environment (its worlds, observations, actions, rewards or "
      "terminations)";
  EXPECT_EQ(error({{"action", dict({{"vx", text("0 0.4")}})}}), expected);
  EXPECT_EQ(error({{"observe", dict({{"goal", dict({{"max_distance", number(33)}})}})}}), expected);
  EXPECT_EQ(error({{"time_limit", number(7)}, {"reward", dict({{"goal", weight(3)}})}}), "no error");
}

TEST(BatchState, AnEndedEpisodeComesBackAsSuch) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"time_limit", number(0.4)}}));
  Batch one(spec, options(1)), other(spec, options(1, 1, AutoresetMode::kDisabled));
  EXPECT_FALSE(one.started(0));
  one.reset();
  one.step(actions_of(0, 1));
  one.step(actions_of(1, 1));
  ASSERT_TRUE(one.ended(0));
  const std::string state = one.state(0);
  const std::string_view view = state;
  const int first = 0;
  other.reset();
  other.set_state(std::span(&first, 1), std::span(&view, 1));
  EXPECT_TRUE(other.started(0) && other.ended(0));
  EXPECT_THROW(other.step(actions_of(2, 1)), Error);
  other.reset();  // the next episode, as the other's
  one.step(actions_of(2, 1));
  expect_same(one, 0, other, 0);
}

}  // namespace
}  // namespace mvsim::snapshot_test
