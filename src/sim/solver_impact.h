// Whether Box2D's search for the time of impact, the dearest part of its step, could find any.
#pragma once

#include <box2d/box2d.h>

#include <optional>
#include <span>

#include "sim/free_motion.h"
#include "sim/solver_passage.h"

namespace mvsim {

// Bodies under these forces stay so far from all else in the next step of `dt` seconds that they cannot
// touch; of bodies that no joints hold. Says nothing where it is false.
bool nothing_meets(const b2World& world, std::span<const MovingBody> bodies,
                   std::span<const std::optional<BodyForce>> forces, double dt);

}  // namespace mvsim
