#include "sim/solver_frame.h"

#include <cmath>
#include <optional>

#include "sim/free_room.h"

namespace mvsim {
namespace {

constexpr double kNear = 500;  // m; there single precision tells 0.03 mm apart

// The first that counts: a vehicle, a block on its way, or any block that can be moved.
std::optional<size_t> leading_body(const Model& m, const SimState& s) {
  for (size_t i = 0; i < m.vehicles.size(); ++i)
    if (s.vehicles[i].by_solver) return m.vehicles[i].body;
  std::optional<size_t> first;
  for (const size_t i : m.moving_bodies) {
    if (!is_movable_block(m, m.bodies[i])) continue;
    if (is_moving(s.bodies[i])) return i;
    if (!first) first = i;
  }
  return first;
}

}  // namespace

SolverPose SolverFrame::of(std::span<const BodyState> bodies, size_t body) const {
  const BodyState& state = bodies[body];
  const int group = model_->bodies[body].joint_group;
  const double first =
      group < 0 ? state.angle : bodies[model_->joint_groups[static_cast<size_t>(group)].bodies.front()].angle;
  double angle = state.angle;
  if (std::fabs(first) > kPi) angle -= 2 * kPi * std::nearbyint(first / (2 * kPi));
  return {{static_cast<float>(state.x - origin_.x), static_cast<float>(state.y - origin_.y)},
          static_cast<float>(angle)};
}

void keep_origin_near(const Model& m, SimState& s) {
  const std::optional<size_t> body = leading_body(m, s);
  if (!body) return;
  const Vec2 at = reference_point(s.bodies[*body]);
  if (std::fabs(at.x - s.solver_origin.x) <= kNear && std::fabs(at.y - s.solver_origin.y) <= kNear) return;
  s.solver_origin = {std::nearbyint(at.x), std::nearbyint(at.y)};
}

}  // namespace mvsim
