// Cache of the rotations of two yaws. A step uses that before it and that after it several times.
#pragma once

#include <limits>

#include "base/geometry.h"

namespace mvsim {

class RotationMemo {
 public:
  Rotation2 of(double yaw) {
    if (yaw == latest_.yaw) return latest_.rotation;
    if (yaw == previous_.yaw) return previous_.rotation;
    previous_ = latest_;
    latest_ = {yaw, Rotation2(yaw)};
    return latest_.rotation;
  }

 private:
  struct Entry {
    double yaw = std::numeric_limits<double>::quiet_NaN();
    Rotation2 rotation;
  };
  Entry latest_, previous_;
};

}  // namespace mvsim
