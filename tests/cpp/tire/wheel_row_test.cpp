// A row of wheels makes the step of each wheel, to the bit.
#include "tire/wheel_row.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/random.h"
#include "base/simd.h"
#include "tire/rolling.h"
#include "tire/tire_rig.h"

namespace mvsim::test::wheel_row_test {
namespace {

// Often zero, since zero has a sign.
double some(RandomStream& random, double most) {
  const double kind = random.uniform(0, 1);
  if (kind < 0.1) return 0;
  if (kind < 0.2) return -0.0;
  return random.uniform(-most, most) * (kind < 0.4 ? 1e-3 : 1);
}

// Light and heavy wheels, some of which roll, some slip, and some would be turned back by what brakes them.
TireInput random_wheel(RandomStream& random) {
  TireInput in;
  in.dt = 0.01;
  in.mass = random.uniform(0.1, 500);
  in.effective_mass = random.uniform(0, 1) < 0.2 ? 0 : random.uniform(0.05, 1) * in.mass;
  in.holding_mass = random.uniform(0, 1) < 0.5 ? 0 : random.uniform(0.05, 1) * in.mass;
  in.load = 9.81 * in.mass;
  in.radius = random.uniform(0.02, 0.6);
  in.inertia = random.uniform(1e-5, 0.5) * in.mass * in.radius * in.radius;
  in.motor_damping = random.uniform(0, 1) < 0.5 ? 0 : random.uniform(0, 2);
  in.velocity = {some(random, 4), some(random, 2)};
  in.spin = random.uniform(0, 1) < 0.3 ? in.velocity.x / in.radius : some(random, 30);
  in.torque = some(random, random.uniform(0, 1) < 0.5 ? 0.2 * in.load * in.radius : 3 * in.load * in.radius);
  return in;
}

std::vector<double> random_params(const TireModel& model, RandomStream& random) {
  const double c_rr = random.uniform(0, 1) < 0.3 ? 0 : random.uniform(0, 0.5);
  const double damping = random.uniform(0, 1) < 0.3 ? 20 : random.uniform(0, 0.1);
  return params_of(model, {{"C_rr", c_rr}, {"C_damping", damping}, {"mu", random.uniform(0, 1.5)}});
}

uint64_t bits(double value) {
  return std::bit_cast<uint64_t>(value);
}

void expect_same_step(const TireModel& model, const double* params, std::span<const TireInput> wheels) {
  WheelRow row;
  row.count = wheels.size();
  row.dt = wheels[0].dt;
  for (size_t i = 0; i < kMostInRow; ++i) set_wheel(row, i, wheels[i % wheels.size()]);
  for (size_t i = 0; i < wheels.size(); ++i) {
    row.torque[i] = wheels[i].torque;
    row.spin[i] = wheels[i].spin;
    row.velocity_x[i] = wheels[i].velocity.x;
    row.velocity_y[i] = wheels[i].velocity.y;
  }
  model.step_row(params, row);
  for (size_t i = 0; i < wheels.size(); ++i) {
    const TireOutput expected = model.step(params, wheels[i]);
    ASSERT_EQ(bits(row.force_x[i]), bits(expected.force.x)) << row.force_x[i] << " " << expected.force.x;
    ASSERT_EQ(bits(row.force_y[i]), bits(expected.force.y)) << row.force_y[i] << " " << expected.force.y;
    ASSERT_EQ(bits(row.spin_after[i]), bits(expected.spin)) << row.spin_after[i] << " " << expected.spin;
  }
}

TEST(WheelRow, MakesTheStepOfEachWheelOnEveryInstructionSet) {
  size_t models = 0;
  for (const TireModel* model : tire_models()) {
    if (!model->has_rows()) continue;
    ++models;
    for (const std::string& target : simd_targets()) {
      const ScopedSimdTarget use(target);
      RandomStream random(5, 0, StreamPurpose::kActionNoise);
      for (int i = 0; i < 8000; ++i) {
        const std::vector<double> params = random_params(*model, random);
        std::vector<TireInput> wheels(1 + static_cast<size_t>(i) % kMostInRow);
        for (TireInput& wheel : wheels) wheel = random_wheel(random);
        expect_same_step(*model, params.data(), wheels);
        if (HasFatalFailure()) FAIL() << model->name() << " on " << target << ", row " << i;
      }
    }
  }
  EXPECT_GE(models, 2);
}

}  // namespace
}  // namespace mvsim::test::wheel_row_test
