// Limits of the motion of a body in one step.
#pragma once

#include "base/math.h"
#include "worldfile/world_spec.h"

namespace mvsim {

struct Model;

// Box2D's: a body that is faster is moved by no more in a step.
inline constexpr double kMostTravel = 2;        // m, of the centre of mass
inline constexpr double kMostTurn = 0.5 * kPi;  // rad

// A warning for each kind of speed that the world states and a step cannot make, and one where vehicles have
// no limit of their own and the step is so long that usual commands reach it.
void check_speeds(const WorldSpec& spec, bool is_commanded_elsewhere, Model& model);

}  // namespace mvsim
