// Worked values of the notes on the vehicle-terrain interface, and what every surface must obey.
#include "tire/vti_traction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/math.h"
#include "base/random.h"
#include "tire/slip.h"
#include "tire/vti_mavs.h"

namespace mvsim {
namespace {

constexpr double kPsi = 6894.76;

// A tire of the MRZR with 15 % deflection under 3 kN.
TireContact mrzr(double psi) {
  return {3000, 0.15 * 0.1651, 0.1651, 0.2286, 0.6604, psi * kPsi};
}

struct Worked {
  double psi, gross, resistance;
};

TEST(VtiWorked, Sand) {
  for (const Worked& w : {Worked{10, 0.317, 0.781},
                          {30, 0.369, 0.447},
                          {60, 0.423, 0.173},
                          {100, 0.470, 0.084},
                          {200, 0.533, 0.044},
                          {300, 0.565, 0.034}}) {
    const Traction t = traction(Surface::kSand, mrzr(w.psi), 0.2);
    EXPECT_NEAR(t.gross, w.gross, 5.1e-4) << w.psi;
    EXPECT_NEAR(t.resistance, w.resistance, 5.1e-4) << w.psi;
  }
}

TEST(VtiWorked, Clay) {
  for (const Worked& w : {Worked{10, 0.613, 0.963},
                          {30, 0.387, 0.113},
                          {60, 0.638, 0.034},
                          {100, 0.775, 0.017},
                          {200, 0.850, 0.009},
                          {300, 0.863, 0.008}}) {
    const Traction t = traction(Surface::kClay, mrzr(w.psi), 0.2);
    EXPECT_NEAR(t.gross, w.gross, 6e-4) << w.psi;
    EXPECT_NEAR(t.resistance, w.resistance, 6e-4) << w.psi;
  }
}

TEST(VtiWorked, ClayOfMavs) {
  EXPECT_NEAR(mavs_force(Surface::kClay, mrzr(100), 0.2, 0, 0.1).x / 3000, 0.98, 5e-3);
  EXPECT_NEAR(mavs_force(Surface::kClay, mrzr(30), 0.2, 0, 0.1).x / 3000, 0.18, 5e-3);
  // without slip MAVS pushes backward with the whole load
  EXPECT_EQ(mavs_force(Surface::kClay, mrzr(100), 0, 0, 0.1).x, -3000);
}

TEST(VtiWorked, SandOfMavs) {
  const double slips[] = {0.05, 0.1, 0.2, 0.5, 1};
  const struct {
    double numeric, pull[5];
  } kRows[] = {{7, {.060, .111, .177, .212, .102}},
               {10, {.114, .205, .309, .365, .272}},
               {20, {.214, .376, .545, .643, .585}},
               {60, {.279, .488, .699, .824, .805}}};
  for (const auto& row : kRows) {
    TireContact c = mrzr(1);
    c.cone_index = row.numeric * c.load / (c.width * c.diameter) * (1 + 3 * c.width / c.diameter) /
                   (1 + 5 * c.deflection / c.section_height);
    for (size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(mavs_force(Surface::kSand, c, slips[i], 0, 0.1).x / c.load, row.pull[i], 5.1e-4);
  }
}

TEST(VtiWorked, RigidSlopesAtZeroSlip) {
  const std::pair<Surface, double> kSlopes[] = {
      {Surface::kDry, 19}, {Surface::kWet, 22.632}, {Surface::kSnow, 3}, {Surface::kIce, 0.8}};
  for (const auto& [surface, slope] : kSlopes)
    EXPECT_NEAR(rigid_formula(surface).at(1e-6) / 1e-6, slope, 1e-3);
}

TEST(VtiTraction, GInvariantsOfEverySurface) {
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
}  // namespace mvsim
