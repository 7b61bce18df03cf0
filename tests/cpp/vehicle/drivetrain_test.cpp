// Tests of the differentials against closed forms.
#include "vehicle/actuators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "vehicle/car.h"

namespace mvsim::drivetrain_test {
namespace {

TEST(Drivetrain, TorsenShares) {
  const Differential even{0.5, 1.5};
  EXPECT_NEAR(torsen_share(even, 10, 5), 0.375, 1e-12);
  EXPECT_NEAR(torsen_share(even, 5, 10), 0.625, 1e-12);
  EXPECT_NEAR(torsen_share(even, 10, 9), 0.5, 1e-12);
  EXPECT_NEAR(torsen_share(even, 10, 1), 0.075, 1e-12);
  EXPECT_NEAR(torsen_share(even, -10, 1), 0.075, 1e-12);
  EXPECT_NEAR(torsen_share(even, 0, 10), 0.5, 1e-12);
  EXPECT_NEAR(torsen_share({0.7, 1.5}, 10, 5), 0.5833, 5e-5);
}

TEST(Drivetrain, Torsen4wd) {
  std::array<double, 4> spins{};
  spins[kFrontLeft] = 10;
  spins[kFrontRight] = 5;
  spins[kRearLeft] = spins[kRearRight] = 8;
  const std::array<double, 4> shares = torque_shares({}, spins);
  EXPECT_NEAR(shares[kFrontLeft], 0.1875, 1e-12);
  EXPECT_NEAR(shares[kFrontRight], 0.3125, 1e-12);
  EXPECT_NEAR(shares[kRearLeft], 0.25, 1e-12);
  EXPECT_NEAR(shares[kRearRight], 0.25, 1e-12);
}

TEST(Drivetrain, SharesOfEveryTypeSumToTheEngine) {
  RandomStream random(8, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 2000; ++i) {
    const auto drawn = [&] {
      // the ends of the range too
      const double split = std::min(1.0, std::max(0.0, random.uniform(-0.2, 1.2)));
      return Differential{split, random.uniform(1, 3)};
    };
    Drivetrain d{static_cast<DrivetrainType>(i % 6), drawn(), drawn(), drawn()};
    const auto spin = [&] { return random.uniform(0, 1) < 0.1 ? 0 : random.uniform(-30, 30); };
    const std::array<double, 4> shares = torque_shares(d, {spin(), spin(), spin(), spin()});
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
    for (const double share : shares) EXPECT_GE(share, 0);
    if (d.type == DrivetrainType::kOpenRear || d.type == DrivetrainType::kTorsenRear) {
      EXPECT_EQ(shares[kFrontLeft] + shares[kFrontRight], 0);
    }
    if (d.type == DrivetrainType::kOpenFront || d.type == DrivetrainType::kTorsenFront) {
      EXPECT_EQ(shares[kRearLeft] + shares[kRearRight], 0);
    }
  }
}

TEST(Drivetrain, OpenDifferentialsSplitByTheirFractions) {
  const Drivetrain d{DrivetrainType::kOpen4wd, {0.4, 1.5}, {0.3, 1.5}, {0.6, 1.5}};
  const std::array<double, 4> shares = torque_shares(d, {100, 1, 1, 100});
  EXPECT_NEAR(shares[kFrontLeft], 0.4 * 0.3, 1e-12);
  EXPECT_NEAR(shares[kFrontRight], 0.4 * 0.7, 1e-12);
  EXPECT_NEAR(shares[kRearLeft], 0.6 * 0.6, 1e-12);
  EXPECT_NEAR(shares[kRearRight], 0.6 * 0.4, 1e-12);
}

}  // namespace
}  // namespace mvsim::drivetrain_test
