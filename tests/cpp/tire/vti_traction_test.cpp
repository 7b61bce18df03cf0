// Traction curves against values computed by hand, and properties that every surface must have.
#include "tire/vti_traction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/math.h"
#include "base/random.h"
#include "tire/rolling.h"
#include "tire/vti_mavs.h"

namespace mvsim::vti_traction_test {
namespace {

constexpr double kPsi = 6894.76;

// A tire of the MRZR with 15 % deflection under 3 kN.
TireContact mrzr(double psi) {
  return {3000, 0.15 * 0.1651, 0.1651, 0.2286, 0.6604, psi * kPsi};
}

// Coefficients at a slip of 0.2, rounded to the digits given.
struct Worked {
  double psi, gross, resistance;
};

void expect_worked(Surface surface, double within, std::initializer_list<Worked> rows) {
  for (const Worked& w : rows) {
    const Traction t = traction(surface, mrzr(w.psi), 0.2);
    EXPECT_NEAR(t.gross, w.gross, within) << w.psi;
    EXPECT_NEAR(t.resistance, w.resistance, within) << w.psi;
  }
}

TEST(VtiWorked, Sand) {
  expect_worked(Surface::kSand, 5.1e-4,
                {{10, 0.317, 0.781},
                 {30, 0.369, 0.447},
                 {60, 0.423, 0.173},
                 {100, 0.470, 0.084},
                 {200, 0.533, 0.044},
                 {300, 0.565, 0.034}});
}

TEST(VtiWorked, Clay) {
  expect_worked(Surface::kClay, 6e-4,
                {{10, 0.613, 0.963},
                 {30, 0.387, 0.113},
                 {60, 0.638, 0.034},
                 {100, 0.775, 0.017},
                 {200, 0.850, 0.009},
                 {300, 0.863, 0.008}});
}

TEST(VtiWorked, ClayOfMavs) {
  EXPECT_NEAR(mavs_force(Surface::kClay, mrzr(100), 0.2, 0, 0.1).x / 3000, 0.98, 5e-3);
  EXPECT_NEAR(mavs_force(Surface::kClay, mrzr(30), 0.2, 0, 0.1).x / 3000, 0.18, 5e-3);
  // without slip MAVS pushes backward with the whole load
  EXPECT_EQ(mavs_force(Surface::kClay, mrzr(100), 0, 0, 0.1).x, -3000);
}

// Sand of that mobility numeric under the tire.
TireContact sand_of(double numeric) {
  TireContact c = mrzr(1);
  c.cone_index = numeric * c.load / (c.width * c.diameter) * (1 + 3 * c.width / c.diameter) /
                 (1 + 5 * c.deflection / c.section_height);
  return c;
}

double mavs_pull(const TireContact& c, double slip) {
  return mavs_force(Surface::kSand, c, slip, 0, 0.1).x / c.load;
}

TEST(VtiWorked, SandOfMavs) {
  const double slips[] = {0.05, 0.1, 0.2, 0.5, 1};
  const struct {
    double numeric, pull[5];
  } kRows[] = {{7, {.060, .111, .177, .212, .102}},
               {10, {.114, .205, .309, .365, .272}},
               {20, {.214, .376, .545, .643, .585}},
               {60, {.279, .488, .699, .824, .805}}};
  for (const auto& row : kRows)
    for (size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(mavs_pull(sand_of(row.numeric), slips[i]), row.pull[i], 5.1e-4);
}

TEST(VtiWorked, SandOfMavsJumpsAtANumericOfFive) {
  double above = 0, below = 0;
  for (double slip = 0; slip <= 1; slip += 0.01) {
    above = std::max(above, mavs_pull(sand_of(5.01), slip));
    below = std::max(below, mavs_pull(sand_of(4.99), slip));
  }
  EXPECT_NEAR(above, 0.07, 5e-3);
  EXPECT_NEAR(below, 0, 1e-3);
  EXPECT_NEAR(mavs_pull(sand_of(5.01), 1), -0.11, 5e-3);
  EXPECT_GT(mavs_pull(sand_of(5.01), -1), 0) << "a locked brake pushes forward";
}

TEST(VtiWorked, SlipOfMavs) {
  for (double rolling = -5; rolling <= 5; rolling += 0.5)
    for (double speed = -5; speed <= 5; speed += 0.5) {
      const bool locked_backward = rolling == 0 && speed < 0;  // the one exception
      EXPECT_EQ(mavs_slip_ratio(rolling, speed, false), locked_backward ? 0 : slip_ratio(rolling, speed, 0));
    }
  EXPECT_EQ(slip_ratio(0, -5, 0), 1);
  // straight on with the wheels steered by 0.1 rad: counted twice
  EXPECT_NEAR(mavs_slip_angle(5 * std::cos(0.1), -5 * std::sin(0.1), 0.1), -0.2, 1e-12);
  EXPECT_NEAR(slip_angle(5 * std::cos(0.1), -5 * std::sin(0.1)), -0.1, 1e-12);
}

// The drag of free rolling is that of a coefficient 2 R^2 / v: less the faster it rolls.
TEST(VtiWorked, DragOfMavsFallsWithSpeed) {
  const MavsTire tire{.radius = 0.33, .stiffness = 470000, .inertia = 60, .crossover = 0.1};
  for (const double speed : {5.0, 10.0, 20.0}) {
    const MavsUpdate out =
        mavs_update(tire, Surface::kDry, 1e6,
                    {.dt = 1e-4, .depth = 0.005, .speed = speed, .spin = speed / 0.33, .torque = 1e-9});
    EXPECT_NEAR(-out.forward / out.up, 2 * 0.33 * 0.33 / speed, 1e-9);
  }
}

TEST(VtiWorked, RigidSlopesAtZeroSlip) {
  const std::pair<Surface, double> kSlopes[] = {
      {Surface::kDry, 19}, {Surface::kWet, 22.632}, {Surface::kSnow, 3}, {Surface::kIce, 0.8}};
  for (const auto& [surface, slope] : kSlopes)
    EXPECT_NEAR(rigid_formula(surface).at(1e-6) / 1e-6, slope, 1e-3);
}

TEST(VtiLadder, GForceFollowsSlipAndStrengthAndEndsWithLoad) {
  for (int s = 0; s < kSurfaceCount; ++s) {
    const auto surface = static_cast<Surface>(s);
    double weaker = -2;
    for (const double psi : {10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 1e4}) {
      const TireContact c = mrzr(psi);
      const Traction at_slip = traction(surface, c, 0.3);
      EXPECT_GE(at_slip.gross - at_slip.resistance, weaker) << kSurfaceNames[s];  // monotone in strength
      weaker = at_slip.gross - at_slip.resistance;
      double highest = 0;
      for (double slip = 0; slip <= 1; slip += 0.001) {
        const Traction t = traction(surface, c, slip);
        EXPECT_GE(t.gross, 0);  // drives with slip
        EXPECT_EQ(traction(surface, c, -slip).gross, -t.gross);
        EXPECT_LE(t.gross, t.peak * (1 + 1e-12));
        highest = std::max(highest, t.gross);
      }
      EXPECT_NEAR(highest, at_slip.peak, 1e-3);  // the limit is reached
    }
    TireContact unloaded = mrzr(100);
    unloaded.load = 0;
    EXPECT_EQ(corrected_force(surface, unloaded, 0.5, 0.5, 0.1, 1), (Vec2{0, 0}));
    EXPECT_EQ(mavs_force(surface, unloaded, 0.5, 0.5, 0.1).x, 0);
  }
}

TEST(VtiTraction, ForcesStayFiniteAtTheEndsOfTheirRanges) {
  for (const Surface surface : {Surface::kSand, Surface::kClay})
    for (const double load : {1e-9, 1.0, 1e9})
      for (const double strength : {1e-9, 1.0, 1e6, 1e15})
        for (const double deflection : {0.0, 0.1651, 10.0})
          for (const double slip : {-1.0, 0.0, 1e-12, 1.0}) {
            const TireContact c{load, deflection, 0.1651, 0.2286, 0.6604, strength};
            const Vec2 force = corrected_force(surface, c, slip, 0.1, 0.1, 1);
            EXPECT_LE(std::fabs(force.x), 2.1 * load);
            EXPECT_LE(std::fabs(force.y), 1.0 * load);
          }
}

TEST(VtiTraction, LateralForceIsWhatTheEllipseLeaves) {
  RandomStream random(1, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 2000; ++i) {
    const auto surface = static_cast<Surface>(random.uniform(0, kSurfaceCount));
    const TireContact c = mrzr(random.uniform(20, 300));
    const double slip = random.uniform(-1, 1), angle = random.uniform(-1.5, 1.5);
    const Traction t = traction(surface, c, slip);
    const Vec2 f = corrected_force(surface, c, slip, angle, 5 * kDegree, 0);
    EXPECT_LE(norm(f), t.peak * c.load * (1 + 1e-12));
    EXPECT_LE(f.y * angle, 0);
    // alone, it follows Crolla's curve up to the surface's own friction
    const Vec2 alone = corrected_force(surface, c, 0, angle, 5 * kDegree, 0);
    EXPECT_NEAR(std::fabs(alone.y), t.peak * c.load * (1 - std::exp(-std::fabs(angle) / (5 * kDegree))),
                1e-9 * c.load);
  }
}

}  // namespace
}  // namespace mvsim::vti_traction_test
