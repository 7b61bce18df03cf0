// Motion of a body that touches nothing: the arithmetic of Box2D's own step, in its order, without Box2D. On
// a machine whose Box2D was built without fused multiply-add the bits are the same
// (tests/cpp/sim/free_motion_test.cpp), at a hundredth of the price.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/geometry.h"
#include "model/model.h"
#include "sim/body_state.h"

namespace mvsim {

struct BodyForce {
  float x = 0, y = 0;  // N, world frame, at the centre of mass
  float torque = 0;    // N m about the centre of mass

  Vec2 force() const { return {x, y}; }
};

// The sine and cosine of a body's angle as Box2D works them out, remembered: those at the end of a step are
// those at the start of the next.
class BodyRotation {
 public:
  struct Value {
    float sin = 0, cos = 1;
  };
  const Value& of(float angle) {
    if (const auto bits = std::bit_cast<uint32_t>(angle); bits != bits_) {
      bits_ = bits;
      value_ = rotation_of(angle);
    }
    return value_;
  }

 private:
  static Value rotation_of(float angle);

  uint32_t bits_ = 0;  // of the angle, 0
  Value value_;
};

// A body under forces on its points, as b2Body::ApplyForce sums them, to the bit: a tire that sticks and
// slips doubles a difference in the last bit at every other step.
class PushedBody {
 public:
  PushedBody(const BodyState& body, const BodyInertia& inertia, const BodyRotation::Value& rotation)
      : body_(body), inertia_(inertia), sin_(rotation.sin), cos_(rotation.cos) {}
  Vec2 velocity() const {  // of the reference point, m/s, world frame
    const float x = -inertia_.center_x, y = -inertia_.center_y;
    const float arm_x = cos_ * x - sin_ * y, arm_y = sin_ * x + cos_ * y;
    return {body_.vx + -body_.omega * arm_y, body_.vy + body_.omega * arm_x};
  }
  void push(Vec2 position, Vec2 force) {  // both in the body frame, m and N
    const auto px = static_cast<float>(position.x), py = static_cast<float>(position.y);
    const auto fx = static_cast<float>(force.x), fy = static_cast<float>(force.y);
    const float x = cos_ * fx - sin_ * fy, y = sin_ * fx + cos_ * fy;
    const float arm_x = ((cos_ * px - sin_ * py) + body_.x) - body_.cx;
    const float arm_y = ((sin_ * px + cos_ * py) + body_.y) - body_.cy;
    force_.x += x;
    force_.y += y;
    force_.torque += arm_x * y - arm_y * x;
  }
  const BodyForce& force() const { return force_; }

 private:
  const BodyState& body_;
  const BodyInertia& inertia_;
  float sin_, cos_;
  BodyForce force_;
};

// Of a body whose centre of mass is not its reference point, or in any case.
BodyState place_turned_body(float x, float y, float angle, const BodyInertia& inertia);

// At rest with the reference point at `pose`, from Model::origin.
inline BodyState place_body(const Pose2& pose, const BodyInertia& inertia) {
  const auto x = static_cast<float>(pose.x), y = static_cast<float>(pose.y),
             angle = static_cast<float>(pose.yaw);
  // its centre of mass is its reference point: no rotation moves it (sums with a zero differ for -0 only)
  if (inertia.center_x == 0 && inertia.center_y == 0 && x != 0 && y != 0 && std::isfinite(angle))
    return {.x = x, .y = y, .angle = angle, .cx = x, .cy = y};
  return place_turned_body(x, y, angle, inertia);
}

// One step of `dt` seconds.
void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt,
                    BodyRotation& rotation);

}  // namespace mvsim
