// Level ground around a vehicle, found once, so that the ground need not be searched at every step.
#pragma once

#include "sim/sim_state.h"

namespace mvsim {

// Query of a vehicle for the ground around it: the highest ground above its own that counts, and the distance
// from its reference point.
struct GroundQuery {
  double ceiling = 0, reach = 0;  // m
};

// A cache: within `room` of `center` a vehicle that stands level at `z` stays so, and nothing is in its way.
struct LevelGround {
  Vec2 center;      // world frame
  double z = 0;     // m
  double room = 0;  // m
  bool known = false;
  bool on_movable_blocks = false;  // it holds only while blocks that can move stay where they are

  // The vehicle stands level at `z`, this far from the centre at most.
  bool holds(const VehicleState& vehicle, Vec2 at, double distance) const {
    const Vec2 d = at - center;
    return known && vehicle.z == z && vehicle.pitch == 0 && vehicle.roll == 0 &&
           dot(d, d) <= distance * distance;
  }
};

// Looks at all ground about a point: `room` is how far `query` may be moved from there so that the largest
// height below each ceiling is `z`, to the bit; not positive if it is another at the point itself.
LevelGround find_level_ground(const Model& m, const SimState& s, Vec2 center, double z, GroundQuery query);

}  // namespace mvsim
