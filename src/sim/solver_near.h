// Whether the two sides of a contact of Box2D are near each other, which it does not say before they touch.
#pragma once

#include <box2d/box2d.h>

namespace mvsim {

// They touch, or are closer than `threshold`, m.
bool is_near(b2Contact& contact, double threshold);

}  // namespace mvsim
