// Infos at an episode's end, also where a caller ends it.
#include <gtest/gtest.h>

#include <algorithm>

#include "batch/batch.h"
#include "batch/batch_test_util.h"

namespace mvsim::batch_info_test {
namespace {

using testing::dict;
using testing::number;
using testing::options;
using testing::shipped;

EnvSpec arena(double time_limit) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"time_limit", number(time_limit)}}));
  return spec;
}

TEST(BatchInfo, ACutEpisodeTellsWhatATimeLimitWouldTell) {
  constexpr int kSteps = 7;
  BatchOptions single = options(2, 1);
  single.autoreset = AutoresetMode::kDisabled;
  single.spl = true;
  Batch limited(arena(kSteps * 0.2), single), cut(arena(0), single);
  const std::vector<float> actions(2 * cut.action_size(), 0.3f);
  for (Batch* batch : {&limited, &cut}) {
    for (int i = 0; i < 2; ++i) batch->seed_env(i, 5 + i);
    batch->reset();
    for (int s = 0; s < kSteps; ++s) batch->step(actions);
  }
  ASSERT_EQ(std::count(limited.truncated().begin(), limited.truncated().end(), 1), 2);
  EXPECT_FALSE(cut.has_infos());
  const std::string before = cut.state(1);
  cut.report_cut(1);
  EXPECT_TRUE(cut.has_infos());
  for (size_t c = 0; c < cut.infos().size(); ++c) {
    const InfoColumn &found = cut.infos()[c], &expected = limited.infos()[c];
    EXPECT_EQ(found.mask[0], 0) << found.key;  // the other env was not asked
    EXPECT_EQ(found.mask[1], expected.mask[1]) << found.key;
    if (found.mask[1]) {
      EXPECT_EQ(found.values[1], expected.values[1]) << found.key;
    }
  }
  EXPECT_EQ(cut.state(1), before);
  cut.step(actions);
  EXPECT_FALSE(cut.has_infos());
  EXPECT_THROW(cut.report_cut(2), Error);
  EXPECT_THROW(cut.report_cut(-1), Error);
}

TEST(Overrides, ANumberHasItsShortestText) {
  for (const char* text : {"0", "-0", "30", "0.1", "1e+05", "123456", "1e-07", "1.5e+300", "inf"})
    EXPECT_EQ(text_of(OverrideValue(std::strtod(text, nullptr))), text);
  EXPECT_EQ(text_of(OverrideValue(true)), "true");
  EXPECT_EQ(text_of(std::vector<std::variant<double, std::string>>{0.25, std::string("b"), 1e22}),
            "0.25 b 1e+22");
}

TEST(Overrides, NamesAreThoseThatAreKnown) {
  const EnvSpec spec = shipped("nav_arena");
  const std::vector<std::string> names = override_names(spec);
  EXPECT_EQ(std::count(names.begin(), names.end(), "time_limit"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "obstacles"), 1);
  for (const std::string& name : names) {
    EnvSpec copy = spec;
    try {
      apply_overrides(copy, dict({{name, number(1)}}));
    } catch (const UnknownKeyword&) {
      ADD_FAILURE() << name;
    } catch (const Error&) {  // a value of another kind
    }
  }
}

}  // namespace
}  // namespace mvsim::batch_info_test
