// A line of commands: the command of one delay ago arrives, also for parts of steps.
#include "vehicle/command_filters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "base/random.h"

namespace mvsim::delay_line_test {
namespace {

constexpr double kDt = 0.005;

std::vector<double> new_line(size_t values) {
  return std::vector<double>(delay_line_size(delay_line_places(kDt), values), 0.0);
}

void pass(std::vector<double>& line, double delay, double dt, const double* command, const double* initial,
          std::span<double> arriving) {
  const MissingCommand missing =
      pass_delay_line(line.data(), delay_line_places(kDt), delay, dt, command, arriving);
  if (missing.share > 0) fill_missing(missing, initial, arriving);
}

TEST(DelayLine, WholeStepsArriveAsTheyWereSent) {
  for (const int steps : {0, 1, 3, 40, 200}) {
    std::vector<double> line = new_line(2);
    for (int k = 0; k < 500; ++k) {
      const double command[] = {std::sin(k), std::cos(k)}, initial[] = {7, 8};
      double out[2];
      pass(line, steps * kDt, kDt, command, initial, out);
      EXPECT_EQ(out[0], k < steps ? 7 : std::sin(k - steps)) << steps << " " << k;
      EXPECT_EQ(out[1], k < steps ? 8 : std::cos(k - steps)) << steps << " " << k;
    }
  }
}

// A step of the command at 0 arrives so that its integral is that of the late command: sum of outputs * dt =
// T - delay, whatever the delay.
TEST(DelayLine, APartOfAStepCountsAsThatPart) {
  for (const double delay : {0.0012, 0.0049, 0.0123, 0.0999}) {
    std::vector<double> line = new_line(1);
    double sum = 0;
    constexpr int kSteps = 100;
    for (int k = 0; k < kSteps; ++k) {
      const double command = 1, initial = 0;
      double out = 0;
      pass(line, delay, kDt, &command, &initial, {&out, 1});
      sum += kDt * out;
    }
    EXPECT_NEAR(sum, kSteps * kDt - delay, 1e-12) << delay;
  }
}

TEST(DelayLine, StepsOfAnyLengthKeepTheIntegral) {
  RandomStream random(3, 0, StreamPurpose::kSpawn);
  std::vector<double> line = new_line(1);
  double time = 0, sum = 0;
  while (time < 3) {
    const double dt = random.uniform(0.3, 1) * kDt, command = 1, initial = 0;
    double out = 0;
    pass(line, 0.0371, dt, &command, &initial, {&out, 1});
    time += dt;
    sum += dt * out;
  }
  EXPECT_NEAR(sum, time - 0.0371, 1e-9);
}

TEST(DelayLine, ForgedNumbersDoNoHarm) {
  for (const double forged : {-1.0, std::nan(""), 1e300, 1e14}) {
    std::vector<double> line = new_line(1);
    line[0] = forged;
    const double command = 1, initial = 0;
    double out = 0;
    for (int i = 0; i < 10; ++i) pass(line, 0.02, kDt, &command, &initial, {&out, 1});
    EXPECT_GE(out, 0);
    EXPECT_LE(out, 1);
  }
}

TEST(DelayLine, ItsLengthIsBounded) {
  EXPECT_EQ(longest_delay(0.01), 1);
  EXPECT_EQ(longest_delay(1e-4), 0.1);
  EXPECT_LT(delay_line_size(delay_line_places(1e-6), 3), 5000u);
}

}  // namespace
}  // namespace mvsim::delay_line_test
