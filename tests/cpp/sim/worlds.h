// Small worlds that the tests of sim/ share.
#pragma once

#include <memory>
#include <string>

#include "model/compile.h"
#include "sim/simulation.h"

namespace mvsim::test {

inline std::shared_ptr<const Model> model_of(const std::string& body, const CompileOptions& options = {}) {
  return compile_world(load_world_text("<mvsim_world>" + body + "</mvsim_world>", ".", {}), options);
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
