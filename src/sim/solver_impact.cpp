#include "sim/solver_impact.h"

#include <cmath>

#include "sim/solver_near.h"

namespace mvsim {
namespace {

// Shapes farther apart than this, m, are no pair: it is less than the margin of their boxes.
constexpr double kFarthest = 0.08;
constexpr double kSlack = 0.01;  // m, by which Box2D lets shapes come nearer than their skins, and more

// The longest way of a point of a body that touches nothing.
double way_of(const MovingBody& moving, const std::optional<BodyForce>& force, double dt) {
  const b2Body& body = *moving.body;
  const double off = body.GetLocalCenter().Length(), mass = body.GetMass();
  double speed = body.GetLinearVelocity().Length(), turning = std::fabs(body.GetAngularVelocity());
  if (force) {
    speed += dt * norm(force->force()) / mass;
    turning += dt * std::fabs(force->torque) / (body.GetInertia() - mass * off * off);  // about the centre
  }
  return dt * (speed + turning * (moving.radius + off));
}

}  // namespace

bool nothing_meets(const b2World& world, std::span<const MovingBody> bodies,
                   std::span<const std::optional<BodyForce>> forces, double dt) {
  double way = 0;
  for (size_t i = 0; i < bodies.size(); ++i) way = std::max(way, way_of(bodies[i], forces[i], dt));
  const double both = bodies.size() > 1 ? 2 * way : way;
  if (!(both < kFarthest)) return false;
  for (const b2Contact* c = world.GetContactList(); c != nullptr; c = c->GetNext())
    if (c->IsTouching() || !are_apart(*c, both + kSlack)) return false;
  return true;
}

}  // namespace mvsim
