// How near things are to each other: distances, outlines, overlaps.
#pragma once

#include <span>
#include <vector>

#include "sim/scene_buffer.h"
#include "sim/sim_state.h"

namespace mvsim {

// A SimView with the cached outlines of moving things. Queries fill the cache, so only one thread at a time
// may use it. A Simulation converts to it.
struct SimScene : SimView {
  SceneBuffer& scene;
};

// Distance (m) from a point to the nearest tangible thing (occupied cell, static shape, block, other
// vehicle), at most `limit`. The vehicle `except_vehicle` (-1: none) and bodies joined to it are left out.
double distance_to_obstacles(const SimScene& sim, Vec2 point, double limit, int except_vehicle = -1);
// The same, without all vehicles.
double distance_to_static(const SimScene& sim, Vec2 point, double limit);
// The same, without all vehicles, people and bodies that policies drive.
double distance_to_standing(const SimScene& sim, Vec2 point, double limit);
// As distance_to_obstacles(), from the chassis outline of a vehicle and of those joined to it.
double clearance(const SimScene& sim, size_t vehicle, double limit);

// Returns the tangible things that may move, without `except_vehicle` (-1: none) and the bodies joined to it.
// The outlines last until the next call for the same scene.
std::vector<MovingShape> obstacles(const SimScene& sim, int except_vehicle = -1);

// Returns whether the chassis overlaps a tangible thing. The chassis is shrunk by a hundredth, so that
// touching is no overlap. Bodies joined to the vehicle are left out.
bool overlaps(const SimScene& sim, size_t vehicle);
// The same for `others`, those of obstacles(vehicle) that may be near enough.
bool overlaps(const SimScene& sim, size_t vehicle, std::span<const MovingShape> others);

// Returns the number of occupied cells of maps that a convex, counter-clockwise outline in the world frame
// overlaps. Cells at its border are counted approximately.
size_t overlapped_cells(const SimView& sim, const Polygon& outline);

// Outlines in the world frame at their present size, counter-clockwise.
Polygon block_outline(const SimView& sim, size_t block);
Polygon vehicle_outline(const SimView& sim, size_t vehicle);  // of the chassis

}  // namespace mvsim
