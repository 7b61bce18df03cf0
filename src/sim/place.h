// Changes of a state between steps: places, parameters, speeds.
#pragma once

#include <string>
#include <vector>

#include "sim/sim_state.h"

namespace mvsim {

// Changes of a state between steps: its start, places of vehicles and blocks, parameters. Each takes effect
// at the next step.

// Sets the model's initial state, nominal parameters and the random streams of (key, episode). Only
// always_solver and the choice of scheduled sensors are kept from the state before.
void reset_state(const Model& m, SimState& s, Workspace& w, uint64_t key, uint32_t episode);

// Places a vehicle at rest on the ground. Bodies that are joined to it move along and get the relative poses
// of the start of the episode. Throws Error if a joint ties one of them to a static block.
void place_vehicle(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Pose2& pose);
// The same, but bodies that are joined to it stay where they are. The caller sees to it that the anchors
// meet.
void place_vehicle_alone(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Pose2& pose);
// Throws Error for a block of the model's static geometry.
void check_placeable(const Model& m, size_t block);
void place_block(const Model& m, SimState& s, Workspace& w, size_t block, const Pose2& pose);

// Sets the parameter at `index` of Model::params. Throws Error if the value is out of range.
void set_param(const Model& m, SimState& s, Workspace& w, size_t index, double value);

// Invalidates the known contacts and distances. Every change from outside calls it.
void forget_contacts(SimState& s, Workspace& w);

// Speeds that a caller gives to bodies between steps.

// Check values from a caller. They throw Error for a value that is not finite, a place farther than 1000 km
// from the world, a yaw beyond 1e4 rad, or a speed beyond 1e4. `what` names the value in the message.
void check_pose(const Model& m, const Pose2& pose, const std::string& what);
void check_twist(const Twist2& twist, const std::string& what);
// Throws Error for a body that keyframes move, because nothing else can move it.
void check_not_animated(const Model& m, BodyKind kind, size_t index);

// Throws Error for a block that is static or intangible.
void check_can_move(const Model& m, size_t block);

// Sets the twist (body frame) of a vehicle's reference point. Its wheels roll without slip, and bodies joined
// to it move with it as one rigid body. Throws Error if a joint ties one of them to a static block.
void set_vehicle_twist(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Twist2& twist);
// Sets the twist of a block. Throws Error as check_can_move() does.
void set_block_twist(const Model& m, SimState& s, Workspace& w, size_t block, const Twist2& twist);
// Adds `change` to the twist of a vehicle, as a push does. The spin of its wheels stays, and joints pull
// other bodies along in the next steps.
void push_vehicle(const Model& m, SimState& s, Workspace& w, size_t vehicle, const Twist2& change);

// Animations: keyframes of blocks, vehicles and planes, people on paths. They are functions of time, so a
// state holds only the poses of the bodies. Bodies that an environment's policies drive move at the velocity
// of their state.

// Sets the poses of all animated bodies at s.time, at rest.
void animate(const Model& m, SimState& s, Workspace& w);

// Adds to `tops` those of moving planes whose lowest point is not above `height` at s.time.
void add_moving_planes(const Model& m, const SimState& s, double height, std::vector<PlacedTop>& tops);

Pose3 moving_plane_pose(const MovingPlane& plane, double time);
Pose3 actor_pose(const ActorModel& actor, double time);
// The same; for an actor with a body, the present pose of that body.
Pose3 actor_pose(const SimView& sim, size_t actor);

// Moves driven blocks at their velocities for dt s.
void move_driven_blocks(const Model& m, SimState& s, Workspace& w, double dt);
// Sets the velocity of a driven block from now on, in world axes.
void drive_block(const Model& m, SimState& s, size_t block, const Twist2& world_twist);

}  // namespace mvsim
