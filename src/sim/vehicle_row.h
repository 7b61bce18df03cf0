// Wheels of one vehicle that make their step at once.
#pragma once

#include <optional>
#include <span>

#include "base/geometry.h"
#include "model/model.h"
#include "sim/move.h"
#include "tire/tire_model.h"
#include "tire/wheel_row.h"
#include "vehicle/wheel.h"

namespace mvsim {

// Inputs of a wheel's tire.
struct WheelInput {
  Vec2 position;      // m, vehicle frame, at the present track
  double weight = 0;  // N, of its share of the chassis and the wheel itself
  TireInput tire;     // its masses, load on level ground and sizes are set; the rest is of the last step
};

// From the vehicle frame to that of a wheel.
inline Rotation2 rotation_of(RotationMemo& rotations, const WheelState& wheel) {
  return wheel.steer == 0 ? Rotation2() : rotations.of(wheel.steer);
}

// Motion of a vehicle's reference point.
struct VehicleMotion {
  Vec2 velocity{};   // m/s, vehicle frame
  double omega = 0;  // rad/s
};

// The wheels of a vehicle side by side, for a step on level ground of the tire's own parameters. It gives the
// bits of a step of one wheel after the other (sim/drive.cpp).
class VehicleRow {
 public:
  VehicleRow(const TireModel& tire, std::span<const WheelInput> inputs);

  // Makes the step of the tires and pushes the chassis. Returns false and does nothing where a wheel brakes.
  // `params`: of the tire.
  bool step(const double* params, const VehicleMotion& motion, double dt, std::span<RotationMemo> rotations,
            std::span<WheelState> wheels, PushedBody& chassis);

 private:
  bool set_motion(const VehicleMotion& motion, std::span<RotationMemo> rotations,
                  std::span<const WheelState> wheels);
  void turn_forces();

  const TireModel* tire_;
  WheelRow tires_;
  RowValues x_, y_;      // m, of the wheels, vehicle frame
  RowValues cos_, sin_;  // of the steering angles
  PushRow forces_;       // on the chassis
};

// Returns the row of a vehicle, or nothing where its wheels have to make their steps one by one.
std::optional<VehicleRow> row_of(const VehicleModel& vehicle, std::span<const WheelInput> inputs);

}  // namespace mvsim
