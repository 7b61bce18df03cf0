// Free space of a world: of points, for placing and spawning; and as square cells, for planning path lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/geometry.h"
#include "base/load_guard.h"
#include "task/term_reader.h"

namespace mvsim {

class Simulation;
struct Model;

// Whether the point is on known ground. If the world has grids, it must be in a free cell of one, and in no
// cell of another kind.
bool is_known_ground(const Model& model, Vec2 point);

// Returns the steepness of the elevation maps around a point, as the tangent of its angle over half a metre.
// It is 0 without maps and infinite at their borders.
double ground_slope(const Model& model, Vec2 point);

// Whether a disc about the point lies on known ground without touching anything but the agent.
bool is_free(const Simulation& simulation, size_t agent, Vec2 point, double radius);

// Reads the attribute `area`. Fails for an area that is completely outside of the walls and maps, which is a
// mistake.
std::optional<Rect> read_area(TermReader& reader, const Model& model);

// Returns the area in a world, by default its bounds, which differ between the worlds of one environment.
Rect area_of(const std::optional<Rect>& area, const Model& model);

// Throws at `attribute` if the point is outside of the walls and maps that enclose the world, if any do.
void check_inside(const TermReader& reader, std::string_view attribute, const Model& model, Vec2 point);

class PathTables;

// Square cells over a world or a window of it. A cell is free if a disc around its centre touches nothing.
struct PlanningGrid {
  Vec2 origin;  // lower left corner of the world
  double cell = 0.1;
  int first_column = 0, first_row = 0;  // of the window, counted from the origin
  int width = 0, height = 0;
  std::vector<uint8_t> free;  // row by row
  // Tables of `free`, if many paths are planned in the grid; else null.
  std::shared_ptr<const PathTables> tables;

  Vec2 center(int index) const { return center(index % width, index / width); }
  Vec2 center(int column, int row) const {  // column and row of the window
    return {origin.x + (first_column + column + 0.5) * cell, origin.y + (first_row + row + 0.5) * cell};
  }
  bool inside(Vec2 p) const;
  int cell_of(Vec2 p) const;  // the nearest cell if p is outside
};

// Returns the side of the cells for planning: `cell` metres, or more if there would be too many cells or too
// long rows.
double planning_cell_of(const Rect& bounds, double cell);

// Returns a grid of such cells, none of them free.
PlanningGrid empty_planning_grid(const Rect& bounds, double cell);

// Returns the cells of `whole` that `window` touches, none of them free.
PlanningGrid window_of(const PlanningGrid& whole, const Rect& window);

// Finds the free cells of the current world of `simulation`, without its agent. `inflation` is the radius of
// the disc. `poll` is called often and may throw.
void find_free_cells(PlanningGrid& grid, const Simulation& simulation, size_t agent, double inflation,
                     const Poll& poll = {});
PlanningGrid make_planning_grid(const Simulation& simulation, size_t agent, double cell, double inflation,
                                const Poll& poll = {});

}  // namespace mvsim
