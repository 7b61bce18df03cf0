// Each number of a world has one range, judged at load with its line: what loads runs.
#include <gtest/gtest.h>

#include <cmath>

#include "model/compile.h"
#include "sim/simulation.h"
#include "worldfile/load_world.h"

namespace mvsim::range_test {
namespace {

std::shared_ptr<const Model> compiled(const std::string& body) {
  return compile_world(load_world_text("<mvsim_world>\n" + body + "\n</mvsim_world>", "/tmp", {}));
}

// The message, with a line; "" when the world loads, which then must run.
std::string error_of(const std::string& body) {
  std::shared_ptr<const Model> model;
  try {
    model = compiled(body);
  } catch (const WorldFileError& e) {
    EXPECT_GT(e.where().line, 0) << e.what();
    return e.what();
  }
  Simulation s(model, 1);
  s.set_always_solver(true);
  for (int i = 0; i < 3; ++i) s.step(model->timestep);
  EXPECT_TRUE(is_finite(s)) << body;
  return "";
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string cylinder(const std::string& radius, const std::string& more = "") {
  return "<block>" + more + "<init_pose>1 0 0</init_pose>\n<geometry type='cylinder' length='1' radius='" +
         radius + "'/></block>";
}

TEST(Range, WhatIsTooSmallForTheSolverIsRefusedAtLoad) {
  const std::string error = error_of(cylinder("0.001", "<static>true</static>"));
  EXPECT_TRUE(has(error, ":2:1: <shape>: the outline is too small for the solver, expected one")) << error;
  EXPECT_TRUE(
      has(error_of(
              "<block><init_pose>1 0 0</init_pose><geometry type='box' lx='.001' ly='.001' lz='1'/></block>"),
          ":2:1: "));
  EXPECT_TRUE(has(
      error_of(
          "<block><init_pose>1 0 0</init_pose><geometry type='box' lx='.0035' ly='.002' lz='1'/></block>"),
      ":2:1: "));
  EXPECT_EQ(error_of(cylinder("0.005")), "");
  EXPECT_EQ(error_of(cylinder("0.002", "<intangible>true</intangible>")), "") << "nothing touches it";
  EXPECT_TRUE(has(error_of("<walls wallThickness='0.001'><shape><pt>0 0</pt><pt>1 0</pt></shape></walls>"),
                  "<wallThickness>: found 0.001, expected >= 0.004"));
  // what passes runs, for every radius about the border
  for (double r = 0.001; r < 0.006; r += 0.0001) error_of(cylinder(std::to_string(r)));
}

TEST(Range, OneForEachValue) {
  EXPECT_TRUE(has(error_of("<collision_threshold>100</collision_threshold>"),
                  ":2:1: <collision_threshold>: found 100, expected >= 0 and <= 10"));
  EXPECT_EQ(error_of("<collision_threshold>10</collision_threshold>"), "");
  EXPECT_TRUE(has(error_of("<simul_timestep>1e-9</simul_timestep>"), ":2:1: <simul_timestep>: found 1e-9"));
  const auto vehicle = [](const std::string& pose, const std::string& more = "") {
    return "<vehicle><dynamics class='differential'/>" + more + "<init_pose>" + pose +
           "</init_pose></vehicle>";
  };
  for (const char* huge : {"1e300", "-1e300", "1e8"})
    for (const std::string& text :
         {vehicle(std::string(huge) + " 0 0"), vehicle(std::string("0 ") + huge + " 0"),
          vehicle(std::string("0 0 ") + huge),
          vehicle("0 0 0", std::string("<init_vel>") + huge + " 0 0</init_vel>"),
          vehicle("0 0 0", std::string("<init_vel>0 0 ") + huge + "</init_vel>"),
          std::string("<gravity>") + huge + "</gravity>"})
      EXPECT_TRUE(has(error_of(text), "expected >=")) << text;
  EXPECT_TRUE(has(error_of(vehicle("0 0 0", "<friction class='default'><mu>1e300</mu></friction>")),
                  "<mu>: found 1e+300, expected >= 0 and <= 1000"));
  EXPECT_TRUE(
      has(error_of(vehicle("0 0 0", "<load_transfer/>") +
                   "<vehicle><dynamics class='differential'><chassis "
                   "zmin='0' zmax='900'/></dynamics><load_transfer/><init_pose>9 0 0</init_pose></vehicle>"),
          "<load_transfer>: the middle of zmin and zmax, 450 m, is no height of a centre of mass"));
}

TEST(Warning, OfYawsThatLookLikeRadians) {
  const auto warnings = [](const std::string& yaw) {
    return joined(compiled("<block><init_pose>0 0 " + yaw + "</init_pose></block>")->warnings);
  };
  for (const char* yaw : {"1.5708", "-1.57", "3.14159", "3.14", "0.785398", "6.2832"})
    EXPECT_TRUE(has(warnings(yaw), ":2:8: <init_pose>: a yaw of ")) << yaw << warnings(yaw);
  EXPECT_TRUE(has(warnings("1.5708"), "1.5708 rad would be 90 degrees"));
  for (const char* yaw : {"0", "1", "1.5", "2", "3", "5", "45", "90", "-180", "30.5", "360", "7.07"})
    EXPECT_FALSE(has(warnings(yaw), "degrees")) << yaw;
}

TEST(Warning, OfWhatHasNoEffect) {
  const std::string plane =
      joined(compiled("<element class='horizontal_plane'><init_vel>1 0 0</init_vel></element>")->warnings);
  EXPECT_TRUE(has(plane, "<init_vel> has no effect in a plane")) << plane;
  const std::string sensor = joined(
      compiled("<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'/><sensor class='laser'>"
               "<ignore_parent_body>true</ignore_parent_body></sensor></vehicle>")
          ->warnings);
  EXPECT_TRUE(has(sensor, "<ignore_parent_body> has no effect")) << sensor;
}

TEST(Block, OfANameThatIsTakenGetsAnother) {
  const std::string block =
      "<block name='b'><init_pose>0 0 0</init_pose><intangible>true</intangible></block>\n";
  const auto model = compiled(block + block + block +
                              "<block name='b_2'><init_pose>0 0 0</init_pose>"
                              "<intangible>true</intangible></block>");
  std::vector<std::string> names;
  for (const BlockModel& b : model->blocks) names.push_back(b.name);
  EXPECT_EQ(names, (std::vector<std::string>{"b", "b_2", "b_3", "b_2_2"}));
  EXPECT_TRUE(
      has(joined(model->warnings), ":3:8: the name 'b' is given to a second <block>, which is called 'b_2'"));
}

TEST(Chassis, AShapeWinsOverOneFromAVisual) {
  const auto model = compiled(
      "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'><chassis>\n<shape_from_visual/>"
      "<shape><pt>-.3 -.2</pt><pt>-.3 .2</pt><pt>.3 .2</pt><pt>.3 "
      "-.2</pt></shape></chassis></dynamics></vehicle>");
  EXPECT_EQ(model->vehicles[0].chassis.outline.size(), 4u);
  EXPECT_TRUE(has(joined(model->warnings), ":3:1: <shape_from_visual> has no effect beside <shape>"));
}

TEST(Shape, OneThatCrossesItselfIsTold) {
  const auto warnings = [](const std::string& points) {
    return joined(
        compiled("<block><init_pose>0 0 0</init_pose>\n<shape>" + points + "</shape></block>")->warnings);
  };
  const std::string bow = "<pt>0 0</pt><pt>1 1</pt><pt>1 0</pt><pt>0 1</pt>";
  EXPECT_TRUE(has(warnings(bow), ":3:1: <shape>: its sides cross each other")) << warnings(bow);
  EXPECT_EQ(warnings("<pt>0 0</pt><pt>1 0</pt><pt>1 1</pt><pt>0 1</pt>"), "");
  EXPECT_EQ(warnings("<pt>0 0</pt><pt>1 0</pt><pt>1 1</pt><pt>0.5 0.5</pt><pt>0 1</pt>"), "")
      << "its hull counts";
  EXPECT_EQ(warnings("<pt>0 0</pt><pt>1 0</pt><pt>1 1</pt><pt>0 1</pt><pt>0 0</pt>"), "") << "closed";
}

}  // namespace
}  // namespace mvsim::range_test
