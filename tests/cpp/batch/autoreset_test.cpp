// The three autoreset modes against a reference made of single envs that are reset by hand.
#include <gtest/gtest.h>

#include "batch/batch.h"
#include "batch/batch_test_util.h"

namespace mvsim::autoreset_test {
namespace {

using testing::dict;
using testing::number;
using testing::observation_bytes;
using testing::options;
using testing::shipped;

// Episodes of at most 4 s, so that a short run sees many resets of every kind.
EnvSpec short_arena() {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"time_limit", number(4)}}));
  return spec;
}

// The reference for the three modes: one env at a time with kDisabled, reset by hand.
class ByHand {
 public:
  ByHand(const EnvSpec& spec, uint64_t key) : batch_(spec, options(1, 1, AutoresetMode::kDisabled)) {
    batch_.seed_env(0, key);
    reset();
  }
  std::string reset() {
    batch_.reset();
    return observation_bytes(batch_, 0);
  }
  std::string step(const float* action) {
    batch_.step({action, batch_.action_size()});
    return observation_bytes(batch_, 0);
  }
  double reward() { return batch_.rewards()[0]; }
  bool done() { return batch_.finished()[0]; }
  bool terminated() { return batch_.terminated()[0]; }

 private:
  Batch batch_;
};

TEST(Autoreset, AllModesMatchTheReference) {
  const EnvSpec spec = short_arena();
  constexpr int kEnvs = 6, kSteps = 130;
  for (AutoresetMode mode : {AutoresetMode::kNextStep, AutoresetMode::kSameStep, AutoresetMode::kDisabled}) {
    Batch batch(spec, options(kEnvs, 2, mode));
    std::vector<std::unique_ptr<ByHand>> references;
    for (int i = 0; i < kEnvs; ++i) {
      batch.seed_env(i, 300 + i);
      references.push_back(std::make_unique<ByHand>(spec, 300 + i));
    }
    batch.reset();
    std::vector<bool> ended(kEnvs, false);
    int episodes = 0;
    for (int s = 0; s < kSteps; ++s) {
      if (mode == AutoresetMode::kDisabled) {
        std::vector<uint8_t> mask(ended.begin(), ended.end());
        batch.reset(mask);
        for (int i = 0; i < kEnvs; ++i) {
          EXPECT_EQ(batch.was_reset()[i] != 0, ended[i]);
          if (mask[i]) {
            EXPECT_EQ(observation_bytes(batch, i), references[i]->reset());
          }
          ended[i] = false;
        }
      }
      const auto actions = testing::random_actions(batch, s);
      batch.step(actions);
      for (int i = 0; i < kEnvs; ++i) {
        ByHand& reference = *references[i];
        if (mode == AutoresetMode::kNextStep && ended[i]) {
          EXPECT_EQ(observation_bytes(batch, i), reference.reset());
          EXPECT_EQ(batch.rewards()[i], 0);
          EXPECT_FALSE(batch.finished()[i] || batch.terminated()[i] || batch.truncated()[i]);
          EXPECT_TRUE(batch.was_reset()[i]);
          ended[i] = false;
          continue;
        }
        const std::string last = reference.step(actions.data() + static_cast<size_t>(i) * 2);
        EXPECT_EQ(batch.rewards()[i], reference.reward());
        EXPECT_EQ(batch.finished()[i] != 0, reference.done());
        EXPECT_EQ(batch.terminated()[i] != 0, reference.terminated());
        EXPECT_EQ(batch.truncated()[i] != 0, reference.done() && !reference.terminated());
        ended[i] = reference.done();
        episodes += ended[i];
        if (mode == AutoresetMode::kSameStep && ended[i]) {
          EXPECT_EQ(observation_bytes(batch, i, true), last);
          EXPECT_EQ(observation_bytes(batch, i), reference.reset());
          EXPECT_TRUE(batch.was_reset()[i]);
        } else {
          EXPECT_EQ(observation_bytes(batch, i), last);
          EXPECT_FALSE(batch.was_reset()[i]);
        }
      }
    }
    EXPECT_GT(episodes, 20);
  }
}

TEST(Autoreset, AllSubsetsOfFourCanBeReset) {
  Batch batch(short_arena(), options(4, 2, AutoresetMode::kDisabled));
  batch.reset();
  for (int subset = 1; subset < 16; ++subset) {
    batch.step(testing::random_actions(batch, subset));
    std::vector<std::string> before;
    std::vector<uint8_t> mask;
    std::vector<uint32_t> episodes;
    for (int i = 0; i < 4; ++i) {
      before.push_back(observation_bytes(batch, i));
      episodes.push_back(batch.episode(i));
      // an env that has ended must be reset in any case
      mask.push_back((subset >> i & 1) | batch.finished()[i]);
    }
    batch.reset(mask);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(batch.was_reset()[i], mask[i]);
      EXPECT_EQ(batch.episode(i), episodes[i] + mask[i]);
      if (!mask[i]) {
        EXPECT_EQ(observation_bytes(batch, i), before[i]);
      }
    }
  }
  EXPECT_THROW(batch.reset(std::vector<uint8_t>(3, 1)), Error);
}

}  // namespace
}  // namespace mvsim::autoreset_test
