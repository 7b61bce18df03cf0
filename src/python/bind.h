// The binding files of the module `_core`, and the tuples that they take.
#pragma once

#include <pybind11/pybind11.h>
#include <tuple>

#include "base/geometry.h"

namespace mvsim {

// The binding files of the module `_core`, one function each. They translate types and nothing else.

class Batch;
class Simulation;

void bind_batch(pybind11::module_& m);
void bind_control(pybind11::class_<Batch>& batch);
void bind_control(pybind11::class_<Simulation>& simulation);
void bind_device(pybind11::module_& m);
void bind_errors(pybind11::module_& m);
void bind_infos(pybind11::module_& m);
void bind_model(pybind11::module_& m);
void bind_pipeline(pybind11::module_& m);
void bind_render(pybind11::module_& m);
void bind_tags(pybind11::module_& m);
void bind_tire(pybind11::module_& m);
void bind_view(pybind11::module_& m);
void bind_world(pybind11::module_& m);

// Poses and twists as Python takes them.

using PoseTuple = std::tuple<double, double, double, double, double, double>;  // x, y, z, yaw, pitch, roll
using PlanePoseTuple = std::tuple<double, double, double>;                     // x, y, yaw
using TwistTuple = std::tuple<double, double, double>;                         // vx, vy, omega

inline PoseTuple tuple_of(const Pose3& p) {
  return {p.x, p.y, p.z, p.yaw, p.pitch, p.roll};
}
inline PlanePoseTuple tuple_of(const Pose2& p) {
  return {p.x, p.y, p.yaw};
}
inline TwistTuple tuple_of(const Twist2& t) {
  return {t.vx, t.vy, t.omega};
}

}  // namespace mvsim
