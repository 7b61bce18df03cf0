// The Model's bodies and joints as Box2D has them: fixtures, mass, damping, ground friction. Angles and
// anchors are the Model's: a world that is filled anew in mid-drive is the same.
#pragma once

#include <box2d/box2d.h>

#include <span>

#include "model/model.h"
#include "sim/body_state.h"

namespace mvsim {

struct WheelFixture {
  b2Fixture* fixture = nullptr;
  double yaw = 0;  // rad, as the box stands now
};

b2FixtureDef fixture_def(const b2Shape& shape, double friction, double restitution);

// Chassis and wheels; `states` and `fixtures` are of all wheels of the Model. Throws Error for a body too
// thin for the solver, as the next two do.
void add_vehicle(const VehicleModel& vehicle, std::span<const double> params,
                 std::span<const WheelState> states, b2Body* body, std::span<WheelFixture> fixtures);
// Adds a block. `ground` is a static body against which its ground friction acts.
void add_block(const BlockModel& block, std::span<const double> params, double gravity, b2Body* body,
               b2Body* ground);

// Returns whether a static block has points far from its own reference point. add_far_block() computes its
// points in double precision: its body is at the solver's origin and not turned, so points near this origin
// stay precise.
bool is_far(const BlockModel& block);
void add_far_block(const BlockModel& block, const BodyState& state, Vec2 origin,
                   std::span<const double> params, b2Body* body);

// Joined bodies do not collide with each other.
void add_joint(const Model& model, const JointModel& joint, Vec2 origin, b2Body* a, b2Body* b);

// m, of the thickest piece: a body is as thin as its slimmest part only in that part.
float thickness_of(const Model& model, const BodyModel& body, std::span<const double> params);

}  // namespace mvsim
