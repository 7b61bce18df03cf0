// Runs the recurrences of the speed loop. Gains that are predicted to settle do settle, and all others are
// predicted.
#include "vehicle/speed_pid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace mvsim::speed_loop_test {
namespace {

// The largest error left after some steps towards 1 m/s of a wheel that rolls, telling its speed one step
// late.
double rolling_error(double k) {
  double told = 0, speed = 0, worst = 0;
  for (int i = 0; i < 200; ++i) {
    const double next = speed + k * (1 - told);
    told = speed;
    speed = next;
    if (i >= 150) worst = std::max(worst, std::fabs(1 - speed));
  }
  return worst;
}

SpeedLoop cart(double dt) {
  // 10 kg on wheels of 0.1 m and 0.005 kg m2; 2.7 N m until they slip
  return {.dt = dt, .driving = 1 / (0.1 * 10), .turning = 0, .spinning = 0.1 / 0.005, .grip = 2.7};
}

TEST(SpeedLoop, TellsALoopThatGrowsFromOneThatSettles) {
  for (double kp = 10; kp < 400; kp *= 1.1) {           // slower loops settle later
    const SpeedGains gains{.kp = kp, .max_torque = 2};  // no wheel slips
    const double left = rolling_error(kp * 0.005);
    const auto fault = fault_of(cart(0.005), gains);
    if (!fault) {
      EXPECT_LT(left, 1e-3) << kp;
    } else {
      EXPECT_EQ(*fault, SpeedFault::kOvershoots) << kp;
      EXPECT_GT(kp * 0.005, 0.7) << kp;
    }
    if (left > 1) {
      EXPECT_TRUE(fault) << kp;
    }
  }
}

TEST(SpeedLoop, SlippingCountsWhereTorqueCanBreakTheGrip) {
  SpeedGains gains{.kp = 20, .max_torque = 100};
  EXPECT_EQ(fault_of(cart(0.005), gains), SpeedFault::kBreaksAway);  // 20 * 0.005 * 20 = 2
  gains.max_torque = 2.7;
  EXPECT_FALSE(fault_of(cart(0.005), gains));
  gains = {.kp = 2.5, .max_torque = 100};  // 1 m/s asks for less than the grip
  EXPECT_FALSE(fault_of(cart(0.05), gains));
  SpeedLoop loose = cart(0.05);
  loose.slips_ever = true;
  EXPECT_EQ(fault_of(loose, gains), SpeedFault::kBreaksAway);
}

TEST(SpeedLoop, NamesGainsThatSettle) {
  for (const double dt : {0.001, 0.005, 0.02, 0.05})
    for (const bool slips : {false, true}) {
      SpeedLoop loop = cart(dt);
      loop.slips_ever = slips;
      const SpeedGains better = settling_gains(loop, {.kp = 1e4, .max_torque = 100});
      EXPECT_FALSE(fault_of(loop, better)) << dt;
      EXPECT_GT(better.max_torque, loop.grip);
      EXPECT_GT(better.ki, 0);
      EXPECT_LE(settling_gains(loop, {.kp = 1e4, .max_torque = 1}).max_torque, 1) << "what its motors give";
    }
}

}  // namespace
}  // namespace mvsim::speed_loop_test
