// What a driver sees of a race beyond its lidar: the way ahead, its rival, its steering angle.
#include <algorithm>
#include <cmath>

#include "env/observe_terms.h"
#include "env/race.h"
#include "env/race_terms.h"
#include "raycast/cast_grid.h"
#include "vehicle/car.h"

namespace mvsim {
namespace {

void put(Vec2 value, float* out) {
  out[0] = static_cast<float>(value.x);
  out[1] = static_cast<float>(value.y);
}

// (x, y) in the robot's frame of points on the centreline, `spacing` metres apart along it, the first one
// that far ahead of the robot's own place.
class CentrelineAhead final : public ObservationOf<float> {
 public:
  CentrelineAhead(TermReader& reader, const TaskContext& context)
      : line_(need_centreline(reader, context)),
        points_(reader.integer("points", 10, 1, 1000)),
        spacing_(reader.number("spacing", 0.5, kPositive)) {}
  std::vector<Interval> bounds() const override {
    const double reach = 2 * points_ * spacing_;  // as far aside as ahead
    return std::vector<Interval>(2 * static_cast<size_t>(points_), {-reach, reach});
  }
  void write(EnvState&, AgentState& agent, Scratch&, float* out) const override {
    const Vec2 here{agent.now.pose.x, agent.now.pose.y};
    for (int i = 1; i <= points_; ++i, out += 2) {
      const Pose2 there = line_->at(agent.race.along + i * spacing_);
      put(agent.now.heading.unrotate(Vec2{there.x, there.y} - here), out);
    }
  }

 private:
  std::shared_ptr<const Centreline> line_;
  int points_;
  double spacing_;
};

// Whether no wall, static block or occupied cell stands between two points.
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

// Of the other agent that is nearest along the centreline: (x, y) in the robot's frame, how much faster it
// drives in the robot's direction (m/s), and 1; zeros where it is out of sight.
class Opponent final : public ObservationOf<float> {
 public:
  Opponent(TermReader& reader, const TaskContext& context)
      : line_(need_centreline(reader, context)),
        max_distance_(reader.number("max_distance", 10, kPositive)),
        max_speed_(context.vx_max > 0 ? reader.number("max_speed", 1.5 * context.vx_max, kPositive)
                                      : reader.required_number("max_speed", kPositive)),
        vehicles_(context.agents.begin(), context.agents.end()) {
    need_rivals(reader, context);
  }
  std::vector<Interval> bounds() const override {
    const Interval place{-max_distance_, max_distance_};
    return {place, place, {-max_speed_, max_speed_}, {0, 1}};
  }
  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    std::fill_n(out, 4, 0.0f);
    const AgentState* const rival = nearest_rival(*line_, env, agent);
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
  std::shared_ptr<const Centreline> line_;
  double max_distance_, max_speed_;
  std::vector<size_t> vehicles_;
};

// The angle (rad) of a wheel in the middle of the front axle, as it stands.
class Steer final : public ObservationOf<float> {
 public:
  Steer(const TermReader& reader, const TaskContext& context)
      : vehicle_(context.vehicle), max_(context.steer_max) {
    if (max_ == 0) reader.fail("class", "expected an <action> with a steering angle");
  }
  std::vector<Interval> bounds() const override { return {{-max_, max_}}; }
  void write(EnvState& env, AgentState&, Scratch&, float* out) const override {
    const auto wheels = wheel_states(env.simulation, vehicle_);
    const double left = wheels[kFrontLeft].steer, right = wheels[kFrontRight].steer;
    // the cotangent in the middle is the mean of both
    const SinCos l = sin_cos(left), r = sin_cos(right);
    const double angle = l.sin == 0 || r.sin == 0
                             ? 0
                             : std::copysign(math::atan2(2, std::fabs(l.cos / l.sin + r.cos / r.sin)), left);
    *out = static_cast<float>(angle);
  }

 private:
  size_t vehicle_;
  double max_;
};

}  // namespace

std::unique_ptr<const Observation> make_centreline_observation(TermReader& reader, TaskContext& context) {
  return std::make_unique<CentrelineAhead>(reader, context);
}

std::unique_ptr<const Observation> make_opponent_observation(TermReader& reader, TaskContext& context) {
  return std::make_unique<Opponent>(reader, context);
}

std::unique_ptr<const Observation> make_steer_observation(TermReader& reader, TaskContext& context) {
  return std::make_unique<Steer>(reader, context);
}

}  // namespace mvsim
