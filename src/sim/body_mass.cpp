
#include <box2d/b2_common.h>
#include <box2d/b2_math.h>
#include <box2d/b2_polygon_shape.h>

#include <optional>

#include "model/transfer_params.h"
#include "sim/solver_bodies.h"

namespace mvsim {
namespace {

constexpr float kMinArea = 5e-7f;  // m2, of a wheel seen from above

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

// Adds a polygon of that mass as b2Body::ResetMassData adds a fixture.
void add_fixture(const b2PolygonShape& shape, double mass, b2MassData& sum) {
  b2MassData data;
  shape.ComputeMass(&data, 1);
  shape.ComputeMass(&data, static_cast<float>(mass / data.mass));
  sum.mass += data.mass;
  sum.center += data.mass * data.center;
  sum.I += data.I;
}

// Nothing where Box2D would not take a shape.
std::optional<MassProperties> mass_of_fixtures(const VehicleModel& v, double chassis_mass) {
  const std::optional<SolverShape> chassis =
      v.chassis.pieces.size() == 1 ? solver_polygon(v.chassis.outline) : std::nullopt;
  if (!chassis) return std::nullopt;
  b2MassData sum{0, b2Vec2(0, 0), 0};
  for (size_t i = v.wheels.size(); i-- > 0;) {  // Box2D lists the latest fixture first
    const WheelModel& w = v.wheels[i];
    b2PolygonShape box;
    set_wheel_box(w, w.yaw, box);
    if (area(box) < kMinArea) return std::nullopt;
    if (w.mass > 0) add_fixture(box, w.mass, sum);
  }
  add_fixture(*chassis, chassis_mass, sum);
  sum.center *= 1.0f / sum.mass;
  return MassProperties{sum.mass, {sum.center.x, sum.center.y}, sum.I};
}

MassProperties exact_mass(const VehicleModel& v, double chassis) {
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

}  // namespace

MassProperties vehicle_mass(const VehicleModel& v, std::span<const double> params) {
  const double chassis_mass = params[v.body_params + kChassisMass];
  MassProperties out = mass_of_fixtures(v, chassis_mass).value_or(exact_mass(v, chassis_mass));
  const Vec2 centroid = v.chassis.centroid;
  const double inertia = params[v.body_params + kChassisInertia];  // about the chassis's own centre of mass
  if (inertia >= 0)
    out.inertia += inertia - chassis_mass * (v.chassis.unit_inertia - dot(centroid, centroid));
  const Vec2 center{params[v.body_params + kChassisComX], params[v.body_params + kChassisComY]};
  const Vec2 load{params[v.transfer_params + kLoadX], params[v.transfer_params + kLoadY]};
  const Vec2 shift = load + (center - centroid);
  if (shift.x == 0 && shift.y == 0) return out;
  out.center = out.center + chassis_mass / out.mass * shift;
  out.inertia += chassis_mass * dot(shift, 2 * centroid + shift);
  return out;
}

MassProperties block_mass(const BlockModel& b, std::span<const double> params) {
  const double mass = params[b.params + kBlockMass], scale = params[b.params + kBlockScale];
  return {mass, scale * b.shape.centroid, mass * scale * scale * b.shape.unit_inertia};
}

BodyInertia vehicle_inertia(const VehicleModel& v, std::span<const double> params) {
  if (v.controller->imposes_twist()) return to_inertia(vehicle_mass(v, params), 0, 0);  // it moves exactly so
  return to_inertia(vehicle_mass(v, params), params[v.body_params + kChassisLinearDamping],
                    params[v.body_params + kChassisAngularDamping]);
}

BodyInertia block_inertia(const BlockModel& b, std::span<const double> params) {
  if (b.traits.is_static) return {};
  return to_inertia(block_mass(b, params), params[b.params + kBlockLinearDamping],
                    params[b.params + kBlockAngularDamping]);
}

}  // namespace mvsim
