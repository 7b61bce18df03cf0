// Where in a world there is room: for placing, spawning and planning. Pure functions of a simulation's state.
#pragma once

#include <optional>
#include <string_view>

#include "base/geometry.h"
#include "task/term_reader.h"

namespace mvsim {

class Simulation;
struct Model;

// Distance (m) from a point to walls, static blocks and occupied cells that no environment moves, at most
// `limit`.
double distance_to_static(const Model& model, Vec2 point, double limit);

// Whether the point is on known ground: in a free cell of a grid, where the world has grids, and on no other
// cell.
bool is_known_ground(const Model& model, Vec2 point);

// Whether a disc about the point lies on known ground without touching anything but the agent.
// Steepness of the elevation maps about a point as the tangent of its angle, over half a metre; 0 without
// maps, infinite at their borders.
double ground_slope(const Model& model, Vec2 point);
bool is_free(const Simulation& simulation, size_t agent, Vec2 point, double radius);

// The attribute `area`. Fails for one that lies wholly outside of the walls and maps, where nobody could mean
// it to be.
std::optional<Rect> read_area(TermReader& reader, const Model& model);

// The area in a world: by default its bounds, which differ from world to world of one environment.
Rect area_of(const std::optional<Rect>& area, const Model& model);

// Fails at `attribute` if the point is outside of the walls and maps that enclose the world, if any do.
void check_inside(const TermReader& reader, std::string_view attribute, const Model& model, Vec2 point);

}  // namespace mvsim
