#include "sim/impact_rounds.h"

#include <box2d/b2_body.h>
#include <box2d/b2_fixture.h>
#include <box2d/b2_world.h>
#include <bit>

namespace mvsim {
namespace {

// Box2D gives these values to classes that are derived from its own alone.
struct ContactAccess : b2Contact {
  static constexpr float b2Contact::*kMoment = &ContactAccess::m_toi;
  static constexpr int32 b2Contact::*kRounds = &ContactAccess::m_toiCount;
};

bool moves(const b2Body& body) {
  return body.GetType() != b2_staticBody;
}

}  // namespace

ImpactRounds::Start ImpactRounds::start_of(b2Contact& contact, const b2Body& body) {
  const b2Vec2 &center = body.GetWorldCenter(), &velocity = body.GetLinearVelocity();
  return {.contact = &contact,
          .contacts = body.GetWorld()->GetContactCount(),
          .motion = std::bit_cast<std::array<uint32_t, 7>>(
              std::array{contact.*ContactAccess::kMoment, center.x, center.y, body.GetAngle(), velocity.x,
                         velocity.y, body.GetAngularVelocity()})};
}

void ImpactRounds::begin_step(size_t moving_bodies) {
  latest_.assign(moving_bodies, {});
  is_new_round_ = false;
}

void ImpactRounds::before_solving(b2Contact& contact) {
  if (!is_new_round_ || latest_.empty()) return;  // the step itself, or another contact of the same round
  is_new_round_ = false;
  b2Body &a = *contact.GetFixtureA()->GetBody(), &b = *contact.GetFixtureB()->GetBody();
  if (moves(a) == moves(b)) return;
  b2Body& moving = moves(a) ? a : b;
  Start& before = latest_[moving.GetUserData().pointer];
  const Start now = start_of(contact, moving);
  if (now == before) {
    contact.SetEnabled(false);
    contact.*ContactAccess::kRounds = b2_maxSubSteps + 1;  // the most: it is not chosen again
    is_new_round_ = true;
  }
  before = now;
}

}  // namespace mvsim
