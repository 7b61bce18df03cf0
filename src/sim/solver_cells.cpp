#include "sim/solver_cells.h"

#include <algorithm>

#include "sim/solver_pairs.h"
#include "sim/solver_polygon.h"

namespace mvsim {
namespace {

constexpr double kCellHalfSide = 0.4;  // share of a cell's side; the obstacle that MVSim uses for a cell
constexpr uintptr_t kHasSquares = 1;   // user data of a static body

bool row_by_row(CellIndex a, CellIndex b) {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}

CellIndex cell_of(b2Fixture* f) {
  const SquareIndex square = square_of(f->GetUserData().pointer);
  return {square.x, square.y};
}

}  // namespace

b2Body* add_squares_body(b2World& world) {
  b2BodyDef def;
  def.userData.pointer = kHasSquares;
  return world.CreateBody(&def);
}

bool is_square(b2Fixture& fixture) {
  b2Body& body = *fixture.GetBody();
  return body.GetType() == b2_staticBody && body.GetUserData().pointer == kHasSquares;
}

SolverCells::SolverCells(b2World& world, const GridModel& grid, Vec2 origin, size_t group)
    : grid_(&grid),
      group_(group),
      pose_{grid.T_world_grid.x - origin.x, grid.T_world_grid.y - origin.y, grid.T_world_grid.yaw},
      anchor_(add_squares_body(world)) {}

void SolverCells::refresh(std::span<const Reach> reaches) {
  const GridField& field = grid_->field;
  found_.clear();
  for (const Reach& reach : reaches) {
    const Vec2 local = Rotation2(pose_.yaw).unrotate(reach.center - Vec2{pose_.x, pose_.y});
    if (field.distance_to_occupied(local.x, local.y, reach.radius) >= reach.radius) continue;
    field.occupied_cells(local.x, local.y, reach.radius, near_);
    found_.insert(found_.end(), near_.begin(), near_.end());
  }
  std::sort(found_.begin(), found_.end(), row_by_row);
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  if (found_ != cells_) update_fixtures();
}

// Keeps the fixtures of cells that stay (their contacts live on), drops those that left, adds the new ones.
void SolverCells::update_fixtures() {
  for (b2Fixture* f = anchor_->GetFixtureList(); f != nullptr;) {
    b2Fixture* next = f->GetNext();
    if (!std::binary_search(found_.begin(), found_.end(), cell_of(f), row_by_row)) anchor_->DestroyFixture(f);
    f = next;
  }
  for (const CellIndex cell : found_)
    if (!std::binary_search(cells_.begin(), cells_.end(), cell, row_by_row)) add(cell);
  cells_ = found_;
}

void SolverCells::add(CellIndex cell) {
  const double side = grid_->field.resolution();
  const Vec2 center = transform(pose_, {(cell.x + 0.5) * side, (cell.y + 0.5) * side});
  const auto half = static_cast<float>(kCellHalfSide * side);
  b2PolygonShape square;
  square.SetAsBox(half, half, to_b2(center), static_cast<float>(pose_.yaw));
  square.m_radius = kCellSkin;
  b2FixtureDef def;
  def.shape = &square;
  def.friction = static_cast<float>(grid_->friction);
  def.restitution = static_cast<float>(grid_->restitution);
  def.userData.pointer = rank_of_square(group_, static_cast<uint32_t>(cell.x), static_cast<uint32_t>(cell.y));
  anchor_->CreateFixture(&def);
}

}  // namespace mvsim
