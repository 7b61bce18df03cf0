// Degenerate bodies: refused at load, or stable for a thousand steps.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test::degenerate_test {
namespace {

constexpr int kSteps = 1000;

std::string block(const std::string& inside, const std::string& pose = "0 0 0") {
  return "<block><init_pose>" + pose + "</init_pose>" + inside + "</block>";
}
std::string box(const std::string& x, const std::string& y) {
  return "<geometry type='box' lx='" + x + "' ly='" + y + "' lz='1'/>";
}

// The farthest that a block gets from the origin; infinite where a value is no number.
double farthest_after_steps(const std::string& body) {
  Simulation sim(model_of(body), 1);
  for (size_t v = 0; v < sim.model().vehicles.size(); ++v) sim.set_twist(v, 1, 0.3);
  for (int i = 0; i < kSteps; ++i) {
    sim.step();
    if (!is_finite(sim)) return INFINITY;
  }
  double out = 0;
  for (size_t b = 0; b < sim.model().blocks.size(); ++b) {
    const Pose3 pose = block_pose(sim, b);
    out = std::max(out, std::hypot(pose.x, pose.y));
  }
  return out;
}

TEST(Degenerate, WithoutMassOrExtentABodyIsRefused) {
  for (const char* wheel : {"mass='0'", "diameter='0'", "width='0'", "inertia='0'", "mass='1e-320'"})
    EXPECT_NE(error_of_world(vehicle("differential", "<l_wheel " + std::string(wheel) + "/>")), "") << wheel;
  EXPECT_NE(error_of_world(vehicle("differential", "<chassis mass='0'/>")), "");
  EXPECT_NE(error_of_world(vehicle("differential", "<chassis zmin='1' zmax='1'/>")), "");
  EXPECT_NE(error_of_world(block("<shape><pt>0 0</pt><pt>1 0</pt><pt>2 0</pt></shape>")), "") << "a line";
  EXPECT_NE(error_of_world(block("<shape><pt>0 0</pt><pt>0 0</pt><pt>0 0</pt></shape>")), "") << "a point";
  EXPECT_NE(error_of_world(block(box("0.001", "0.001"))), "") << "a millimetre";
}

TEST(Degenerate, BodiesAtOnePlaceAreStable) {
  std::string body;
  for (int i = 0; i < 12; ++i) body += block("");
  EXPECT_LT(farthest_after_steps(body), 20) << "pushed apart, not shot away";
  EXPECT_LT(farthest_after_steps(body + bot("a", kPid, kOrigin) + bot("b", kIdeal, kOrigin)), 20);
  EXPECT_LT(farthest_after_steps(block("<static>true</static>") + block("<mass>1e-6</mass>") +
                                 block("<mass>1e7</mass>")),
            20);
}

TEST(Degenerate, VerySmallAndVeryLargeBodiesAreStable) {
  EXPECT_LT(farthest_after_steps(block(box("0.005", "0.005"), "0.6 0 0") + bot("a", kPid, kOrigin)), 10);
  EXPECT_LT(farthest_after_steps(block(box("1e4", "1e4"), "1 -5000 0") + bot("a", kPid, kOrigin)), 5100);
  EXPECT_LT(farthest_after_steps(block("<static>true</static>" + box("1e4", "1e4"), "1 -5000 0") +
                                 bot("a", kPid, kOrigin)),
            5100);
  EXPECT_LT(farthest_after_steps(block(box("50", "0.005"), "0.6 -25 0") + bot("a", kPid, kOrigin)), 60);
}

TEST(Degenerate, SlowTwentyThousandBlocksAreStable) {
  const std::string field =
      "<for var='i' from='0' to='199'><for var='j' from='0' to='99'><block><static>$f{j % 2}</static>"
      "<init_pose>$f{1 + i} $f{j} 0</init_pose><geometry type='cylinder' radius='0.2' "
      "length='1'/></block></for></for>";
  EXPECT_LT(farthest_after_steps(field + bot("a", kPid, kOrigin)), 300);
}

}  // namespace
}  // namespace mvsim::test::degenerate_test
