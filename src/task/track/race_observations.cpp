// Observations of races: points ahead on the centreline (centreline) and the nearest rival (opponent).
#include <algorithm>

#include "raycast/grid_field.h"
#include "task/make_term.h"
#include "task/track/localization.h"
#include "task/track/race.h"

namespace mvsim {
namespace {

void put(Vec2 value, float* out) {
  out[0] = static_cast<float>(value.x);
  out[1] = static_cast<float>(value.y);
}

// Whether no wall, static block or occupied cell is between two points.
bool is_in_sight(const Model& model, Vec2 from, Vec2 to) {
  const Vec2 way = to - from;
  const double distance = norm(way);
  if (distance <= 0) return true;
  const float dx = static_cast<float>(way.x / distance), dy = static_cast<float>(way.y / distance);
  auto range = static_cast<float>(2 * distance);
  for (const GridModel& grid : model.grids) {
    const Rotation2 turn(grid.T_world_grid.yaw);
    const Vec2 origin = turn.unrotate(from - Vec2{grid.T_world_grid.x, grid.T_world_grid.y});
    const Vec2 ray = turn.unrotate({dx, dy});
    const float rx = static_cast<float>(ray.x), ry = static_cast<float>(ray.y);
    cast_grid(grid.field, origin.x, origin.y, &rx, &ry, 1, static_cast<float>(distance), &range);
  }
  model.static_shapes.cast(
      {.origin = from, .first_angle = math::atan2(way.y, way.x), .count = 1, .dx = &dx, .dy = &dy}, distance,
      &range);
  return static_cast<double>(range) > distance;
}

}  // namespace

// Points on the centreline ahead of the robot's place, `spacing` metres apart along it: (x, y) in the robot's
// frame.
template <>
std::unique_ptr<const Observation> term<class CentrelineObservation>(TermReader& reader,
                                                                     TaskContext& context) {
  const RaceTracker& race = need_seen_race(reader, context);
  const SeenPose seen(context);
  const int points = reader.integer("points", 10, 1, 1000);
  const double spacing = reader.number("spacing", 0.5, kPositive);
  const double reach = 2 * points * spacing;  // the same bound to the sides as ahead
  const std::vector<Interval> bounds(2 * static_cast<size_t>(points), symmetric(reach));
  return observation(bounds, [&race, seen, points, spacing](EnvState& env, AgentState& agent, float* out) {
    const SeenPose::At here = seen.of(agent);
    for (int i = 1; i <= points; ++i, out += 2) {
      const Pose2 there = race.line(env).at(race.state(agent).along + i * spacing);
      put(here.heading.unrotate(Vec2{there.x, there.y} - here.position), out);
    }
  });
}

// The nearest other agent along the centreline: (x, y) in the robot's frame, its speed in the robot's
// direction relative to the robot (m/s), and 1. Zeros if it is out of sight.
template <>
std::unique_ptr<const Observation> term<class OpponentObservation>(TermReader& reader, TaskContext& context) {
  const RaceTracker& race = need_rivals(reader, context);
  const double max_distance = reader.number("max_distance", 10, kPositive);
  const double max_speed = context.vx_max > 0 ? reader.number("max_speed", 1.5 * context.vx_max, kPositive)
                                              : reader.required_number("max_speed", kPositive);
  const std::vector<size_t> vehicles(context.agents.begin(), context.agents.end());
  const Interval place = symmetric(max_distance);
  return observation({place, place, symmetric(max_speed), {0, 1}}, [&race, max_distance, vehicles](
                                                                       EnvState& env, AgentState& agent,
                                                                       float* out) {
    std::fill_n(out, 4, 0.0f);
    const AgentState* const rival = race.nearest_rival(env, agent);
    if (!rival) return;
    const size_t vehicle = vehicles[static_cast<size_t>(rival - env.agents.data())];
    const Vec2 here{agent.now.pose.x, agent.now.pose.y}, there = vehicle_position(env.simulation, vehicle);
    if (norm(there - here) > max_distance || !is_in_sight(env.simulation.model(), here, there)) return;
    const Twist2 world = vehicle_world_twist(env.simulation, vehicle);
    put(agent.now.heading.unrotate(there - here), out);
    out[2] = static_cast<float>(agent.now.heading.unrotate({world.vx, world.vy}).x - agent.now.twist.vx);
    out[3] = 1;
  });
}

}  // namespace mvsim
