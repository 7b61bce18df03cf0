// Invariants of every tire model, which need no oracle, at its default parameters and on every ground.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "base/random.h"
#include "tire/tire_rig.h"
#include "tire/vti_traction.h"

namespace mvsim::invariants_test {
namespace {

using test::params_of;
using test::TireRig;

TireInput random_wheel(RandomStream& random) {
  TireInput in;
  in.dt = 0.001 * std::pow(20, random.uniform(0, 1));
  in.torque = random.uniform(-50, 50);
  in.brake = random.uniform(0, 1) < 0.5 ? 0 : random.uniform(0, 100);
  in.mass = random.uniform(0.5, 50);
  in.effective_mass = in.mass * random.uniform(0.3, 1);
  in.load = in.mass * 9.81;
  in.velocity = {random.uniform(-5, 5), random.uniform(-2, 2)};
  in.radius = random.uniform(0.05, 0.5);
  in.width = in.radius / 2;
  in.inertia = random.uniform(0.05, 0.5) * in.mass * in.radius * in.radius;
  in.spin = random.uniform(-8, 8) / in.radius;
  in.slope_force = {random.uniform(-0.2, 0.2) * in.load, random.uniform(-0.2, 0.2) * in.load};
  const auto half_of_them = [&](double from, double to, double otherwise) {
    const double value = random.uniform(from, to);
    return random.uniform(0, 1) < 0.5 ? value : otherwise;
  };
  in.ground.mu = half_of_them(0.05, 1.2, in.ground.mu);
  in.ground.c_rr = half_of_them(0, 0.05, in.ground.c_rr);
  in.ground.surface = static_cast<int>(half_of_them(0, kSurfaceCount, in.ground.surface));
  in.ground.cone_index = half_of_them(2e4, 2e6, in.ground.cone_index);
  return in;
}

struct Limit {
  double along, across;  // shares of the load
  bool ellipse;          // both together
};

// By the definition of each model, its default parameters and the ground. None of a model that is not here: a
// new one has it in a test of its own.
std::optional<Limit> limit_of(const TireModel& model, const GroundPatch& ground) {
  const double mu = ground.mu >= 0 ? ground.mu : 0.8;
  const auto surface = static_cast<Surface>(std::max(0, ground.surface));
  // soil resists motion beside what it lends, each at most the load
  const double peak = is_soil(surface) ? 1 : rigid_formula(surface).peak;
  const std::map<std::string_view, Limit> limits{
      {"default", {mu, mu, false}},
      {"wardiagnemma", {mu, mu, false}},
      {"skid", {mu, mu, true}},
      {"ellipse", {7.5 * 0.1, 8.5 * 0.1, false}},
      {"vti", {is_soil(surface) ? 2 : peak, peak, !is_soil(surface)}}};
  const auto found = limits.find(model.name());
  return found == limits.end() ? std::nullopt : std::optional(found->second);
}

class EveryTire : public testing::TestWithParam<const TireModel*> {
 protected:
  const TireModel& model() const { return *GetParam(); }
  TireOutput step(const TireInput& in) const { return model().step(params_.data(), in); }
  const std::vector<double> params_ = params_of(*GetParam());
  RandomStream random_{22, 0, StreamPurpose::kSpawn};
};

INSTANTIATE_TEST_SUITE_P(All, EveryTire, testing::ValuesIn(tire_models().begin(), tire_models().end()),
                         [](const auto& info) { return std::string(info.param->name()); });

TEST_P(EveryTire, ForceNeverExceedsItsLimit) {
  if (!limit_of(model(), {})) GTEST_SKIP() << "the test of this model has its limits";
  double max_along = 0, max_across = 0;
  for (int i = 0; i < 20000; ++i) {
    const TireInput in = random_wheel(random_);
    const Limit limit = limit_of(model(), in.ground).value();
    const TireOutput out = step(in);
    const double along = std::fabs(out.force.x) / in.load, across = std::fabs(out.force.y) / in.load;
    ASSERT_LE(along, limit.along * (1 + 1e-9)) << i;
    ASSERT_LE(across, limit.across * (1 + 1e-9)) << i;
    if (limit.ellipse) {
      ASSERT_LE(norm({along / limit.along, across / limit.across}), 1 + 1e-9) << i;
    }
    ASSERT_TRUE(std::isfinite(out.spin));
    max_along = std::max(max_along, along / limit.along);
    max_across = std::max(max_across, across / limit.across);
  }
  EXPECT_GT(max_along, 0.95);  // and the limit is reached
  EXPECT_GT(max_across, 0.95);
}

// Without load there is no force, for every choice of a parameter that is one of several names.
TEST_P(EveryTire, WithoutLoadThereIsNoForce) {
  const std::span<const ParamInfo> table = model().params();
  for (int i = 0; i < 2000; ++i) {
    TireInput in = random_wheel(random_);
    in.load = 0;
    std::vector<double> params = params_;
    for (size_t k = 0; k < table.size(); ++k)
      if (!table[k].choices.empty())
        params[k] = std::floor(random_.uniform(0, static_cast<double>(table[k].choices.size())));
    const Vec2 force = model().step(params.data(), in).force;
    EXPECT_EQ(std::fabs(force.x) + std::fabs(force.y), 0) << i;
  }
}

TEST_P(EveryTire, LeftAndRightForwardAndBackwardAreMirrorImages) {
  for (int i = 0; i < 5000; ++i) {
    const TireInput in = random_wheel(random_);
    const TireOutput out = step(in);
    TireInput left = in;
    left.velocity.y *= -1;
    left.slope_force.y *= -1;
    ASSERT_EQ(step(left).force, (Vec2{out.force.x, -out.force.y}));
    ASSERT_EQ(step(left).spin, out.spin);
    TireInput back = in;
    back.velocity.x *= -1;
    back.slope_force.x *= -1;
    back.spin *= -1;
    back.torque *= -1;
    ASSERT_NEAR(step(back).force.x, -out.force.x, 1e-9 * in.load);
    ASSERT_NEAR(step(back).force.y, out.force.y, 1e-9 * in.load);
    ASSERT_NEAR(step(back).spin, -out.spin, 1e-9 * (1 + std::fabs(out.spin)));
  }
}

TEST_P(EveryTire, WithoutTorqueEnergyNeverGrows) {
  for (int i = 0; i < 1000; ++i) {
    TireRig rig(model(), params_);
    rig.wheel = random_wheel(random_);
    rig.wheel.effective_mass = rig.wheel.mass;
    rig.wheel.torque = 0;
    rig.wheel.slope_force = {};
    const auto energy = [&] {
      return (rig.wheel.mass * dot(rig.wheel.velocity, rig.wheel.velocity) +
              rig.wheel.inertia * rig.wheel.spin * rig.wheel.spin) /
             2;
    };
    const double first = energy();
    for (int k = 0; k < 200; ++k) {
      const double before = energy();
      rig.step();
      ASSERT_LE(energy(), before + 1e-9 * first) << i << " step " << k;
    }
  }
}

}  // namespace
}  // namespace mvsim::invariants_test
