// How a vehicle stands on the ground: its tilt, level ground around it, heights under its wheels.
#pragma once

#include <vector>

#include "base/geometry.h"
#include "sim/sim_state.h"

namespace mvsim {

// Pitch and roll as sines and cosines, remembered: a step asks for those before it and those after it,
// several times each.

struct Tilt {
  SinCos pitch{0, 1}, roll{0, 1};

  // A point of a vehicle in the level frame at its reference point that has its yaw.
  Vec3 apply(Vec3 p) const {
    const double z = p.y * roll.sin + p.z * roll.cos;
    return {p.x * pitch.cos + z * pitch.sin, p.y * roll.cos - p.z * roll.sin,
            z * pitch.cos - p.x * pitch.sin};
  }
};

class TiltMemo {
 public:
  const Tilt& of(const VehicleState& vehicle) {
    if (vehicle.pitch != pitch_) tilt_.pitch = sin_cos(pitch_ = vehicle.pitch);
    if (vehicle.roll != roll_) tilt_.roll = sin_cos(roll_ = vehicle.roll);
    return tilt_;
  }

 private:
  double pitch_ = 0, roll_ = 0;
  Tilt tilt_;
};

// Level ground around a vehicle, found once, so that the ground need not be searched at every step.

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

// Blocks that may be ground near a vehicle: a few of thousands. A cache that changes no value.
class NearTops {
 public:
  // Indices of Model::blocks, ascending: all that may move, and those whose top is at most `reach` m from
  // `at`, and some more.
  const std::vector<size_t>& of(const Model& m, const SimState& s, Vec2 at, double reach) {
    if (!known_ || norm(at - center_) + reach > reach_) look(m, s, at, reach);
    return found_;
  }
  void forget() { known_ = false; }  // after a block was placed

 private:
  void look(const Model& m, const SimState& s, Vec2 at, double reach);

  bool known_ = false;
  Vec2 center_;
  double reach_ = 0;  // m
  std::vector<size_t> found_;
};

// How a vehicle stands on the ground: maps, planes and the tops of blocks.

// Sets height, pitch and roll from the ground under the wheels; x, y and yaw are left alone. Returns the mean
// height of that ground, m.
double stand(const Model& m, SimState& s, Workspace& w, size_t vehicle);

// Puts a vehicle that was moved onto the elevation maps. It begins at the highest ground under a wheel, so
// that the ground of every wheel is found.
void snap_to_ground(const Model& m, SimState& s, Workspace& w, size_t vehicle);

// Adds squares to Workspace::step_squares at places where the ground under a corner of the chassis is higher
// above `wheel_ground` than the wheels can climb.
void find_step_squares(const Model& m, const SimState& s, Workspace& w, size_t vehicle, double wheel_ground);

// Returns whether a vehicle stands on level ground that is known (Workspace::levels). Then it also sets the
// vehicle on it, as the two functions above would.
bool stands_on_known_ground(const Model& m, SimState& s, Workspace& w, size_t vehicle);
// Finds how far the ground is level around a vehicle that has just been set on it, if such a search is due.
void learn_ground(const Model& m, const SimState& s, Workspace& w, size_t vehicle, double wheel_ground);

// Downhill pull in the vehicle frame as a share of the weight: (sin pitch, -sin roll cos pitch).
Vec2 slope_of(const VehicleState& vehicle, TiltMemo& tilt);

// Gravity across the ground that the vehicle stands on, m/s2.
double gravity_across(const Model& m, const Tilt& tilt);

}  // namespace mvsim
