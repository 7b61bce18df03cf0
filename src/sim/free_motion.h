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

// A body under forces on its points, as b2Body::ApplyForce sums them, to the bit: a tire that sticks and
// slips doubles a difference in the last bit at every other step.
class PushedBody {
 public:
  PushedBody(const BodyState& body, const BodyInertia& inertia);
  Vec2 velocity() const;                 // of the reference point, m/s, world frame
  void push(Vec2 position, Vec2 force);  // both in the body frame, m and N
  BodyForce force() const;

 private:
  const BodyState& body_;
  const BodyInertia& inertia_;
  float sin_, cos_;
  float force_x_ = 0, force_y_ = 0, torque_ = 0;
};

// At rest with the reference point at `pose`, from Model::origin.
BodyState place_body(const Pose2& pose, const BodyInertia& inertia);

// One step of `dt` seconds.
void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt);

}  // namespace mvsim
