// Motion of bodies in a step: free of contacts, rounded as Box2D rounds, with the solver.
#pragma once

#include "base/geometry.h"
#include "base/lanes.h"
#include "sim/body_state.h"
#include "sim/sim_state.h"
#include "tire/wheel_row.h"

namespace mvsim {

// Motion of a body that touches nothing, without Box2D: its arithmetic for the speeds, in its order, and the
// pose in double precision. Box2D gives a body without contacts the same bits
// (tests/cpp/sim/free_motion_test.cpp) at a hundred times the cost.

struct BodyForce {
  float x = 0, y = 0;  // N, world frame, at the centre of mass
  float torque = 0;    // N m about the centre of mass

  Vec2 force() const { return {x, y}; }
};

// Points of a body and the forces on them, body frame, m and N. Values beyond the last point must be numbers.
struct PushRow {
  float position_x[kMostInRow] = {}, position_y[kMostInRow] = {};
  float force_x[kMostInRow] = {}, force_y[kMostInRow] = {};
};

// A body under forces on its points, summed in single precision as b2Body::ApplyForce sums them.
class PushedBody {
 public:
  PushedBody(const BodyState& body, const BodyInertia& inertia, const Rotation2& R_world_body)
      : PushedBody(body, inertia, static_cast<float>(R_world_body.s), static_cast<float>(R_world_body.c)) {
    cx_ = center_x_;
    cy_ = center_y_;
  }
  // With Box2D's own roundings.
  PushedBody(const BodyState& body, const BodyInertia& inertia, const RoundedPose& rounded)
      : PushedBody(body, inertia, rounded.sin, rounded.cos) {
    x_ = rounded.x;
    y_ = rounded.y;
    cx_ = rounded.cx;
    cy_ = rounded.cy;
  }
  Vec2 velocity() const {  // of the reference point, m/s, world frame
    return {body_.vx + body_.omega * center_y_, body_.vy - body_.omega * center_x_};
  }
  void push(Vec2 position, Vec2 force) {  // both in the body frame, m and N
    const auto px = static_cast<float>(position.x), py = static_cast<float>(position.y);
    const auto fx = static_cast<float>(force.x), fy = static_cast<float>(force.y);
    const float x = cos_ * fx - sin_ * fy, y = sin_ * fx + cos_ * fy;
    const float arm_x = ((cos_ * px - sin_ * py) + x_) - cx_;
    const float arm_y = ((sin_ * px + cos_ * py) + y_) - cy_;
    force_.x += x;
    force_.y += y;
    force_.torque += arm_x * y - arm_y * x;
  }
  // As push() of each point, in their order.
  void push(const PushRow& row, size_t count) {
    float x[kMostInRow], y[kMostInRow], torque[kMostInRow];
    for (size_t at = 0; at < count; at += 4) {
      const auto px = load_lanes<FourLanes>(row.position_x + at),
                 py = load_lanes<FourLanes>(row.position_y + at);
      const auto fx = load_lanes<FourLanes>(row.force_x + at), fy = load_lanes<FourLanes>(row.force_y + at);
      const FourLanes wx = cos_ * fx - sin_ * fy, wy = sin_ * fx + cos_ * fy;
      const FourLanes arm_x = ((cos_ * px - sin_ * py) + x_) - cx_;
      const FourLanes arm_y = ((sin_ * px + cos_ * py) + y_) - cy_;
      store_lanes(wx, x + at);
      store_lanes(wy, y + at);
      store_lanes(arm_x * wy - arm_y * wx, torque + at);
    }
    for (size_t i = 0; i < count; ++i) {
      force_.x += x[i];
      force_.y += y[i];
      force_.torque += torque[i];
    }
  }
  const BodyForce& force() const { return force_; }

 private:
  PushedBody(const BodyState& body, const BodyInertia& inertia, float sin, float cos)
      : body_(body),
        sin_(sin),
        cos_(cos),
        center_x_(cos * inertia.center_x - sin * inertia.center_y),
        center_y_(sin * inertia.center_x + cos * inertia.center_y) {}

  const BodyState& body_;
  float sin_, cos_;
  float center_x_, center_y_;              // of mass, from the reference point, world axes
  float x_ = 0, y_ = 0, cx_ = 0, cy_ = 0;  // of the reference point and the centre of mass
  BodyForce force_;
};

// One step of `dt` seconds.
void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt,
                    RotationMemo& yaw);

// Pose of a vehicle with the rounding errors of Box2D in single precision. Tires
// that push only where they slip (`ellipse`) double a difference in the last digit at every other step, so
// only these very digits keep to MVSim's trajectories. The forces of such tires are worked out at this pose,
// which follows the true one to 1e-5 rad.

// m; a pose counts from SimState::solver_origin within that distance, and else from the nearest whole metre.
inline constexpr double kRoundedNear = 500;

// Before the forces of a step: back to the true pose where it is off.
void follow_pose(RoundedPose& rounded, const BodyState& body, const BodyInertia& inertia, Vec2 origin);

// A step of `dt` s at the velocity that the body has after it, as Box2D makes it.
void advance(RoundedPose& rounded, const BodyState& after, const BodyInertia& inertia, double dt);

// Moves bodies for one step: freely while nothing can be touched, by Box2D near a possible contact.

// Moves all bodies for dt s under Workspace::forces. Workspace::step_squares are obstacles. Sets the pose of
// a body that diverges to NaN. Writes the vehicles' collision flags.
void move(const Model& m, SimState& s, Workspace& w, double dt);

}  // namespace mvsim
