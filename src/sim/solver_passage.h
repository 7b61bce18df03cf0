// Detects whether a step of Box2D carried a body through another one.
//
// Box2D searches for the time of impact, but it stops bodies with thin skins just before the skins meet, and
// makes no contact then. For two bodies that both move it does not search. Fast bodies then pass through each
// other.
#pragma once

#include <box2d/box2d.h>

#include <span>
#include <vector>

#include "sim/sim_state.h"

namespace mvsim {

// A body that moves; its user data is its index among those.
struct MovingBody {
  b2Body* body = nullptr;
  float radius = 0;              // m, of a circle about the body's origin that holds all of it
  float thickness = 0;           // m, least width of its chassis or outline
  Contact kind = kTouchesBlock;  // the flag that it sets in bodies that touch it
};

// Where a body stood before a step, and how fast it was.
struct BodyStart {
  b2Vec2 position;
  float angle;
  b2Vec2 center;  // of mass
  b2Vec2 velocity;
  float omega;
};

// How much of a passage counts.
struct PassageLimits {
  float travel;      // of a body's thickness: bodies that moved less are not checked
  float max_travel;  // m, the same
  bool squeezed;     // bodies with deep contacts are checked all the same
  float depth;       // of a body's thickness: a body deeper in another has passed
  float max_depth;   // m, the same
  float forgiven;    // of the depth at the start
};

BodyStart start_of(const b2Body& body);
void put_back(b2Body& body, const BodyStart& start);
// Limits the velocity of a body as Box2D would in a step of `dt` s.
void limit_speed(b2Body& body, float dt);

// Returns whether a body met something on the straight way from its start and is now beyond it, or has left
// it again without a contact. `starts` has an entry for each of `bodies`; `dt` is the length of the step, s.
bool has_passage(const b2World& world, std::span<const MovingBody> bodies, std::span<const BodyStart> starts,
                 float dt, const PassageLimits& limits);

// Smallest width of a convex polygon, m.
float min_width(const b2PolygonShape& polygon);

}  // namespace mvsim
