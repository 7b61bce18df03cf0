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
class CentrelineObservation final : public ObservationOf<float> {
 public:
  CentrelineObservation(TermReader& reader, const TaskContext& context)
      : race_(need_seen_race(reader, context)),
        seen_(context),
        points_(reader.integer("points", 10, 1, 1000)),
        spacing_(reader.number("spacing", 0.5, kPositive)) {}
  std::vector<Interval> bounds() const override {
    const double reach = 2 * points_ * spacing_;  // the same bound to the sides as ahead
    return std::vector<Interval>(2 * static_cast<size_t>(points_), {-reach, reach});
  }
  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    const SeenPose::At here = seen_.of(agent);
    for (int i = 1; i <= points_; ++i, out += 2) {
      const Pose2 there = race_.line(env).at(race_.state(agent).along + i * spacing_);
      put(here.heading.unrotate(Vec2{there.x, there.y} - here.position), out);
    }
  }

 private:
  const RaceTracker& race_;
  SeenPose seen_;
  int points_;
  double spacing_;
};
template std::unique_ptr<const Observation> term<CentrelineObservation>(TermReader&, TaskContext&);

// The nearest other agent along the centreline: (x, y) in the robot's frame, its speed in the robot's
// direction relative to the robot (m/s), and 1. Zeros if it is out of sight.
class OpponentObservation final : public ObservationOf<float> {
 public:
  OpponentObservation(TermReader& reader, const TaskContext& context)
      : race_(need_rivals(reader, context)),
        max_distance_(reader.number("max_distance", 10, kPositive)),
        max_speed_(context.vx_max > 0 ? reader.number("max_speed", 1.5 * context.vx_max, kPositive)
                                      : reader.required_number("max_speed", kPositive)),
        vehicles_(context.agents.begin(), context.agents.end()) {}
  std::vector<Interval> bounds() const override {
    const Interval place{-max_distance_, max_distance_};
    return {place, place, {-max_speed_, max_speed_}, {0, 1}};
  }
  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    std::fill_n(out, 4, 0.0f);
    const AgentState* const rival = race_.nearest_rival(env, agent);
    if (!rival) return;
    const size_t vehicle = vehicles_[static_cast<size_t>(rival - env.agents.data())];
    const Vec2 here{agent.now.pose.x, agent.now.pose.y}, there = vehicle_position(env.simulation, vehicle);
    if (norm(there - here) > max_distance_ || !is_in_sight(env.simulation.model(), here, there)) return;
    const Twist2 world = vehicle_world_twist(env.simulation, vehicle);
    put(agent.now.heading.unrotate(there - here), out);
    out[2] = static_cast<float>(agent.now.heading.unrotate({world.vx, world.vy}).x - agent.now.twist.vx);
    out[3] = 1;
  }

 private:
  const RaceTracker& race_;
  double max_distance_, max_speed_;
  std::vector<size_t> vehicles_;
};
template std::unique_ptr<const Observation> term<OpponentObservation>(TermReader&, TaskContext&);

}  // namespace mvsim
