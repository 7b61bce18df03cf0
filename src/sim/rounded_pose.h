// Pose of a vehicle with the rounding errors of Box2D in single precision. Tires
// that push only where they slip (`ellipse`) double a difference in the last digit at every other step, so
// only these very digits keep to MVSim's trajectories. The forces of such tires are worked out at this pose,
// which follows the true one to 1e-5 rad.
#pragma once

#include "sim/body_state.h"
#include "sim/sim_state.h"

namespace mvsim {

// m; a pose counts from SimState::solver_origin within that distance, and else from the nearest whole metre.
inline constexpr double kRoundedNear = 500;

// Before the forces of a step: back to the true pose where it is off.
void follow_pose(RoundedPose& rounded, const BodyState& body, const BodyInertia& inertia, Vec2 origin);

// A step of `dt` s at the velocity that the body has after it, as Box2D makes it.
void advance(RoundedPose& rounded, const BodyState& after, const BodyInertia& inertia, double dt);

}  // namespace mvsim
