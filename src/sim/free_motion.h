// Motion of a body that touches nothing, without Box2D: its arithmetic for the speeds, in its order, and the
// pose in double precision. What Box2D moves without a contact gets the same bits
// (tests/cpp/sim/free_motion_test.cpp), at a hundred times the price.
#pragma once

#include "base/geometry.h"
#include "sim/body_state.h"
#include "sim/rotation_memo.h"

namespace mvsim {

struct BodyForce {
  float x = 0, y = 0;  // N, world frame, at the centre of mass
  float torque = 0;    // N m about the centre of mass

  Vec2 force() const { return {x, y}; }
};

// A body under forces on its points, summed in single precision as b2Body::ApplyForce sums them.
class PushedBody {
 public:
  PushedBody(const BodyState& body, const BodyInertia& inertia, const Rotation2& R_world_body)
      : body_(body),
        sin_(static_cast<float>(R_world_body.s)),
        cos_(static_cast<float>(R_world_body.c)),
        center_x_(cos_ * inertia.center_x - sin_ * inertia.center_y),
        center_y_(sin_ * inertia.center_x + cos_ * inertia.center_y) {}
  Vec2 velocity() const {  // of the reference point, m/s, world frame
    return {body_.vx + body_.omega * center_y_, body_.vy - body_.omega * center_x_};
  }
  void push(Vec2 position, Vec2 force) {  // both in the body frame, m and N
    const auto px = static_cast<float>(position.x), py = static_cast<float>(position.y);
    const auto fx = static_cast<float>(force.x), fy = static_cast<float>(force.y);
    const float x = cos_ * fx - sin_ * fy, y = sin_ * fx + cos_ * fy;
    const float arm_x = (cos_ * px - sin_ * py) - center_x_;
    const float arm_y = (sin_ * px + cos_ * py) - center_y_;
    force_.x += x;
    force_.y += y;
    force_.torque += arm_x * y - arm_y * x;
  }
  const BodyForce& force() const { return force_; }

 private:
  const BodyState& body_;
  float sin_, cos_;
  float center_x_, center_y_;  // of mass, from the reference point, world axes
  BodyForce force_;
};

// One step of `dt` seconds.
void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt,
                    RotationMemo& yaw);

}  // namespace mvsim
