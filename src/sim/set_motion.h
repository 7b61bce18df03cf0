// Speeds that a caller gives to bodies between steps; places are given in place.h.
#pragma once

#include <string>

#include "sim/sim_state.h"

namespace mvsim {

// Throw Error for what is not finite or beyond any world: farther than 1000 km from it, a yaw beyond 1e4 rad,
// speeds beyond 1e4. `what`: of the message.
void check_pose(const Model& m, const Pose2& pose, const std::string& what);
void check_twist(const Twist2& twist, const std::string& what);
// Throws Error for a body that keyframes move, because nothing else can move it.
void check_not_animated(const Model& m, BodyKind kind, size_t index);

// Throws Error for a block that is static or intangible.
void check_can_move(const Model& m, size_t block);

// The twist (body frame) of a vehicle's reference point. Its wheels roll along without slip, and what is
// joined to it moves as one body with it. Throws Error if a joint ties one of them to a static block.
void set_vehicle_twist(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Twist2& twist);
// The same of a block; throws Error as check_can_move() does.
void set_block_twist(const Model& m, SimState& s, Workspace& w, size_t block, const Twist2& twist);
// Changes the twist of a vehicle at once, as a push does: its wheels spin on, what is joined to it is pulled
// along.
void push_vehicle(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Twist2& change);

}  // namespace mvsim
