// Limits of the motion of a body in one step.
#pragma once

#include "base/math.h"
#include "worldfile/world_spec.h"

namespace mvsim {

struct Model;

// Box2D's: a body that is faster is moved by no more in a step.
inline constexpr double kMostTravel = 2;        // m, of the centre of mass
inline constexpr double kMostTurn = 0.5 * kPi;  // rad

// Warns of each kind of speed in the world file that a step cannot make. Also warns of vehicles without a
// speed limit of their own, if the step is so long that usual commands exceed what it can make.
void check_speeds(const WorldSpec& spec, bool is_commanded_elsewhere, Model& model);

}  // namespace mvsim
