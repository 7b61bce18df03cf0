// Small worlds that the tests of sim/ share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "model/compile.h"
#include "sim/simulation.h"

namespace mvsim::test {

inline std::shared_ptr<const Model> model_of(const std::string& body, const CompileOptions& options = {}) {
  return compile_world(load_world_text("<mvsim_world>" + body + "</mvsim_world>", ".", {}), options);
}

// The message with which the world is refused, "" when it is accepted.
inline std::string error_of_world(const std::string& body) {
  try {
    model_of(body);
  } catch (const WorldFileError& error) {
    EXPECT_GT(error.where().line, 0) << error.what();
    EXPECT_GT(error.where().column, 0) << error.what();
    return error.what();
  }
  return "";
}

inline ::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

// A vehicle of the defaults of its dynamics, but for what stands `inside` of them and what comes after.
inline std::string vehicle(const std::string& dynamics, const std::string& inside = "",
                           const std::string& more = "", const std::string& name = "v",
                           const std::string& pose = "0 0 0") {
  return "<vehicle name='" + name + "'><init_pose>" + pose + "</init_pose><dynamics class='" + dynamics +
         "'>" + inside + "</dynamics>" + more + "</vehicle>";
}

// A car of 332 kg, wheelbase 1.4 m, track 1.1 m, reference point on the rear axle.
inline std::string car(
    const std::string& dynamics, const std::string& inside, const std::string& pose = "0 0 0",
    const std::string& axles = "<f_wheels_x>1.4</f_wheels_x><f_wheels_d>1.1</f_wheels_d>") {
  std::string wheels;
  for (const char* tag : {"rl_wheel pos='0 0.55'", "rr_wheel pos='0 -0.55'", "fl_wheel", "fr_wheel"})
    wheels += "<" + std::string(tag) + " mass='8' width='0.2' diameter='0.5'/>";
  return vehicle(
      dynamics,
      wheels + axles +
          "<chassis mass='300'><shape><pt>-.5 -.6</pt><pt>-.5 .6</pt><pt>1.8 .4</pt><pt>1.8 -.4</pt></shape>"
          "</chassis>" +
          inside,
      "<odometry x_multiplier='1' y_multiplier='1' yaw_multiplier='1'/>", "car", pose);
}

// A robot of four wheels of 0.4 m at (+-0.5, +-0.4) and 60 + 4 * 2 kg without losses.
inline std::string truck(const std::string& more, const std::string& pose = "0 0 0") {
  std::string wheels;
  for (const char* wheel :
       {"lr_wheel pos='-.5 .4'", "rr_wheel pos='-.5 -.4'", "lf_wheel pos='.5 .4'", "rf_wheel pos='.5 -.4'"})
    wheels += "<" + std::string(wheel) + " mass='2' width='0.1' diameter='0.4'/>";
  return "<simul_timestep>0.005</simul_timestep>" +
         vehicle("differential_4_wheels",
                 wheels +
                     "<chassis mass='60' linear_damping='0' angular_damping='0'><shape><pt>-.6 -.3</pt>"
                     "<pt>-.6 .3</pt><pt>.6 .3</pt><pt>.6 -.3</pt></shape></chassis>",
                 more, "r", pose);
}

// A two-wheeled robot of 15 + 2 * 2 kg without losses.
inline std::string bot(const std::string& name, const std::string& controller, const std::string& more = "",
                       const std::string& chassis = R"(linear_damping="0" angular_damping="0")") {
  return R"(<vehicle name=")" + name + R"("><dynamics class="differential">
    <l_wheel pos="0 0.3" mass="2" width="0.05" diameter="0.4"/><r_wheel pos="0 -0.3" mass="2" width="0.05" diameter="0.4"/>
    <chassis mass="15" zmin="0.05" zmax="0.3" )" +
         chassis +
         R"(><shape><pt>-.4 -.25</pt><pt>-.4 .25</pt><pt>.4 .25</pt><pt>.4 -.25</pt></shape></chassis>)" +
         controller + R"(</dynamics><friction class="default"><mu>0.8</mu><C_damping>0</C_damping></friction>
    <odometry x_multiplier="1" y_multiplier="1" yaw_multiplier="1"/>)" +
         more + "</vehicle>";
}

// A robot of four wheels of 0.2 m and 12 + 4 * 0.8 kg.
inline std::string four_wheels(const std::string& controller, const std::string& pose, double mu = 0.8,
                               const std::string& friction = "default") {
  const std::string wheel = R"( mass="0.8" width="0.06" diameter="0.2"/>)";
  return R"(<vehicle name="r"><dynamics class="differential_4_wheels">
    <lr_wheel pos="-0.15 0.25")" +
         wheel + R"(<rr_wheel pos="-0.15 -0.25")" + wheel + R"(<lf_wheel pos="0.15 0.25")" + wheel +
         R"(<rf_wheel pos="0.15 -0.25")" + wheel + R"(<chassis mass="12" zmin="0.05" zmax="0.35">
    <shape><pt>-.25 -.2</pt><pt>-.25 .2</pt><pt>.25 .2</pt><pt>.25 -.2</pt></shape></chassis>)" +
         controller + "</dynamics><friction class='" + friction + "'><mu>" + std::to_string(mu) +
         "</mu></friction>" + pose + "</vehicle>";
}

inline const char* const kIdeal = R"(<controller class="twist_ideal"/>)";
inline const char* const kPid =
    R"(<controller class="twist_pid"><KP>20</KP><KI>10</KI><max_torque>20</max_torque></controller>)";
inline const char* const kOrigin = "<init_pose>0 0 0</init_pose>";

}  // namespace mvsim::test
