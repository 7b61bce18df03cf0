#include "task/move/movers.h"

#include <algorithm>

#include "sim/measure.h"
#include "task/plan/planning_grid.h"

namespace mvsim {
namespace {

constexpr double kWalls = 1e-3;     // m, half the step of the derivative of the distance to walls
constexpr double kTouching = 2e-2;  // m, depth in a wall at which a body stops
constexpr double kFaces = 0.05;     // m/s, from which people turn to their direction

// Draws the starts and goals of bodies.

constexpr int kTries = 1000;
constexpr double kParked = 1e6;  // m, out of the way of bodies that are placed first
constexpr double kApart = 1;     // m, shortest distance from a body to its new goal

Vec2 draw_in(const Rect& area, RandomStream& random) {
  const double x = random.uniform(area.x_min, area.x_max);
  return {x, random.uniform(area.y_min, area.y_max)};
}

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
  if (group.policy->has_goal() && group.goes_on && norm(mover.goal - view.self.position) < group.reached) {
    if (group.follows_path)
      take_waypoint(env, index, false);
    else
      mover.goal = draw_goal(env, index, random);
  }
  if (body.is_vehicle) {
    const Twist2 twist = group.policy->twist(view, mover, random, group.max_turn);
    return s.set_twist(body.index, twist.vx, twist.omega);
  }
  const Vec2 wanted = group.policy->velocity(view, mover, random);
  const Vec2 velocity = kept_from_walls(env, view, wanted, mover.speed);
  double turn = 0;
  if ((group.is_people || group.follows_path) && norm(velocity) > kFaces) {
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

// Returns a point across the circle, or a free point anywhere.
Vec2 Movers::draw_goal(const EnvState& env, size_t index, RandomStream& random) const {
  const Group& group = groups_[bodies_[index].group];
  const MoverState& mover = env.movers[index];
  if (group.goal) return *group.goal;
  if (mover.crosses) return 2 * group.center - mover.goal;
  const Model& m = env.simulation.model();
  const Rect area = area_of(group.area, m);
  const double radius = bodies_[index].radius;
  const Pose2 here = pose(env, index);
  Vec2 goal{here.x, here.y};
  for (int i = 0; i < kTries; ++i) {
    goal = draw_in(area, random);
    if (norm(goal - Vec2{here.x, here.y}) < kApart || !is_known_ground(m, goal)) continue;
    if (distance_to_standing(env.simulation, goal, radius + group.gap) >= radius + group.gap) break;
  }
  return goal;
}

// Makes the next waypoint of an actor's path its goal. At the end of a path that is no loop it stays.
void Movers::take_waypoint(EnvState& env, size_t index, bool is_first) const {
  const std::vector<ActorModel>& actors = env.simulation.model().actors;
  const ActorModel& actor =
      *std::ranges::find(actors, static_cast<int>(bodies_[index].index), &ActorModel::block);
  MoverState& mover = env.movers[index];
  if (!is_first && mover.next + 1 >= actor.legs.size() && !(actor.end > 0)) return;
  mover.next = is_first ? 0 : static_cast<uint32_t>((mover.next + 1) % actor.legs.size());
  mover.goal = {actor.legs[mover.next].to.x, actor.legs[mover.next].to.y};
}

// Whether a person has room beside the people that are placed already, vehicles without an agent, static
// bodies, and the starts and goals that the caller gives to agents.
bool Movers::has_room(const EnvState& env, size_t index, Vec2 point) const {
  const Simulation& s = env.simulation;
  const double radius = bodies_[index].radius + groups_[bodies_[index].group].gap;
  if (!is_known_ground(s.model(), point)) return false;
  if (has_walls_ && distance_to_standing(s, point, radius) < radius) return false;
  for (size_t k = 0; k < bodies_.size(); ++k) {
    const Pose2 other = pose(env, k);
    if (k != index && norm(point - Vec2{other.x, other.y}) < radius + bodies_[k].radius) return false;
  }
  return std::ranges::all_of(env.given, [&](const GivenStart& given) {
    const double to_agent = radius + s.model().vehicles[given.vehicle].radius;
    return (!given.pose || norm(point - Vec2{given.pose->x, given.pose->y}) >= to_agent) &&
           (!given.goal || norm(point - *given.goal) >= to_agent);
  });
}

void Movers::place_person(EnvState& env, size_t index, RandomStream& random, const Poll& poll) const {
  const Body& body = bodies_[index];
  const Group& group = groups_[body.group];
  MoverState& mover = env.movers[index];
  Simulation& s = env.simulation;
  const Rect area = area_of(group.area, s.model());
  const std::vector<Vec2>* const points = group.policy->points();
  for (int i = 0; i < kTries; ++i) {
    if (poll) poll();
    Vec2 start;
    if (points) {
      start = (*points)[body.number % points->size()];
    } else if (mover.crosses) {
      const SinCos direction = sin_cos(random.uniform(-kPi, kPi));
      start = group.center + group.circle * Vec2{direction.cos, direction.sin};
      mover.goal = start;  // it is turned round below
    } else {
      start = draw_in(area, random);
    }
    if (!points && !has_room(env, index, start)) continue;
    s.place_block(body.index, {start.x, start.y, random.uniform(-kPi, kPi)});
    mover.start = start;
    return;
  }
  throw WorldFileError(group.term.params.where,
                       describe(group.term) + ": found no room for '" + body.name + "' in " +
                           std::to_string(kTries) +
                           " tries, expected fewer people, a larger area or circle, or a smaller gap");
}

void Movers::start(EnvState& env, const Poll& poll) const {
  Simulation& s = env.simulation;
  env.movers.assign(bodies_.size(), {});
  const Vec2 parked = s.model().origin + Vec2{kParked, kParked};
  for (size_t i = 0; i < bodies_.size(); ++i)
    if (groups_[bodies_[i].group].is_people)
      s.place_block(bodies_[i].index, {parked.x + 100.0 * static_cast<double>(i), parked.y, 0});
  for (size_t i = 0; i < bodies_.size(); ++i) {
    const Body& body = bodies_[i];
    const Group& group = groups_[body.group];
    MoverState& mover = env.movers[i];
    // the first number of a group's stream chooses how the whole group moves
    RandomStream of_group(env.key, s.state().episode, StreamPurpose::kMoverStart,
                          static_cast<uint16_t>(body.group));
    const bool crosses = of_group.uniform() < 0.5;
    mover.crosses = group.may_cross && (!group.may_wander || crosses);
    RandomStream random(env.key, s.state().episode, StreamPurpose::kMoverStart,
                        static_cast<uint16_t>(groups_.size() + i));
    mover.speed = random.uniform(group.speed.low, group.speed.high);
    if (group.is_people) place_person(env, i, random, poll);
    const Pose2 p = pose(env, i);
    mover.start = {p.x, p.y};
    if (const std::vector<Vec2>* const points = group.policy->points())
      mover.next = static_cast<uint32_t>(group.is_people ? body.number % points->size() : 0);
    if (group.follows_path)
      take_waypoint(env, i, true);
    else if (group.policy->has_goal())
      mover.goal = draw_goal(env, i, random);
  }
}

}  // namespace mvsim
