// The occupied cells of a grid as square fixtures of Box2D. Only cells near moving bodies have a fixture.
#pragma once

#include <box2d/box2d.h>

#include <span>
#include <vector>

#include "model/model.h"

namespace mvsim {

inline constexpr float kCellSkin = 0.001f;  // m, of grid cells and of squares in the way of a chassis

// A moving body's part of the plane in the next step, in the solver's frame.
struct Reach {
  Vec2 center;
  double radius = 0;  // m
};

// Adds a static body whose fixtures are squares: cells, or squares that may be placed inside of a chassis.
b2Body* add_squares_body(b2World& world);
// Returns whether the fixture belongs to such a body.
bool is_square(b2Fixture& fixture);

class SolverCells {
 public:
  // `group`: of the cells' ranks (solver_pairs.h).
  SolverCells(b2World& world, const GridModel& grid, Vec2 origin, size_t group);

  // Gives every occupied cell within one of the circles a fixture, and no other cell.
  void refresh(std::span<const Reach> reaches);

 private:
  void update_fixtures();
  void add(CellIndex cell);

  const GridModel* grid_;
  size_t group_;
  Pose2 pose_;  // of the grid, solver's frame
  b2Body* anchor_;
  std::vector<CellIndex> cells_;         // those that have a fixture now, row by row
  std::vector<CellIndex> found_, near_;  // scratch
};

}  // namespace mvsim
