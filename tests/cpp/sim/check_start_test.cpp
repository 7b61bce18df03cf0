// Vehicles that start inside of something are refused by name; those that only touch are not.
#include "sim/check_start.h"

#include <gtest/gtest.h>

#include "sim/worlds.h"

namespace mvsim::test {
namespace {

std::string error_of(const std::string& body) {
  const Simulation sim(model_of(body), 0);
  try {
    check_start(sim);
  } catch (const WorldFileError& e) {
    EXPECT_GT(e.where().line, 0);
    EXPECT_GT(e.where().column, 0);
    return e.what();
  }
  return "";
}

std::string block(const std::string& name, const std::string& pose, const std::string& more = "") {
  return "<block name='" + name + "'><init_pose>" + pose + " 0</init_pose>" + more +
         "<geometry type='box' lx='1' ly='1' lz='1'/></block>";
}

TEST(CheckStart, RefusesWhoStandsInSomething) {
  const std::string robot = bot("r", kIdeal, kOrigin);  // 0.8 x 0.5 m about the origin
  EXPECT_TRUE(has(error_of(robot + block("b", "0.3 0", "<static>true</static>")),
                  "<vehicle> 'r' starts inside of the block 'b'"));
  EXPECT_TRUE(has(error_of(robot + block("box", "-0.5 -0.5")), "the block 'box'"));
  EXPECT_TRUE(has(error_of("<walls><shape><pt>-1 0.1</pt><pt>1 0.1</pt></shape></walls>" + robot),
                  "inside of the wall 'wall_0001'"));
  EXPECT_TRUE(has(error_of(robot + bot("s", kIdeal, "<init_pose>0.7 0.2 45</init_pose>")),
                  "inside of the vehicle 's'"));
}

TEST(CheckStart, AcceptsWhoStandsFree) {
  const std::string robot = bot("r", kIdeal, kOrigin);
  EXPECT_EQ(error_of(robot), "");
  EXPECT_EQ(error_of(robot + block("b", "0.4 -0.5")), "");  // flush with it
  EXPECT_EQ(error_of(robot + block("b", "0 0", "<intangible>true</intangible>")), "");
  EXPECT_EQ(error_of(robot + bot("s", kIdeal, "<init_pose>0.9 0 0</init_pose>")), "");
  // joined bodies do not collide
  EXPECT_EQ(error_of(robot + bot("s", kIdeal, "<init_pose>0.5 0 0</init_pose>") +
                     "<joint type='revolute' body_a='r' anchor_a='0.5 0' body_b='s' anchor_b='0 0'/>"),
            "");
}

}  // namespace
}  // namespace mvsim::test
