// Lengths of shortest paths from everywhere to one goal, among the obstacles of a world.
//
// Any-angle search (Lazy Theta*, Nash, Koenig and Tovey 2010) outward from the goal: every cell knows the
// next corner of its path, so a length is that of a real path of straight pieces, not a sum of grid moves.
// Immutable once made.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/geometry.h"
#include "base/load_guard.h"

namespace mvsim {

class Simulation;

// Square cells over a world; a cell is free if a disc about its centre touches nothing.
struct PlanningGrid {
  Vec2 origin;  // lower left corner
  double cell = 0.1;
  int width = 0, height = 0;
  std::vector<uint8_t> free;  // row by row

  Vec2 center(int index) const {
    const int column = index % width, row = index / width;
    return {origin.x + (column + 0.5) * cell, origin.y + (row + 0.5) * cell};
  }
  bool inside(Vec2 p) const;
  int cell_of(Vec2 p) const;  // of the nearest cell if outside
};

// Side of the cells with which paths in a world are planned: `cell` metres, or more where that would make too
// many of them, or too long rows.
double planning_cell_of(const Rect& bounds, double cell);

// Of such cells; none is free yet.
PlanningGrid empty_planning_grid(const Rect& bounds, double cell);

// The world as `simulation` has it now, without its agent; `inflation` is the disc's radius.
// `poll` is called often and may throw.
PlanningGrid make_planning_grid(const Simulation& simulation, size_t agent, double cell, double inflation,
                                const Poll& poll = {});

class GoalField {
 public:
  // `poll` is called often and may throw.
  GoalField(std::shared_ptr<const PlanningGrid> grid, Vec2 goal, const Poll& poll = {});

  Vec2 goal() const { return goal_; }
  const PlanningGrid& grid() const { return *grid_; }
  // A path through free cells leads from here to the goal.
  bool reaches(Vec2 p) const;
  // Length of the shortest path (m): continuous in open space, and finite everywhere, also in cells that are
  // not free, so that it can serve as a potential.
  double distance(Vec2 p) const;
  // The point `ahead` metres along the path from p (the goal if it is nearer).
  Vec2 point_ahead(Vec2 p, double ahead) const;
  size_t bytes() const;

 private:
  // A point where paths bend, or the goal itself (the first one).
  struct Corner {
    Vec2 point;
    float distance = 0;  // to the goal
    int32_t next = -1;
  };
  struct Search;

  double distance_by_cell(Vec2 p, int cell) const;

  std::shared_ptr<const PlanningGrid> grid_;
  Vec2 goal_;
  std::vector<Corner> corners_;
  std::vector<int32_t> corner_;  // of a cell: index of the next one on its path, or kNone
};

}  // namespace mvsim
