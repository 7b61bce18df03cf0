// The generator is judged against its published known-answer vector, the streams against each other.
#include "base/random.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace mvsim {
namespace {

TEST(Random, PhiloxKnownAnswer) {
  // Random123's kat_vectors: philox4x32-10, all counters and keys ff..ff
  const r123::Philox4x32::ctr_type counter{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}};
  const r123::Philox4x32::key_type key{{0xffffffff, 0xffffffff}};
  const auto out = r123::Philox4x32()(counter, key);
  EXPECT_EQ(out[0], 0x408f276du);
  EXPECT_EQ(out[1], 0x41c83b0eu);
  EXPECT_EQ(out[2], 0xa20bc7c6u);
  EXPECT_EQ(out[3], 0x6d5451fdu);
}

TEST(Random, StreamsDiffer) {
  const RandomStream base(1, 0, StreamPurpose::kSpawn);
  for (RandomStream other :
       {RandomStream(2, 0, StreamPurpose::kSpawn), RandomStream(1, 1, StreamPurpose::kSpawn),
        RandomStream(1, 0, StreamPurpose::kGoal), RandomStream(1, 0, StreamPurpose::kSpawn, 1)}) {
    RandomStream a = base;
    int equal = 0;
    for (int i = 0; i < 100; ++i) equal += a.bits() == other.bits();
    EXPECT_LT(equal, 3);
  }
}

TEST(Random, ACopyContinuesTheStream) {
  RandomStream a(5, 3, StreamPurpose::kSensorNoise, 7);
  for (int i = 0; i < 13; ++i) a.normal();
  RandomStream b = a;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.normal(), b.normal());
}

TEST(Random, Moments) {
  RandomStream random(11, 0, StreamPurpose::kGoal);
  const int n = 200000;
  double sum = 0, square = 0, fourth = 0, uniform = 0;
  std::vector<int> counts(7);
  for (int i = 0; i < n; ++i) {
    const double z = random.normal();
    sum += z;
    square += z * z;
    fourth += z * z * z * z;
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
    ++counts[random.below(7)];
  }
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 0.02);
  EXPECT_NEAR(fourth / n, 3, 0.15);
  EXPECT_NEAR(uniform / n, 0.5, 0.004);
  for (int c : counts) EXPECT_NEAR(c, n / 7.0, 5 * std::sqrt(n / 7.0));
}

}  // namespace
}  // namespace mvsim
