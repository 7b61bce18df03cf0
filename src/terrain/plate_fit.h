// Pose of a rigid plate, such as a vehicle on its wheels, on points of the ground.
#pragma once

#include <optional>

#include "base/geometry.h"

namespace mvsim {

struct PlatePose {
  double z = 0, pitch = 0, roll = 0;  // of the plate's origin; R = Rz(yaw) Ry(pitch) Rx(roll)
};

// The rigid transform that takes points of a level plate nearest to points of the ground, by least squares.
// It is Horn's solution: for points of a plane his quaternion is the polar factor of a 3 x 2 matrix, in
// closed form.
class PlateFit {
 public:
  // Adds a point of the plate and its contact point on the ground. Both frames have nearly the same yaw.
  void add(Vec2 plate, Vec3 ground) {
    count_ += 1;
    plate_sum_ = plate_sum_ + plate;
    ground_sum_ = combine(1, ground_sum_, 1, ground);
    x_sum_ = combine(1, x_sum_, plate.x, ground);
    y_sum_ = combine(1, y_sum_, plate.y, ground);
  }
  bool empty() const { return count_ == 0; }
  // Empty for fewer than three points and for points on one line.
  std::optional<PlatePose> solve() const;

 private:
  static Vec3 combine(double s, Vec3 a, double t, Vec3 b) {
    return {s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z};
  }

  double count_ = 0;
  Vec2 plate_sum_;
  Vec3 ground_sum_;
  Vec3 x_sum_, y_sum_;  // sums of ground * plate.x and of ground * plate.y
};

}  // namespace mvsim
