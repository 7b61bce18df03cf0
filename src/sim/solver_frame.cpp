#include "sim/solver_frame.h"

#include <cmath>
#include <optional>

#include "sim/free_room.h"
#include "sim/rounded_pose.h"

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

const RoundedPose* SolverFrame::rounded(const SimState& s, size_t body) const {
  const BodyModel& kind = model_->bodies[body];
  if (kind.kind != BodyKind::kVehicle || kind.joint_group >= 0) return nullptr;
  const RoundedPose& rounded = s.vehicles[kind.index].rounded;
  const BodyState& state = s.bodies[body];
  const bool counts_from_here = std::fabs(state.x - origin_.x) <= kRoundedNear &&
                                std::fabs(state.y - origin_.y) <= kRoundedNear && origin_ == s.solver_origin;
  return rounded.is_kept && rounded.is_known && counts_from_here ? &rounded : nullptr;
}

SolverPose SolverFrame::of(const SimState& s, size_t body) const {
  if (const RoundedPose* const own = rounded(s, body)) return {{own->x, own->y}, own->angle};
  const std::vector<BodyState>& bodies = s.bodies;
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
  for (VehicleState& v : s.vehicles) v.rounded.is_known = false;  // they count from there
}

}  // namespace mvsim
