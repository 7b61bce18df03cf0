#include "sim/wheel_inputs.h"

#include "model/transfer_params.h"
#include "vehicle/load_transfer.h"

namespace mvsim {

void WheelInputs::make(const Model& m, const SimState& s, size_t vehicle) {
  const VehicleModel& v = m.vehicles[vehicle];
  const double* const params = s.params.data();
  const double* const transfer = params + v.transfer_params;
  const BodyInertia& inertia = s.inertias[v.body];
  const Vec2 center{inertia.center_x, inertia.center_y};
  const auto count = static_cast<double>(v.wheels.size());
  const double chassis_share = params[v.body_params + kChassisMass] / count;
  // all wheels push at once: each may count on its share of the mass, and on less the more it turns the
  // vehicle
  const double mass_share = 1 / (inertia.inverse_mass * count);
  const double turning = inertia.inverse_inertia / inertia.inverse_mass;  // 1/m2
  WheelMotor motor;
  if (v.drive.motor) motor = wheel_motor(params + *v.drive.motor);
  const double damping = v.drive.driver == MotorDriver::kVoltage ? motor.slope : 0;
  const double spread = WheelStance(v.wheels).spread_ratio() / (transfer[kTrack] * transfer[kTrack]);
  inputs_.clear();
  for (size_t i = 0; i < v.wheels.size(); ++i) {
    const WheelModel& wheel = v.wheels[i];
    const Vec2 position{wheel.position.x, transfer[kTrack] * wheel.position.y};
    const Vec2 arm = position - center;
    const double mass = chassis_share + wheel.mass;
    const double weight = mass * m.gravity;
    const double share = v.drive.motor ? v.dynamics->motor_share(params + v.dynamics_params, i) : 0;
    inputs_.push_back({.position = position,
                       .weight = weight,
                       .tire = {.mass = mass,
                                .effective_mass = mass_share / (1 + turning * dot(arm, arm)),
                                .load = weight,
                                .radius = transfer[kTransferParamCount + i],
                                .inertia = wheel.inertia + share * motor.inertia,
                                .width = wheel.width,
                                .motor_damping = share * damping,
                                .wheel_spread = spread}});
  }
  known_ = true;
}

}  // namespace mvsim
