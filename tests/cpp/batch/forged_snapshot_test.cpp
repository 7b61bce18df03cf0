// Snapshots whose bytes were changed by hand and whose checksum fits again. Each is refused, or gives
// observations inside their space, then and after the steps that follow.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "batch/batch.h"
#include "batch/batch_test_util.h"
#include "fuzz_count.h"
#include "sim/snapshot.h"

namespace mvsim::forged_snapshot_test {
namespace {

using namespace testing;

constexpr size_t kFingerprintAt = 16, kHeaderBytes = 40;

std::string sealed(const std::string& sound, const std::string& body) {
  uint64_t fingerprint = 0;
  std::memcpy(&fingerprint, sound.data() + kFingerprintAt, sizeof fingerprint);
  SnapshotWriter writer(SnapshotKind::kEnvironment, fingerprint, body.size(), snapshot_drawn_by(sound));
  writer.archive().raw(body.data(), body.size());
  return writer.finish();
}

template <typename T>
void put(std::string& body, size_t at, T value) {
  if (at + sizeof value <= body.size()) std::memcpy(body.data() + at, &value, sizeof value);
}

// Changes one value: a double, a float, an integer or a byte.
void forge(std::string& body, RandomStream& random) {
  constexpr double kValues[] = {-1,
                                0,
                                0.5,
                                7,
                                -1e3,
                                1e4,
                                1e7,
                                1e9,
                                1e12,
                                1e30,
                                -1e30,
                                1e38,
                                3e38,
                                1e300,
                                -1e300,
                                1.7e308,
                                1e-310,
                                std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};
  const size_t at = random.below(static_cast<uint32_t>(body.size()));
  const double value = kValues[random.below(static_cast<uint32_t>(std::size(kValues)))];
  switch (random.below(5)) {
    case 0:
      return put(body, at, value);
    case 1:
      return put(body, at, static_cast<float>(value));
    case 2:
      return put(body, at, static_cast<uint32_t>(random.below(4) == 0 ? 0xffffffff : random.below(70000)));
    case 3:
      return put(body, at, static_cast<uint8_t>(random.below(256)));
    default:
      body[at] = static_cast<char>(body[at] ^ (1 << random.below(8)));
  }
}

// "" where all observations of the only env lie inside their bounds, else the first that does not.
std::string outside(Batch& batch) {
  const std::vector<uint8_t> waiting = batch.waiting();
  for (size_t k = 0; k < batch.observations().size(); ++k) {
    const ObservationSpec& spec = batch.observations()[k];
    for (size_t row = 0; row < waiting.size(); ++row) {
      std::string found;
      with_dtype(spec.dtype, [&](auto zero) {
        using T = decltype(zero);
        std::vector<T> values(spec.count());
        std::memcpy(values.data(), batch.observation_buffer(k).row(row), spec.bytes());
        for (size_t i = 0; i < values.size(); ++i) {
          const auto value = static_cast<float>(values[i]);
          if ((waiting[row] || !batch.started(0)) && value == 0) continue;
          if (!(value >= spec.low[i] && value <= spec.high[i]))
            found = spec.key + "[" + std::to_string(i) + "] = " + std::to_string(value);
        }
      });
      if (!found.empty()) return found;
    }
  }
  for (const double reward : batch.rewards())
    if (!std::isfinite(reward)) return "reward";
  return "";
}

struct Count {
  int refused = 0, accepted = 0;
};

// Forges `tries` snapshots of the only env of a batch.
Count forge_and_step(Batch& batch, const std::string& sound, int tries, RandomStream& random) {
  Count count;
  const std::vector<int> env{0};
  for (int i = 0; i < tries; ++i) {
    std::string body = sound.substr(kHeaderBytes);
    for (uint32_t changes = 1 + random.below(3); changes-- > 0;) forge(body, random);
    const std::string forged = sealed(sound, body);
    const std::vector<std::string_view> states{forged};
    try {
      batch.set_state(env, states);
    } catch (const Error&) {
      ++count.refused;
      continue;
    }
    ++count.accepted;
    if (const std::string found = outside(batch); !found.empty()) {
      ADD_FAILURE() << "restored: " << found;
      return count;
    }
    for (int step = 0; step < 3; ++step) {
      try {
        batch.step(random_actions(batch, step));
      } catch (const Error&) {  // such as a start without room for a robot of a forged place
        break;
      }
      if (const std::string found = outside(batch); !found.empty()) {
        ADD_FAILURE() << "step " << step << ": " << found;
        return count;
      }
    }
  }
  return count;
}

void forge_all(const EnvSpec& spec, int tries) {
  Batch batch(spec, options(1));
  RandomStream random(fuzz_seed(), 0, StreamPurpose::kSpawn);
  batch.reset();
  for (int step = 0; step < 25; ++step) batch.step(random_actions(batch, step));
  const std::string sound = batch.state(0);
  const Count count = forge_and_step(batch, sound, tries, random);
  EXPECT_GT(count.refused, tries / 50);
  EXPECT_GT(count.accepted, tries / 50);
}

class ForgedSnapshot : public ::testing::TestWithParam<std::string> {};

TEST_P(ForgedSnapshot, IsRefusedOrObservedInBounds) {
  forge_all(shipped(GetParam()), 150);
}

TEST_P(ForgedSnapshot, SlowIsRefusedOrObservedInBounds) {
  forge_all(shipped(GetParam()), fuzz_count(3000));
}

// Half of the numbers of the state are estimates of earlier periods.
TEST(ForgedLocalization, IsRefusedOrObservedInBounds) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, {{{"localization", "latency"}, "6.3"}, {{"localization", "jump_rate"}, "1"}});
  forge_all(spec, 4000);
}

std::vector<std::string> env_names() {
  std::vector<std::string> names;
  for (const EnvListing& env : list_envs(kSource + "/envs"))
    names.push_back(std::filesystem::path(env.path).stem().stem().string());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, ForgedSnapshot, ::testing::ValuesIn(env_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace mvsim::forged_snapshot_test
