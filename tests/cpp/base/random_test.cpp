// The generator is judged against its published known-answer vector, the streams against each other.
#include "base/random.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/simd.h"
#include "base/vector_kernels.h"

namespace mvsim::random_test {
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

// Expects `count` deviates drawn at once to equal those drawn singly, after `before` draws, for every
// instruction set.
void expect_same_as_single(int before, size_t count) {
  SCOPED_TRACE(::testing::Message() << simd_level() << ", " << count << " after " << before);
  RandomStream single(0x123456789abcdef0, 7, StreamPurpose::kSensorNoise, 3);
  for (int i = 0; i < before; ++i)
    i % 3 == 2 ? static_cast<void>(single.bits()) : static_cast<void>(single.normal());
  RandomStream many = single, none = single;
  std::vector<double> expected(count), found(count);
  for (double& z : expected) z = single.normal();
  many.normals(found);
  if (count > 0) {
    ASSERT_EQ(std::memcmp(expected.data(), found.data(), count * sizeof(double)), 0);
  }
  none.skip_normals(count);
  for (int i = 0; i < 5; ++i) {  // all go on alike
    const double next = single.normal();
    ASSERT_EQ(next, many.normal());
    ASSERT_EQ(next, none.normal());
  }
}

TEST(Random, ManyNormalsAtOnceHaveTheBitsOfSingleOnes) {
  for (const std::string& target : simd_targets()) {
    const ScopedSimdTarget use(target);
    for (const int before : {0, 1, 2, 3, 4, 9})
      for (size_t count = 0; count < 70; ++count) expect_same_as_single(before, count);
    expect_same_as_single(0, 200000);
  }
}

TEST(Random, ABlockCounterBeyond32BitsIsCarried) {
  const PhiloxName name{.key = 5, .episode = 6, .stream = 7};
  const uint64_t block = 0xfffffffe;
  for (const std::string& target : simd_targets()) {
    const ScopedSimdTarget use(target);
    double found[32];
    philox_normals(name, block, found);
    for (uint64_t i = 0; i < 16; ++i) {
      const auto w = philox_block(name, block + i);
      const auto uniform = [](uint64_t high, uint64_t low) {
        return static_cast<double>((high << 32 | low) >> 11) / 0x1p53;
      };
      const auto pair = normal_pair(uniform(w[0], w[1]), uniform(w[2], w[3]));
      ASSERT_EQ(found[2 * i], pair[0]) << target;
      ASSERT_EQ(found[2 * i + 1], pair[1]) << target;
    }
  }
}

// Against the normal distribution function: the share beyond each z, within five standard deviations.
TEST(Random, TailsOfNormals) {
  RandomStream random(12, 0, StreamPurpose::kSensorNoise);
  const size_t n = 2000000;
  std::vector<double> z(n);
  random.normals(z);
  for (const double limit : {0.1, 0.5, 1.0, 2.0, 3.0, 4.0}) {
    size_t above = 0, below = 0;
    for (const double value : z) {
      above += value > limit;
      below += value < -limit;
    }
    const double expected = static_cast<double>(n) * 0.5 * std::erfc(limit / std::sqrt(2.0));
    EXPECT_NEAR(static_cast<double>(above), expected, 5 * std::sqrt(expected)) << limit;
    EXPECT_NEAR(static_cast<double>(below), expected, 5 * std::sqrt(expected)) << limit;
  }
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
}  // namespace mvsim::random_test
