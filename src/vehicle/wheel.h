// Wheels and their loads.
#pragma once

#include <span>
#include <string>

#include "base/geometry.h"

namespace mvsim {

// A wheel: its fixed properties and its state. Vehicle frame: x forward, y left.

struct WheelModel {
  std::string tag;               // "l_wheel"...
  Vec2 position;                 // m, vehicle frame
  double yaw = 0;                // rad, mounting angle
  double width = 0, radius = 0;  // m
  double mass = 0;               // kg
  double inertia = 0;            // kg m2 about the axle
};

// Torque of a motor at rest. Snapshots and golden hashes depend on this sign of zero.
inline constexpr double kNoTorque = -0.0;  // N m

struct WheelState {
  double spin = 0;                  // rad/s, positive forward
  double angle = 0;                 // rad
  double steer = 0;                 // rad, yaw with respect to the chassis
  double torque = 0;                // N m of the motor in the last step, positive forward
  double brake = 0;                 // N m of the brake in the last step, >= 0
  double force_x = 0, force_y = 0;  // N on the chassis in the last step, vehicle frame
  double load = 0;                  // N, share of the chassis weight; the wheel's own comes on top
};

// Distribution of a vehicle's chassis weight to its wheels under forces at the ground: quasi-static, by the
// balance of moments about the centre of mass. Pure; SI units, vehicle frame.

struct LoadBalance {
  double chassis_weight = 0;  // N across the ground; the sum of the loads
  double gravity = 0;         // m/s2 across the ground
  Vec2 center{};              // m, centre of mass of the whole vehicle
  Vec2 moment{};              // N m: force of the ground on the vehicle times height of the centre of mass
};

// Layout of a vehicle's wheels about their middle.
class WheelStance {
 public:
  explicit WheelStance(std::span<const WheelModel> wheels);

  // Returns the second moment of the wheels along the vehicle over that across it; 0: they stand side by
  // side, or all in the middle.
  double spread_ratio() const { return xx_ > kInLine * yy_ && yy_ > 0 ? xx_ / yy_ : 0; }
  Vec2 middle() const { return middle_; }  // m, vehicle frame
  // Returns the gradient, N/m, of loads that carry a moment (N m) and are linear over the wheels' positions.
  // Wheels in a line carry only the part of the moment along that line.
  Vec2 gradient(Vec2 moment) const;

 private:
  static constexpr double kInLine = 1e-9;  // share of their spread; narrower wheels count as one line

  Vec2 middle_;
  double xx_ = 0, xy_ = 0, yy_ = 0;  // m2, second moments
  bool is_line_ = false;
  double inverse_ = 0;  // 1/m4, of their determinant, of a line of their trace squared; 0: all at one place
};

// Sets WheelState::load. Loads vary linearly over the wheels' positions, as under a stiff chassis on equal
// springs; wheels in a line carry no moment across it. A wheel with a negative load carries
// nothing, and the other loads are scaled down to keep their sum.
void balance_loads(const WheelStance& stance, const LoadBalance& balance, std::span<const WheelModel> wheels,
                   std::span<WheelState> states);

}  // namespace mvsim
