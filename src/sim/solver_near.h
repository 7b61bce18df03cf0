// How near the two sides of a contact of Box2D are to each other, which it does not say before they touch.
#pragma once

#include <box2d/box2d.h>

namespace mvsim {

// They touch, or are closer than `threshold`, m.
bool is_near(b2Contact& contact, double threshold);

// They are farther apart than `distance`, m, beyond doubt and at little cost; false says nothing.
bool are_apart(const b2Contact& contact, double distance);

}  // namespace mvsim
