// The batch against its promises: independence of everything but key, episode and actions; errors, NaN,
// divergence, interruption.
#include "batch/batch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <thread>

#include "batch/batch_test_util.h"
#include "sim/simulation.h"
#include "task/task.h"

namespace mvsim::batch_test {
namespace {

using testing::dict;
using testing::number;
using testing::observation_bytes;
using testing::options;
using testing::row_of;
using testing::shipped;
using testing::traces;

// Episodes of at most 4 s, so that a short run sees many resets of every kind.
EnvSpec short_arena() {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"time_limit", number(4)}}));
  return spec;
}

TEST(Batch, TrajectoriesDependOnKeyAndActionsAlone) {
  const EnvSpec spec = short_arena();
  constexpr int kSteps = 60, kEnvs = 64;
  Batch reference(spec, options(kEnvs, 1));
  const auto expected = traces(reference, kSteps);
  for (int threads : {2, 5, 16}) {
    Batch batch(spec, options(kEnvs, threads));
    EXPECT_TRUE(traces(batch, kSteps) == expected) << threads << " threads";
  }
  for (int envs : {1, 2, 7}) {
    Batch batch(spec, options(envs, 2));
    const auto found = traces(batch, kSteps);
    for (int i = 0; i < envs; ++i) EXPECT_TRUE(found[i] == expected[i]) << envs << " envs";
  }
  // the same env in another place, among others
  Batch shifted(spec, options(3, 2));
  const auto found = traces(shifted, kSteps, 40);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(found[i], expected[40 + i]);
}

TEST(Batch, AThousandEnvsShareOneModel) {
  constexpr int kEnvs = 1000;
  Batch batch(short_arena(), options(kEnvs, 2));
  batch.reset();
  const Model* const model = &batch.simulation(0).model();
  for (int i = 1; i < kEnvs; ++i) ASSERT_EQ(&batch.simulation(i).model(), model) << i;
}

TEST(Batch, HistoryLeavesNoTrace) {
  const EnvSpec spec = short_arena();
  Batch fresh(spec, options(4, 1));
  const auto expected = traces(fresh, 50);
  Batch used(spec, options(4, 2));
  for (int i = 0; i < 4; ++i) used.seed_env(i, 77 + i);
  used.reset();
  for (int s = 0; s < 137; ++s) used.step(testing::random_actions(used, 5000 + s));
  EXPECT_EQ(traces(used, 50), expected);
  EXPECT_EQ(traces(used, 50), expected);
}

TEST(Batch, NavMapIsIndependentOfItsGoalCache) {
  EnvSpec spec = shipped("nav_map");
  apply_overrides(spec, dict({{"time_limit", number(1)}}));
  Batch one(spec, options(1, 1)), many(spec, options(8, 4));
  const auto expected = traces(many, 25);
  EXPECT_EQ(traces(one, 25)[0], expected[0]);
  EXPECT_EQ(traces(many, 25), expected);  // now from the cache
}

TEST(Batch, SeedsAndEpisodesGiveDifferentWorlds) {
  Batch batch(shipped("nav_arena"), options(2));
  const auto first = [&](int i) {
    const auto row = batch.observation(0).subspan(static_cast<size_t>(i) * 36, 36);
    return std::vector<float>(row.begin(), row.end());
  };
  batch.seed_env(0, 5);
  batch.seed_env(1, 5);
  batch.reset();
  const auto a = first(0);
  EXPECT_EQ(a, first(1));
  batch.reset();
  const auto b = first(0);
  EXPECT_NE(a, b);
  EXPECT_EQ(b, first(1));
  batch.seed_env(0, 5);
  batch.reset();
  EXPECT_EQ(first(0), a);
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Batch, RefusesWhatCannotBe) {
  const EnvSpec spec = short_arena();
  EXPECT_NE(error_of([&] { Batch(spec, options(0)); }).find("num_envs"), std::string::npos);
  EXPECT_NE(error_of([&] { Batch(spec, options(1, -1)); }).find("num_threads"), std::string::npos);
  Batch batch(spec, options(2, 1, AutoresetMode::kDisabled));
  EXPECT_NE(error_of([&] { batch.step(std::vector<float>(4)); }).find("before reset"), std::string::npos);
  batch.reset();
  EXPECT_NE(error_of([&] { batch.step(std::vector<float>(3)); }).find("expected 2 x 2"), std::string::npos);
  for (int i = 0; i < 20; ++i) batch.step(std::vector<float>(4));  // to the time limit
  EXPECT_TRUE(batch.truncated()[0] && batch.truncated()[1]);
  EXPECT_EQ(testing::info(batch, "timeout").values[0], 1);
  EXPECT_NE(error_of([&] { batch.step(std::vector<float>(4)); }).find("environment 0: its episode has ended"),
            std::string::npos);
}

// ------------------------------------------------------------ bad actions and states

TEST(Batch, AnActionThatIsNotFiniteCountsAsZero) {
  const EnvSpec spec = shipped("nav_arena");
  Batch bad(spec, options(2)), good(spec, options(2));
  bad.reset();
  good.reset();
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> actions{
      {nan, 0.5f, 0.3f, 0.1f}, {0.5f, -inf, 0.3f, 0.2f}, {0.2f, 0.1f, 1e30f, -3}};
  const std::vector<std::vector<float>> same{{0, 0, 0.3f, 0.1f}, {0, 0, 0.3f, 0.2f}, {0.2f, 0.1f, 1, -1}};
  for (size_t s = 0; s < actions.size(); ++s) {
    bad.step(actions[s]);
    good.step(same[s]);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(observation_bytes(bad, i), observation_bytes(good, i));
      EXPECT_EQ(bad.rewards()[i], good.rewards()[i]);
    }
    EXPECT_EQ(testing::info(bad, "bad_action").mask[0] != 0, s < 2);
    EXPECT_EQ(testing::info(bad, "bad_action").mask[1], 0);
    if (s < 2) {
      EXPECT_EQ(testing::info(bad, "bad_action").values[0], static_cast<double>(s + 1));
    }
  }
  BatchOptions strict = options(2);
  strict.strict_actions = true;
  Batch judge(spec, strict);
  judge.reset();
  const std::string before = row_of(judge, 0);
  EXPECT_NE(error_of([&] {
              judge.step(std::vector<float>{0, 0, nan, 0});
            }).find("environment 1"),
            std::string::npos);
  EXPECT_EQ(row_of(judge, 0), before);
}

TEST(Batch, HostileActionsLeaveCleanEnvsAlone) {
  const EnvSpec spec = short_arena();
  constexpr int kEnvs = 16, kSteps = 300;
  Batch clean(spec, options(kEnvs, 2)), dirty(spec, options(kEnvs, 2));
  clean.reset();
  dirty.reset();
  const float poison[] = {std::nanf(""), INFINITY, -INFINITY, 1e30f, 1e-42f};
  for (int s = 0; s < kSteps; ++s) {
    auto actions = testing::random_actions(clean, s);
    clean.step(actions);
    for (int i = 0; i < kEnvs / 2; ++i) actions[2 * i + s % 2] = poison[(s + i) % 5];
    dirty.step(actions);
    for (int i = kEnvs / 2; i < kEnvs; ++i) ASSERT_EQ(row_of(clean, i), row_of(dirty, i));
    for (size_t k = 0; k < dirty.observations().size(); ++k) {
      const ObservationSpec& o = dirty.observations()[k];
      const auto values = dirty.observation(k);
      for (size_t j = 0; j < values.size(); ++j) {
        ASSERT_GE(values[j], o.low[j % o.low.size()]) << o.key;
        ASSERT_LE(values[j], o.high[j % o.high.size()]) << o.key;
      }
    }
  }
}

// A term of the test's own that breaks one env at one step.
class Fault final : public Termination {
 public:
  enum class Kind { kThrow };
  Fault(uint64_t key, int64_t step) : key_(key), step_(step) {}
  bool holds(const EnvState& env, const AgentState&) const override {
    if (env.key == key_ && env.steps == step_ && env.simulation.state().episode == 0)
      throw Error("injected fault");
    return false;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  uint64_t key_;
  int64_t step_;
};

TEST(Batch, AWorkersErrorNamesItsEnvironment) {
  for (int threads : {1, 4}) {
    auto task = compile_task(shipped("nav_arena"), testing::load_options());
    task->agents[0].terminations.push_back(std::make_unique<Fault>(5, 3));
    Batch batch(std::move(task), options(16, threads));
    Batch sound(shipped("nav_arena"), options(16, 1));
    batch.reset();
    sound.reset();
    for (int s = 0; s < 2; ++s) {
      batch.step(testing::random_actions(batch, s));
      sound.step(testing::random_actions(sound, s));
    }
    EXPECT_EQ(error_of([&] { batch.step(testing::random_actions(batch, 2)); }),
              "environment 5: injected fault");
    sound.step(testing::random_actions(sound, 2));
    for (int i = 0; i < 16; ++i)
      if (i != 5) {
        EXPECT_EQ(row_of(batch, i), row_of(sound, i));
      }
    batch.reset();
    sound.reset();
    for (int s = 0; s < 5; ++s) {
      batch.step(testing::random_actions(batch, s));
      sound.step(testing::random_actions(sound, s));
      for (int i = 0; i < 16; ++i) EXPECT_EQ(row_of(batch, i), row_of(sound, i));
    }
  }
}

// Throws the robot of one env out of the numbers.
class Explode final : public Action {
 public:
  std::vector<ActionComponent> components() const override { return {{"vx", -1, 1}, {"omega", -1, 1}}; }
  void apply(Simulation& s, const double* values) const override {
    if (s.state().key == 1 && s.state().episode == 0 && s.state().time > 0.5) {
      const float far = std::numeric_limits<float>::max();
      s.place_vehicle(0, {far, far, 0});
    }
    s.set_command(0, {values, 2});
  }
};

TEST(Batch, AStateThatBlowsUpTruncatesItsEpisodeOnly) {
  auto task = compile_task(shipped("nav_arena"), testing::load_options());
  task->agents[0].action = std::make_unique<Explode>();
  Batch batch(std::move(task), options(2, 1));
  batch.reset();
  for (int s = 0; s < 30; ++s) {
    batch.step(std::vector<float>(4, 0.1f));
    for (size_t k = 0; k < batch.observations().size(); ++k)
      for (float v : batch.observation(k)) ASSERT_TRUE(std::isfinite(v));
    if (batch.finished()[1]) break;
  }
  EXPECT_TRUE(batch.finished()[1]);
  EXPECT_TRUE(batch.truncated()[1]);
  EXPECT_FALSE(batch.terminated()[1]);
  EXPECT_EQ(testing::info(batch, "diverged").values[1], 1);
  EXPECT_EQ(testing::info(batch, "timeout").values[1], 0);
  EXPECT_FALSE(batch.finished()[0]);
  batch.step(std::vector<float>(4, 0.1f));
  EXPECT_TRUE(batch.was_reset()[1]);
}

// ------------------------------------------------------------ processes and threads

TEST(Batch, CanBeInterruptedAndGoesOn) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec,
                  dict({{"control_period", number(2000)}, {"time_limit", number(0)}}));  // 100,000 substeps
  for (int threads : {1, 2}) {
    Batch batch(spec, options(4, threads));
    batch.reset();
    int polls = 0;
    EXPECT_THROW(batch.step(std::vector<float>(8), [&] { return ++polls == 2; }), Interrupted);
    EXPECT_EQ(polls, 2);
    struct Own {};
    EXPECT_THROW(batch.step(std::vector<float>(8), []() -> bool { throw Own(); }), Own);
    batch.reset();
    EXPECT_TRUE(batch.was_reset()[3]);
  }
}

TEST(Batch, AForkedChildGetsAnErrorAndEnds) {
  auto batch = std::make_unique<Batch>(short_arena(), options(8, 2));
  batch->reset();
  const pid_t child = fork();
  if (child == 0) {
    int code = 1;
    try {
      batch->step(std::vector<float>(16));
    } catch (const ForkedProcessError&) {
      code = 0;
    }
    batch.reset();
    _exit(code);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  batch->step(std::vector<float>(16));
}

TEST(Batch, TwoThreadsInOneBatchAreRefused) {
  Batch batch(short_arena(), options(2, 1));
  batch.reset();
  std::string message;
  batch.step(std::vector<float>(4), [&] { return false; });
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"control_period", number(2000)}}));
  Batch slow(spec, options(1, 1));
  slow.reset();
  // from inside the poll of the first call
  EXPECT_THROW(slow.step(std::vector<float>(2),
                         [&] {
                           message = error_of([&] { slow.step(std::vector<float>(2)); });
                           return true;
                         }),
               Interrupted);
  EXPECT_NE(message.find("another thread"), std::string::npos);
}

TEST(Batch, ManyBatchesFromManyThreadsEqualTheSerialRun) {
  const EnvSpec spec = short_arena();
  constexpr int kThreads = 16, kBatches = 16, kSteps = 6;
  std::vector<std::vector<std::string>> expected(kBatches), found(kThreads * kBatches);
  for (int b = 0; b < kBatches; ++b) {
    Batch batch(spec, options(1, 1));
    expected[b] = traces(batch, kSteps, b);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<Batch>> batches;
      for (int b = 0; b < kBatches; ++b) batches.push_back(std::make_unique<Batch>(spec, options(1, 1)));
      for (int b = 0; b < kBatches; ++b) found[t * kBatches + b] = traces(*batches[b], kSteps, b);
    });
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < kThreads * kBatches; ++i) EXPECT_EQ(found[i], expected[i % kBatches]);
}

}  // namespace
}  // namespace mvsim::batch_test
