#include "sim/free_motion.h"

#include <box2d/b2_common.h>
#include <box2d/b2_math.h>

namespace mvsim {
namespace {

// As b2Body::SetMassData rounds.
BodyInertia to_inertia(const MassProperties& m, double linear_damping, double angular_damping) {
  const auto mass = static_cast<float>(m.mass);
  const b2Vec2 center(static_cast<float>(m.center.x), static_cast<float>(m.center.y));
  const float inertia = static_cast<float>(m.inertia) - mass * b2Dot(center, center);
  return {.inverse_mass = mass > 0 ? 1.0f / mass : 0.0f,
          .inverse_inertia = mass > 0 && inertia > 0 ? 1.0f / inertia : 0.0f,
          .center_x = center.x,
          .center_y = center.y,
          .linear_damping = static_cast<float>(linear_damping),
          .angular_damping = static_cast<float>(angular_damping)};
}

}  // namespace

MassProperties vehicle_mass(const VehicleModel& v, std::span<const double> params) {
  const double chassis = params[v.body_params + kChassisMass];
  MassProperties m{chassis, chassis * v.chassis.centroid, chassis * v.chassis.unit_inertia};
  for (const WheelModel& w : v.wheels) {
    const double length = 2 * w.radius;
    m.mass += w.mass;
    m.center = m.center + w.mass * w.position;
    m.inertia += w.mass * ((length * length + w.width * w.width) / 12 + dot(w.position, w.position));
  }
  m.center = 1 / m.mass * m.center;
  return m;
}

MassProperties block_mass(const BlockModel& b, std::span<const double> params) {
  const double mass = params[b.params + kBlockMass], scale = params[b.params + kBlockScale];
  return {mass, scale * b.shape.centroid, mass * scale * scale * b.shape.unit_inertia};
}

BodyInertia vehicle_inertia(const VehicleModel& v, std::span<const double> params) {
  return to_inertia(vehicle_mass(v, params), params[v.body_params + kChassisLinearDamping],
                    params[v.body_params + kChassisAngularDamping]);
}

BodyInertia block_inertia(const BlockModel& b, std::span<const double> params) {
  if (b.is_static) return {};
  return to_inertia(block_mass(b, params), params[b.params + kBlockLinearDamping],
                    params[b.params + kBlockAngularDamping]);
}

BodyState place_body(const Pose2& pose, const BodyInertia& inertia) {
  const b2Transform T_world_body(b2Vec2(static_cast<float>(pose.x), static_cast<float>(pose.y)),
                                 b2Rot(static_cast<float>(pose.yaw)));
  const b2Vec2 center = b2Mul(T_world_body, b2Vec2(inertia.center_x, inertia.center_y));
  return {.x = T_world_body.p.x,
          .y = T_world_body.p.y,
          .angle = static_cast<float>(pose.yaw),
          .cx = center.x,
          .cy = center.y};
}

void integrate_free(BodyState& body, const BodyInertia& inertia, const BodyForce& force, double dt) {
  const auto h = static_cast<float>(dt);
  b2Vec2 v(body.vx, body.vy);
  float w = body.omega;
  v +=
      h * inertia.inverse_mass * b2Vec2(static_cast<float>(force.force.x), static_cast<float>(force.force.y));
  w += h * inertia.inverse_inertia * static_cast<float>(force.torque);
  v *= 1.0f / (1.0f + h * inertia.linear_damping);
  w *= 1.0f / (1.0f + h * inertia.angular_damping);

  const b2Vec2 translation = h * v;
  if (b2Dot(translation, translation) > b2_maxTranslationSquared)
    v *= b2_maxTranslation / translation.Length();
  const float rotation = h * w;
  if (rotation * rotation > b2_maxRotationSquared) w *= b2_maxRotation / b2Abs(rotation);

  b2Vec2 c(body.cx, body.cy);
  c += h * v;
  body.angle += h * w;
  const b2Vec2 origin = c - b2Mul(b2Rot(body.angle), b2Vec2(inertia.center_x, inertia.center_y));
  body = {origin.x, origin.y, body.angle, c.x, c.y, v.x, v.y, w};
}

}  // namespace mvsim
