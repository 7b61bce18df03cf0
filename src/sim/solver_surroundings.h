// Static things near moving bodies, as fixtures of Box2D: cells of grids, and blocks.
#pragma once

#include <box2d/box2d.h>
#include <cstddef>
#include <span>
#include <vector>

#include "model/model.h"
#include "sim/body_state.h"

namespace mvsim {

// The occupied cells of a grid as square fixtures of Box2D. Only cells near moving bodies have a fixture.

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
// Returns whether each contact of the world has such a fixture.
bool touches_squares_only(b2World& world);

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

// Static surroundings that Box2D has to hold: cells of grids and static blocks that moving bodies could meet.

// Whether a block can be left out: static, at rest for good, tied to nothing.
bool can_be_left_out(const Model& model, size_t block);

// A body in the next step, in the solver's frame.
struct Mover {
  size_t body = 0;
  Vec2 center;
  double radius = 0;  // m, that holds all of it
  double way = 0;     // m, that it may go
};

class SolverSurroundings {
 public:
  SolverSurroundings(const Model& model, Vec2 origin, b2World& world);

  bool has_cells() const { return !cells_.empty(); }
  // Gives the cells that one of these could touch fixtures, and no others.
  void refresh_cells(std::span<const Mover> movers);

  bool is_any_absent() const { return !absent_.empty(); }
  // Bodies of the blocks that Box2D could pair with one of these, but for those that an earlier call has
  // named, in the order of the Model; they last until the next call. Box2D pairs boxes, so a block is left
  // out only where those boxes are apart: the pairs are those among all blocks.
  std::span<const size_t> missing(std::span<const double> params, std::span<const BodyState> bodies,
                                  std::span<const Mover> movers);

 private:
  struct Circle {
    Vec2 center;
    double radius = 0;  // m
  };
  bool is_near(std::span<const double> params, const BodyState& body, const BlockModel& block) const;

  const Model& model_;
  Vec2 origin_;  // of the solver's frame
  std::vector<SolverCells> cells_;
  std::vector<size_t> absent_;  // bodies that were not named yet
  std::vector<Circle> seen_;    // by body: around it nothing is absent
  std::vector<size_t> found_;
  std::vector<Circle> looks_;
  std::vector<Reach> reaches_;
};

}  // namespace mvsim
