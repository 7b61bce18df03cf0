#include "sim/rounded_pose.h"

#include <box2d/b2_math.h>

#include <cmath>

namespace mvsim {

void follow_pose(RoundedPose& rounded, const BodyState& body, const BodyInertia& inertia, Vec2 origin) {
  constexpr double kOff = 1e-4, kTurnedOff = 1e-5;  // m, rad
  double x = body.x - origin.x, y = body.y - origin.y, angle = body.angle;
  if (std::fabs(x) > kRoundedNear || std::fabs(y) > kRoundedNear) {
    x -= std::nearbyint(x);
    y -= std::nearbyint(y);
  }
  if (std::fabs(angle) > kPi) angle -= 2 * kPi * std::nearbyint(angle / (2 * kPi));
  if (rounded.is_known && std::fabs(x - rounded.x) <= kOff && std::fabs(y - rounded.y) <= kOff &&
      std::fabs(angle - rounded.angle) <= kTurnedOff)
    return;
  const b2Transform pose(b2Vec2(static_cast<float>(x), static_cast<float>(y)),
                         b2Rot(static_cast<float>(angle)));
  const b2Vec2 center = b2Mul(pose, b2Vec2(inertia.center_x, inertia.center_y));
  rounded = {.x = pose.p.x,
             .y = pose.p.y,
             .angle = static_cast<float>(angle),
             .cx = center.x,
             .cy = center.y,
             .sin = pose.q.s,
             .cos = pose.q.c,
             .is_kept = true,
             .is_known = true};
}

void advance(RoundedPose& rounded, const BodyState& after, const BodyInertia& inertia, double dt) {
  const auto h = static_cast<float>(dt);
  const b2Vec2 c = b2Vec2(rounded.cx, rounded.cy) + h * b2Vec2(after.vx, after.vy);
  rounded.angle += h * after.omega;
  const b2Rot rotation(rounded.angle);
  const b2Vec2 point = c - b2Mul(rotation, b2Vec2(inertia.center_x, inertia.center_y));
  rounded.x = point.x;
  rounded.y = point.y;
  rounded.cx = c.x;
  rounded.cy = c.y;
  rounded.sin = rotation.s;
  rounded.cos = rotation.c;
}

}  // namespace mvsim
