// JointModel to Box2D.
#pragma once

#include <box2d/box2d.h>

#include "model/model.h"

namespace mvsim {

// Joined bodies do not collide with each other. Angles and anchors are the model's: a world that is filled
// anew in mid-drive has the same joints.
void add_joint(b2World& world, const JointModel& joint, b2Body* a, b2Body* b);

}  // namespace mvsim
