// Poses and twists as Python takes them.
#pragma once

#include <tuple>

#include "base/geometry.h"

namespace mvsim {

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
