// How near things are to each other: distances, outlines, overlaps.
#pragma once

#include <span>
#include <vector>

#include "sim/scene_buffer.h"
#include "sim/sim_state.h"

namespace mvsim {

// With the outlines of what moves, a cache: one thread at a time. A Simulation converts to this, too.
struct SimScene : SimView {
  SceneBuffer& scene;
};

// Distance (m) from a point to the nearest tangible thing (occupied cell, static shape, block, other
// vehicle), at most `limit`. `except_vehicle`: -1 or a vehicle that does not count, nor what is joined to it.
double distance_to_obstacles(const SimScene& sim, Vec2 point, double limit, int except_vehicle = -1);
// The same, without all vehicles.
double distance_to_static(const SimScene& sim, Vec2 point, double limit);
// The same, without all vehicles, people and what policies drive.
double distance_to_standing(const SimScene& sim, Vec2 point, double limit);
// As distance_to_obstacles(), from the chassis outline of a vehicle and of those joined to it.
double clearance(const SimScene& sim, size_t vehicle, double limit);

// Returns the tangible things that may move, without `except_vehicle` (-1: none) and the bodies joined to it.
// The outlines last until the next call for the same scene.
std::vector<MovingShape> obstacles(const SimScene& sim, int except_vehicle = -1);

// Whether the chassis, a hundredth smaller all round, overlaps a tangible thing; what is joined does not
// count.
bool overlaps(const SimScene& sim, size_t vehicle);
// The same, `others` being those of obstacles(vehicle) that may be near enough.
bool overlaps(const SimScene& sim, size_t vehicle, std::span<const MovingShape> others);

// The number of occupied cells of maps that a convex, counter-clockwise outline of the world frame overlaps,
// of those at its border about.
size_t overlapped_cells(const SimView& sim, const Polygon& outline);

// Outlines in the world frame at their present size, counter-clockwise.
Polygon block_outline(const SimView& sim, size_t block);
Polygon vehicle_outline(const SimView& sim, size_t vehicle);  // of the chassis

}  // namespace mvsim
