#include "sim/solver_surroundings.h"

#include <algorithm>
#include <cmath>

#include "sim/solver_bodies.h"
#include "sim/solver_pairs.h"

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

constexpr double kCellMargin = 0.03;    // m, for skins and the displacement by contacts
constexpr double kCellsFurther = 0.01;  // m, so that cells are looked for every few steps
// m, between boxes that Box2D may pair: the margins of both, both skins, and rounding.
constexpr double kPaired = 2 * double{b2_aabbExtension} + 0.03;
// Box2D extends the box of a moving body by four times its motion.
constexpr double kStretched = 1 + double{b2_aabbMultiplier};
constexpr double kLookFurther = 0.3;  // m, so that it is not looked again in every step

bool overlap(Vec2 a, double half_a, Vec2 b, double half_b) {
  return std::fabs(a.x - b.x) <= half_a + half_b && std::fabs(a.y - b.y) <= half_a + half_b;
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

bool touches_squares_only(b2World& world) {
  for (b2Contact* c = world.GetContactList(); c != nullptr; c = c->GetNext())
    if (!is_square(*c->GetFixtureA()) && !is_square(*c->GetFixtureB())) return false;
  return true;
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
  SolverShape square;
  square.SetAsBox(half, half, to_b2(center), static_cast<float>(pose_.yaw));
  square.m_radius = kCellSkin;
  b2FixtureDef def;
  def.shape = &square;
  def.friction = static_cast<float>(grid_->friction);
  def.restitution = static_cast<float>(grid_->restitution);
  def.userData.pointer = rank_of_square(group_, static_cast<uint32_t>(cell.x), static_cast<uint32_t>(cell.y));
  anchor_->CreateFixture(&def);
}

bool can_be_left_out(const Model& m, size_t index) {
  const BlockModel& block = m.blocks[index];
  if (!block.traits.is_static || is_far(block) || block.is_led) return false;
  const auto body = static_cast<size_t>(block.body);
  const auto holds = [&](const JointModel& joint) { return joint.body_a == body || joint.body_b == body; };
  return std::ranges::none_of(m.joints, holds);
}

SolverSurroundings::SolverSurroundings(const Model& model, Vec2 origin, b2World& world)
    : model_(model), origin_(origin), seen_(model.bodies.size()) {
  for (const GridModel& grid : model.grids) cells_.emplace_back(world, grid, origin, cells_.size() + 1);
  for (size_t i = 0; i < model.bodies.size(); ++i)
    if (model.bodies[i].kind == BodyKind::kBlock && can_be_left_out(model, model.bodies[i].index))
      absent_.push_back(i);
}

void SolverSurroundings::refresh_cells(std::span<const Mover> movers) {
  const auto reach_of = [&](const Mover& m) {
    return m.radius + m.way + model_.collision_threshold + kCellMargin;
  };
  const auto covers = [&](const Reach& seen, const Mover& m) {
    return norm(m.center - seen.center) + reach_of(m) <= seen.radius;
  };
  if (std::ranges::equal(reaches_, movers, covers)) return;
  reaches_.clear();
  for (const Mover& m : movers) reaches_.push_back({m.center, reach_of(m) + kCellsFurther});
  for (SolverCells& grid : cells_) grid.refresh(reaches_);
}

std::span<const size_t> SolverSurroundings::missing(std::span<const double> params,
                                                    std::span<const BodyState> bodies,
                                                    std::span<const Mover> movers) {
  found_.clear();
  looks_.clear();
  for (const Mover& m : movers) {
    const double reach = m.radius + kPaired + kStretched * m.way;
    Circle& seen = seen_[m.body];
    if (norm(m.center - seen.center) + reach <= seen.radius) continue;
    looks_.push_back(seen = {m.center, reach + kLookFurther});
  }
  if (looks_.empty()) return found_;
  std::erase_if(absent_, [&](size_t body) {
    if (!is_near(params, bodies[body], model_.blocks[model_.bodies[body].index])) return false;
    found_.push_back(body);
    return true;
  });
  return found_;
}

bool SolverSurroundings::is_near(std::span<const double> params, const BodyState& body,
                                 const BlockModel& block) const {
  const double radius = block.shape.radius * params[block.params + kBlockScale];
  const Vec2 center = reference_point(body) - origin_;
  return std::ranges::any_of(
      looks_, [&](const Circle& look) { return overlap(look.center, look.radius, center, radius); });
}

}  // namespace mvsim
