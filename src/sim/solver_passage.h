// Whether a step of Box2D carried a body through another.
//
// Box2D's search for the time of impact stops thin-skinned bodies a hair before their skins meet, and takes
// that for no contact; between bodies that both move it does not search. Fast bodies then jump.
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
  Contact kind = kTouchesBlock;  // what it is to those that touch it
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
// To what Box2D would limit it to in a step of `dt` s.
void limit_speed(b2Body& body, float dt);

// Whether a body met something on the straight way from its start and is now beyond it, or left it without a
// contact. `starts`: by `bodies`; `dt` s of the step.
bool has_passage(const b2World& world, std::span<const MovingBody> bodies, std::span<const BodyStart> starts,
                 float dt, const PassageLimits& limits);

// Smallest width of a convex polygon, m.
float min_width(const b2PolygonShape& polygon);

}  // namespace mvsim
