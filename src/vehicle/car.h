// Common part of cars: four wheels, of which the front pair steers, and the geometry of steering (Ackermann):
// cot(outer) - cot(inner) = track / wheelbase.
#pragma once

#include <span>

#include "vehicle/dynamics.h"

namespace mvsim {

enum CarWheel { kRearLeft, kRearRight, kFrontLeft, kFrontRight };

// Actuation that a controller computes for a car.
enum CarActuation {
  kCarSteer,        // rad, of a wheel in the middle of the front axle
  kCarBrake,        // N m on each wheel, >= 0
  kCarTorque,       // N m, positive drives forward: the left front motor, or the engine of a drivetrain
  kCarTorqueRight,  // of the right front motor; a drivetrain does not look at it
};

// First parameter of every car's dynamics class.
enum { kMaxSteer, kCarParamCount };
inline constexpr double kSteerLimit = 89.4 * kDegree;

struct FrontAngles {
  double left = 0, right = 0;  // rad
};

// Yaw of both front wheels so that all wheels turn about one point; `steer` beyond the limit counts as the
// limit.
FrontAngles ackermann_angles(std::span<const WheelModel> wheels, double max_steer, double steer);

// The same, kept for the next call.
const FrontMemo& front_angles(std::span<const WheelModel> wheels, double max_steer, double steer,
                              FrontMemo& memo);

// The rotations by the angles of ackermann_angles(), up to rounding, without these angles. Cars with a servo
// use them: it changes the steering in nearly every step, and a square root takes less time than an angle
// and its sine. `heading` of a wheel in the middle of the front axle: (cos, sin) of its yaw times any number
// whose square is a normal one.
FrontRotations front_rotations(std::span<const WheelModel> wheels, Vec2 heading);

// The same for a steering angle within the limit, and the angles, kept for the next call.
const FrontMemo& front_rotations(std::span<const WheelModel> wheels, double steer, FrontMemo& memo);

// Returns the distance between rear and front axle, m.
double wheelbase(std::span<const WheelModel> wheels);

// Returns the steering angle (rad) of this twist: a quarter turn if the vehicle only turns.
double steer_of_twist(double wheelbase, double vx, double omega);

class Car : public Dynamics {
 public:
  std::span<const WheelSlot> wheel_slots() const override;
  double default_mass() const override { return 500; }
  double default_z_min() const override { return 0.2; }
  double default_z_max() const override { return 1.4; }
  Color default_color() const override { return {0xe8, 0x30, 0, 255}; }
  const Polygon& default_shape() const override { return shape_; }
  bool steers() const override { return true; }
  std::span<const ParamInfo> geometry() const override;
  void place_wheels(const double* geometry, std::span<WheelModel> wheels) const override;
  std::string_view check_wheels(std::span<const WheelModel> wheels,
                                const Controller& controller) const override;

 protected:
  static constexpr ParamInfo kMaxSteerParam{.name = "max_steer_ang_deg",
                                            .fallback = 30 * kDegree,
                                            .min = 0,
                                            .max = kSteerLimit,
                                            .type = ParamType::kDegrees,
                                            .is_max_excluded = true};

  // The part of drive() that all cars share.
  static void steer_and_brake(const double* p, const double* actuation, std::span<const WheelModel> wheels,
                              std::span<WheelState> states, SteerMemo& memo);

 private:
  Polygon shape_{{-0.8, -1}, {-0.8, 1}, {1.5, 0.9}, {1.8, 0.8}, {1.8, -0.8}, {1.5, -0.9}};
};

}  // namespace mvsim
