// Finds free space in a world for placing, spawning and planning. Pure functions of a simulation's state.
#pragma once

#include <optional>
#include <string_view>

#include "base/geometry.h"
#include "task/term_reader.h"

namespace mvsim {

class Simulation;
struct Model;

// Returns the distance (m) from a point to walls, static blocks and occupied cells that no environment moves,
// at most `limit`.
double distance_to_static(const Model& model, Vec2 point, double limit);

// Whether the point is on known ground. If the world has grids, it must be in a free cell of one, and in no
// cell of another kind.
bool is_known_ground(const Model& model, Vec2 point);

// Whether a disc about the point lies on known ground without touching anything but the agent.
// Returns the steepness of the elevation maps around a point, as the tangent of its angle over half a metre.
// It is 0 without maps and infinite at their borders.
double ground_slope(const Model& model, Vec2 point);
bool is_free(const Simulation& simulation, size_t agent, Vec2 point, double radius);

// Reads the attribute `area`. Fails for an area that is completely outside of the walls and maps, which is a
// mistake.
std::optional<Rect> read_area(TermReader& reader, const Model& model);

// Returns the area in a world, by default its bounds, which differ between the worlds of one environment.
Rect area_of(const std::optional<Rect>& area, const Model& model);

// Throws at `attribute` if the point is outside of the walls and maps that enclose the world, if any do.
void check_inside(const TermReader& reader, std::string_view attribute, const Model& model, Vec2 point);

}  // namespace mvsim
