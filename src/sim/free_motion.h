// Motion of a body that touches nothing: the arithmetic of Box2D's own step, in its order, without Box2D. On
// a machine whose Box2D was built without fused multiply-add the bits are the same
// (tests/cpp/sim/free_motion_test.cpp), at a hundredth of the price.
#pragma once

#include "base/geometry.h"
#include "model/model.h"
#include "sim/body_state.h"

namespace mvsim {

struct BodyForce {
  Vec2 force;         // N, world frame, at the centre of mass
  double torque = 0;  // N m about the centre of mass
};

// Mass properties about the body origin.
struct MassProperties {
  double mass = 0;  // kg
  Vec2 center;
  double inertia = 0;  // kg m2 about the body origin
};

MassProperties vehicle_mass(const VehicleModel& vehicle,
                            std::span<const double> params);  // chassis and wheels
MassProperties block_mass(const BlockModel& block, std::span<const double> params);

BodyInertia vehicle_inertia(const VehicleModel& vehicle, std::span<const double> params);
BodyInertia block_inertia(const BlockModel& block, std::span<const double> params);

// At rest with the reference point at `pose`.
BodyState place_body(const Pose2& pose, const BodyInertia& inertia);

// One step of `dt` seconds.
void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt);

}  // namespace mvsim
