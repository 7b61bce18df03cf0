#include "sim/solver_surroundings.h"

#include <algorithm>
#include <cmath>

#include "sim/solver_bodies.h"

namespace mvsim {
namespace {

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
