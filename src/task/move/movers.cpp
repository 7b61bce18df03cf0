#include "task/move/movers.h"

#include <algorithm>
#include <cmath>

#include "sim/clearance.h"
#include "sim/measure.h"
#include "task/move/people.h"
#include "task/plan/free_space.h"
#include "task/task.h"

namespace mvsim {
namespace {

constexpr double kWalls = 1e-3;     // m, half the step of the derivative of the distance to walls
constexpr double kTouching = 2e-2;  // m, depth in a wall at which a body stops
constexpr double kFaces = 0.05;     // m/s, from which people turn to their direction

}  // namespace

Pose2 Movers::pose(const EnvState& env, size_t index) const {
  const Body& body = bodies_[index];
  const Pose3 p =
      body.is_vehicle ? vehicle_pose(env.simulation, body.index) : block_pose(env.simulation, body.index);
  return {p.x, p.y, p.yaw};
}

Vec2 Movers::velocity(const EnvState& env, size_t index) const {
  const Body& body = bodies_[index];
  const Twist2 t = body.is_vehicle ? vehicle_world_twist(env.simulation, body.index)
                                   : block_world_twist(env.simulation, body.index);
  return {t.vx, t.vy};
}

NearestWall Movers::wall_near(const EnvState& env, Vec2 point, double radius) const {
  if (!has_walls_) return {};
  const double limit = kSightOfWalls + radius;
  const auto distance = [&](Vec2 p) { return distance_to_standing(env.simulation, p, limit); };
  NearestWall wall;
  const double here = distance(point);
  if (here >= limit) return wall;
  const Vec2 slope{distance({point.x + kWalls, point.y}) - distance({point.x - kWalls, point.y}),
                   distance({point.x, point.y + kWalls}) - distance({point.x, point.y - kWalls})};
  wall.distance = here;
  if (const double steep = norm(slope); steep > 0) wall.towards = -1 / steep * slope;
  return wall;
}

// Limits a velocity so that the body does not move into a wall.
Vec2 Movers::kept_from_walls(const EnvState& env, const BodyView& view, Vec2 velocity, double speed) const {
  if (!(view.wall.distance < kSightOfWalls + view.self.radius)) return velocity;
  const double room = view.wall.distance - view.self.radius;
  const double most = std::max(room / view.period, -speed), now = dot(velocity, view.wall.towards);
  if (now > most) velocity = velocity + (most - now) * view.wall.towards;
  const double there =
      distance_to_standing(env.simulation, view.self.position + view.period * velocity, view.self.radius);
  return there < std::min(view.self.radius, view.wall.distance) - kTouching ? Vec2{} : velocity;
}

void Movers::drive_body(EnvState& env, size_t index, const BodyView& view) const {
  const Body& body = bodies_[index];
  const Group& group = groups_[body.group];
  MoverState& mover = env.movers[index];
  Simulation& s = env.simulation;
  RandomStream random(env.key + kStepKeys * (static_cast<uint64_t>(env.steps) + 1), s.state().episode,
                      StreamPurpose::kMover, static_cast<uint16_t>(index));
  if (group.policy->has_goal() && group.goes_on && norm(mover.goal - view.self.position) < group.reached)
    mover.goal = draw_goal(env, index, random);
  if (body.is_vehicle) {
    const Twist2 twist = group.policy->twist(view, mover, random, group.max_turn);
    return s.set_twist(body.index, twist.vx, twist.omega);
  }
  const Vec2 wanted = group.policy->velocity(view, mover, random);
  const Vec2 velocity = kept_from_walls(env, view, wanted, mover.speed);
  double turn = 0;
  if (group.is_people && norm(velocity) > kFaces) {
    const double off = wrap_to_pi(math::atan2(velocity.y, velocity.x) - view.yaw);
    turn = std::clamp(off / view.period, -group.max_turn, group.max_turn);
  }
  s.drive_block(body.index, {velocity.x, velocity.y, turn});
}

// Sets all velocities from the world at the start of the period.
void Movers::drive(EnvState& env) const {
  std::vector<Disc> discs;
  discs.reserve(bodies_.size() + vehicles_.size());
  for (size_t i = 0; i < bodies_.size(); ++i) {
    const Pose2 p = pose(env, i);
    discs.push_back({{p.x, p.y}, velocity(env, i), bodies_[i].radius});
  }
  for (const size_t v : vehicles_) {
    const Pose3 p = vehicle_pose(env.simulation, v);
    const Twist2 t = vehicle_world_twist(env.simulation, v);
    discs.push_back({{p.x, p.y}, {t.vx, t.vy}, env.simulation.model().vehicles[v].radius});
  }
  std::vector<BodyView> views(bodies_.size());
  std::vector<Disc> others;  // the others of each body, one list after another
  others.reserve(bodies_.size() * discs.size());
  for (size_t i = 0; i < bodies_.size(); ++i) {
    const size_t seen = groups_[bodies_[i].group].aware ? discs.size() : bodies_.size();
    const size_t first = others.size();
    for (size_t k = 0; k < seen; ++k)
      if (k != i) others.push_back(discs[k]);
    views[i] = {.self = discs[i],
                .yaw = pose(env, i).yaw,
                .period = period_,
                .others = std::span<const Disc>(others).subspan(first),
                .wall = wall_near(env, discs[i].position, discs[i].radius)};
  }
  for (size_t i = 0; i < bodies_.size(); ++i) drive_body(env, i, views[i]);
}

}  // namespace mvsim
