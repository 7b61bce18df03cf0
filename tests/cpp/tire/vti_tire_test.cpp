// The `vti` tire as a vehicle feels it: starting, coasting, braking, standing on a slope.
#include <gtest/gtest.h>

#include <cmath>

#include "base/math.h"
#include "tire/rolling.h"
#include "tire/tire_rig.h"
#include "tire/vti_traction.h"

namespace mvsim::vti_tire_test {
namespace {

using namespace test;

constexpr double kGravity = 9.81;

TireRig on(Surface surface, double psi = 100, double dt = 0.005) {
  return {vti_tire(),
          params_of(vti_tire(), {{"surface", static_cast<double>(surface)},
                                 {"cone_index_Pa", psi * 6894.76},
                                 {"section_height", 0.1651},
                                 {"stiffness", 70000},
                                 {"C_damping", 0}}),
          dt};
}

const Surface kSurfaces[] = {Surface::kDry, Surface::kWet,  Surface::kSnow,
                             Surface::kIce, Surface::kSand, Surface::kClay};

TEST(VtiTire, StartsWithoutChatter) {
  for (const double dt : {0.001, 0.005, 0.02}) {
    TireRig rig = on(Surface::kDry, 100, dt);
    rig.wheel.torque = 200;
    const double arm = 0.33 - rig.wheel.load / 70000;
    for (int i = 0; i < static_cast<int>(2 / dt); ++i) {
      rig.step();
      EXPECT_GT(rig.last.force.x, 0);
      EXPECT_LT(rig.last.force.x, 1.05 * 200 / arm);
    }
    // the torque that accelerates the wheel itself is lost for the vehicle
    const double rolling_mass = 320 + rig.wheel.inertia / (arm * arm);
    EXPECT_NEAR(rig.wheel.velocity.x, 2 * 200 / arm / rolling_mass, 0.01);
  }
}

TEST(VtiTire, SteadyForceLiesOnTheCurve) {
  for (const Surface surface : kSurfaces) {
    TireRig rig = on(surface, 200);
    rig.roll_at(5);
    rig.wheel.effective_mass = 1e12;
    rig.wheel.torque = 60;
    for (int i = 0; i < 4000; ++i) {  // held at 5 m/s
      rig.step();
      rig.wheel.velocity.x = 5;
    }
    const double deflection = rig.wheel.load / 70000, arm = 0.33 - deflection;
    const TireContact contact{rig.wheel.load, deflection, 0.1651, 0.23, 0.66, 200 * 6894.76};
    const Traction t = traction(surface, contact, slip_ratio(arm * rig.wheel.spin, 5));
    EXPECT_NEAR(t.gross * contact.load, 60 / arm, 0.01) << static_cast<int>(surface);
    EXPECT_NEAR(rig.last.force.x, (t.gross - t.resistance) * contact.load, 0.01);
  }
}

TEST(VtiLadder, GLockedBrakesStopAsTheCurveSaysAndStay) {
  for (const Surface surface : {Surface::kDry, Surface::kWet, Surface::kSnow, Surface::kIce}) {
    TireRig rig = on(surface);
    rig.roll_at(8);
    rig.wheel.brake = 1500;
    double min = 8;
    while (rig.wheel.velocity.x > 1e-3) {
      rig.step();
      min = std::min(min, rig.wheel.velocity.x);
      ASSERT_LT(rig.distance, 100);
    }
    const double friction = rigid_formula(surface).at(1);
    EXPECT_NEAR(rig.distance, 8 * 8 / (2 * friction * kGravity), 0.03 * rig.distance + 0.05);
    rig.run(2);
    const double stop = rig.distance;
    rig.run(20);
    EXPECT_NEAR(rig.distance, stop, 1e-12);
    EXPECT_GE(min, -1e-9);
    EXPECT_EQ(rig.wheel.spin, 0);
  }
}

TEST(VtiLadder, GWeakBrakeSlowsByItsTorqueAndStays) {
  TireRig rig = on(Surface::kDry);
  rig.roll_at(2);
  rig.wheel.brake = 100;
  const double arm = 0.33 - rig.wheel.load / 70000;
  const double rate = 100 / arm / (320 + rig.wheel.inertia / (arm * arm));
  rig.run(1);
  EXPECT_NEAR(rig.wheel.velocity.x, 2 - rate, 0.02);
  rig.run(3);
  EXPECT_NEAR(rig.wheel.velocity.x, 0, 1e-9);
}

TEST(VtiLadder, GSlopeHoldsWithABrakeAndRollsBackWithout) {
  for (const Surface surface : kSurfaces) {
    const double slope = 0.05;
    TireRig rig = on(surface, 200);
    rig.wheel.slope_force = {-slope * rig.wheel.load, 0.3 * slope * rig.wheel.load};
    rig.wheel.brake = 800;
    rig.run(10);
    EXPECT_NEAR(rig.distance, 0, 1e-9) << static_cast<int>(surface);
    EXPECT_NEAR(norm(rig.wheel.velocity), 0, 1e-9);
    rig.wheel.brake = 0;
    rig.run(1);
    const double arm = 0.33 - rig.wheel.load / 70000;
    const double moved = 320 + rig.wheel.inertia / (arm * arm);
    const TireContact contact{rig.wheel.load, rig.wheel.load / 70000, 0.1651, 0.23, 0.66, 200 * 6894.76};
    const double pull = slope - traction(surface, contact, 0).resistance;
    EXPECT_NEAR(rig.wheel.velocity.x, -std::max(0.0, pull) * rig.wheel.load / moved, 0.02);
  }
}

TEST(VtiTire, SlidesDownWhereFrictionIsTooLittle) {
  TireRig rig = on(Surface::kIce);
  rig.wheel.slope_force = {-0.3 * rig.wheel.load, 0};
  rig.wheel.brake = 800;
  rig.run(1);
  EXPECT_NEAR(rig.wheel.velocity.x, -(0.3 - rigid_formula(Surface::kIce).at(1)) * kGravity, 0.05);
}

TEST(VtiLadder, GCoastsToAStopOnSoilAndNeverBack) {
  for (const Surface surface : {Surface::kSand, Surface::kClay}) {
    TireRig rig = on(surface);
    rig.roll_at(2);
    double before = 2;
    for (int i = 0; i < 4000; ++i) {
      rig.step();
      EXPECT_LE(rig.wheel.velocity.x, before + 1e-12);
      before = rig.wheel.velocity.x;
    }
    EXPECT_NEAR(rig.wheel.velocity.x, 0, 1e-9);
    EXPECT_NEAR(rig.wheel.spin, 0, 1e-6);
  }
}

TEST(VtiTire, WeakSoilHoldsAVehicleThatStrongSoilLetsGo) {
  for (const Surface surface : {Surface::kSand, Surface::kClay}) {
    TireRig weak = on(surface, 6), strong = on(surface, 200);
    weak.wheel.torque = strong.wheel.torque = 700;
    weak.run(3);
    strong.run(3);
    EXPECT_NEAR(weak.distance, 0, 1e-6);
    EXPECT_GT(strong.distance, 5);
    if (surface == Surface::kSand) {
      EXPECT_GT(weak.wheel.spin, 30);  // digs in
    }
  }
}

TEST(VtiTire, GroundOfTheWorldReplacesItsOwn) {
  TireRig rig = on(Surface::kDry);
  rig.roll_at(8);
  rig.wheel.brake = 1500;
  rig.run(0.1);
  EXPECT_NEAR(rig.last.force.x, -rigid_formula(Surface::kDry).at(1) * rig.wheel.load, 50);
  rig.wheel.ground.surface = surface_index("ice");
  rig.step();
  EXPECT_NEAR(rig.last.force.x, -rigid_formula(Surface::kIce).at(1) * rig.wheel.load, 5);
  rig.wheel.ground = {.surface = surface_index("sand"), .cone_index = 10 * 6894.76};
  const double weak = vti_tire().step(rig.params.data(), rig.wheel).force.x;
  rig.wheel.ground.cone_index = 300 * 6894.76;
  EXPECT_GT(std::fabs(weak - vti_tire().step(rig.params.data(), rig.wheel).force.x), 100);
}

TEST(VtiTire, HalvedStepsConverge) {
  const auto run = [](double dt) {
    TireRig rig = on(Surface::kWet, 100, dt);
    rig.roll_at(6);
    rig.wheel.velocity.y = 1;
    rig.wheel.torque = 300;
    rig.run(0.4);
    return rig.wheel.velocity;
  };
  const Vec2 exact = run(0.4 / 16384);
  double last = 1e9;
  for (const double dt : {0.02, 0.01, 0.005, 0.0025}) {
    const double error = norm(run(dt) - exact);
    EXPECT_LT(error, 0.7 * last) << dt;
    last = error;
  }
  EXPECT_LT(last, 0.01);
}

TEST(VtiTire, MavsFormBrakesWithoutTurningBack) {
  TireRig rig = on(Surface::kDry);
  rig.params[0] = 1;  // form="mavs"
  rig.wheel.inertia *= 20;
  rig.roll_at(5);
  rig.wheel.brake = 1500;
  for (int i = 0; i < 1000; ++i) {
    rig.step();
    EXPECT_GE(rig.wheel.spin, -1e-9);
  }
  EXPECT_LT(std::fabs(rig.wheel.velocity.x), 0.1);
}

}  // namespace
}  // namespace mvsim::vti_tire_test
