#include "sim/vehicle_row.h"

#include <algorithm>

#include "base/lanes.h"
#include "tire/rolling.h"

namespace mvsim {
namespace {

constexpr size_t kFewestInRow = 3;  // two wheels one by one take no longer than a row

TwoLanes two_of(const RowValues& values, size_t at) {
  return load_lanes<TwoLanes>(values.of + at);
}

}  // namespace

VehicleRow::VehicleRow(const TireModel& tire, std::span<const WheelInput> inputs) : tire_(&tire) {
  tires_.count = inputs.size();
  for (size_t i = 0; i < kMostInRow; ++i) {
    const WheelInput& wheel = inputs[std::min(i, inputs.size() - 1)];  // the last one fills the row
    set_wheel(tires_, i, wheel.tire);
    x_[i] = wheel.position.x;
    y_[i] = wheel.position.y;
    forces_.position_x[i] = static_cast<float>(wheel.position.x);
    forces_.position_y[i] = static_cast<float>(wheel.position.y);
  }
}

bool VehicleRow::set_motion(const VehicleMotion& motion, std::span<RotationMemo> rotations,
                            std::span<const WheelState> wheels) {
  bool brakes = false;
  for (size_t i = 0; i < wheels.size(); ++i) {
    const WheelState& wheel = wheels[i];
    const Rotation2 rotation = rotation_of(rotations[i], wheel);
    cos_[i] = rotation.c;
    sin_[i] = rotation.s;
    tires_.torque[i] = wheel.torque;
    tires_.spin[i] = wheel.spin;
    brakes = brakes || wheel.brake > 0;
  }
  for (size_t at = 0; at < tires_.count; at += 2) {
    const TwoLanes c = two_of(cos_, at), s = two_of(sin_, at);
    const TwoLanes vx = motion.velocity.x - motion.omega * two_of(y_, at);
    const TwoLanes vy = motion.velocity.y + motion.omega * two_of(x_, at);
    store_lanes(c * vx + s * vy, tires_.velocity_x.of + at);
    store_lanes(-s * vx + c * vy, tires_.velocity_y.of + at);
  }
  return !brakes;
}

// Into the frame of the vehicle.
void VehicleRow::turn_forces() {
  for (size_t at = 0; at < tires_.count; at += 2) {
    const TwoLanes c = two_of(cos_, at), s = two_of(sin_, at);
    const TwoLanes fx = two_of(tires_.force_x, at), fy = two_of(tires_.force_y, at);
    const TwoLanes x = c * fx - s * fy, y = s * fx + c * fy;
    store_lanes(x, tires_.force_x.of + at);
    store_lanes(y, tires_.force_y.of + at);
    for (size_t i = 0; i < 2; ++i) {
      forces_.force_x[at + i] = static_cast<float>(x[i]);
      forces_.force_y[at + i] = static_cast<float>(y[i]);
    }
  }
}

bool VehicleRow::step(const double* params, const VehicleMotion& motion, double dt,
                      std::span<RotationMemo> rotations, std::span<WheelState> wheels, PushedBody& chassis) {
  if (!set_motion(motion, rotations, wheels)) return false;
  tires_.dt = dt;
  tire_->step_row(params, tires_);
  turn_forces();
  for (size_t i = 0; i < wheels.size(); ++i) {
    wheels[i].spin = tires_.spin_after[i];
    wheels[i].force_x = tires_.force_x[i];
    wheels[i].force_y = tires_.force_y[i];
  }
  chassis.push(forces_, tires_.count);
  return true;
}

std::optional<VehicleRow> row_of(const VehicleModel& v, std::span<const WheelInput> inputs) {
  const size_t count = inputs.size();
  if (count < kFewestInRow || count > kMostInRow || !v.tire->has_rows() || v.load_transfer ||
      v.controller->imposes_spins() || v.drive.coupled_sides)
    return std::nullopt;
  return VehicleRow(*v.tire, inputs);
}

}  // namespace mvsim
