// Beam directions of a uniform fan: a table in the sensor frame, turned by the sensor's yaw for each scan.
//
// The table is immutable, any thread. Turned in double, rounded to float once; the same bits on every
// machine.
#pragma once

#include <vector>

#include "raycast/polygon_cast.h"

namespace mvsim {

class BeamTable {
 public:
  BeamTable() = default;
  // `count` >= 1 beams over `aperture` [rad], counter-clockwise, centred on x:
  // theta_i = -aperture / 2 + i * aperture / (count - 1). One beam looks along x.
  BeamTable(int count, double aperture);

  int count() const { return static_cast<int>(cos_.size()); }
  double angle(int beam) const { return first_angle_ + beam * angle_step_; }  // sensor frame
  double angle_step() const { return angle_step_; }

  // Fills dx[count()], dy[count()] with the unit directions of a sensor turned by `yaw`.
  void directions(double yaw, float* dx, float* dy) const;

  // The same, and the fan of a sensor at `pose` that refers to dx, dy.
  Fan fan(const Pose2& pose, float* dx, float* dy) const;

 private:
  double first_angle_ = 0, angle_step_ = 0;
  std::vector<double> cos_, sin_;
};

}  // namespace mvsim
