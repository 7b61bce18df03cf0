// Pitch and roll as sines and cosines, remembered: a step asks for those before it and those after it,
// several times each.
#pragma once

#include "base/geometry.h"
#include "sim/sim_state.h"

namespace mvsim {

struct Tilt {
  SinCos pitch{0, 1}, roll{0, 1};

  // A point of a vehicle in the level frame at its reference point that has its yaw.
  Vec3 apply(Vec3 p) const {
    const double z = p.y * roll.sin + p.z * roll.cos;
    return {p.x * pitch.cos + z * pitch.sin, p.y * roll.cos - p.z * roll.sin,
            z * pitch.cos - p.x * pitch.sin};
  }
};

class TiltMemo {
 public:
  const Tilt& of(const VehicleState& vehicle) {
    if (vehicle.pitch != pitch_) tilt_.pitch = sin_cos(pitch_ = vehicle.pitch);
    if (vehicle.roll != roll_) tilt_.roll = sin_cos(roll_ = vehicle.roll);
    return tilt_;
  }

 private:
  double pitch_ = 0, roll_ = 0;
  Tilt tilt_;
};

}  // namespace mvsim
