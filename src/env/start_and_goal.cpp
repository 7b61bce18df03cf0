#include "env/start_and_goal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/free_space.h"

namespace mvsim {
namespace {

constexpr int kPointTries = 2000, kStartTries = 400, kGoalTries = 100;
constexpr double kTouch = 0.01;  // m, beyond the collision threshold: skins and rounding of the solver
constexpr double kFar = std::numeric_limits<double>::infinity();

// The attribute `slope`, as a tangent.
double read_slope(TermReader& reader) {
  const SinCos angle = sin_cos(kDegree * reader.number("slope", 90, {0, 90}));
  return angle.cos > 1e-9 ? angle.sin / angle.cos : kFar;
}

}  // namespace

void StartAndGoal::read_spawn(TermReader& reader, const TaskContext& context) {
  has_spawn_ = true;
  const VehicleModel& v = context.model.vehicles[context.vehicle];
  if (const int group = context.model.bodies[v.body].joint_group;
      group >= 0 && context.model.joint_groups[static_cast<size_t>(group)].tied)
    reader.fail("spawn", "the vehicle '" + v.name + "' is joined to a static block and cannot be placed");
  spawn_clearance_ = reader.number("clearance", 0, kNotNegative);
  spawn_area_ = read_area(reader, context.model);
  spawn_slope_ = read_slope(reader);
  yaw_ = reader.interval("yaw");
  if (const auto p = reader.numbers("pose", 3, 3, "three numbers, x y yaw_deg"))
    spawn_pose_ = Pose2{(*p)[0], (*p)[1], (*p)[2] * kDegree};
  if (spawn_pose_) check_inside(reader, "pose", context.model, {spawn_pose_->x, spawn_pose_->y});
  if (const auto d = reader.numbers("deviation", 3, 3, "three numbers, of x, y and yaw_deg")) {
    if (!spawn_pose_) reader.fail("deviation", "expected with the attribute 'pose' only");
    spawn_deviation_ = {(*d)[0], (*d)[1], (*d)[2] * kDegree};
  }
}

void StartAndGoal::read_goal(TermReader& reader, const TaskContext& context) {
  has_goal_ = true;
  goal_clearance_ = reader.number("clearance", 0, kNotNegative);
  goal_area_ = read_area(reader, context.model);
  goal_slope_ = read_slope(reader);
  distance_ = reader.interval("distance", kNotNegative);
  if (distance_ && reader.term().params.find("distance")->text.find_first_of(" \t") == std::string::npos)
    distance_->high = kFar;  // one number is the least distance
  geodesic_ = reader.boolean("geodesic", false);
  uniform_distance_ = reader.boolean("uniform", false);
  if (uniform_distance_ && (!distance_ || std::isinf(distance_->high)))
    reader.fail("uniform", "expected with the attribute 'distance', low and high");
  cell_ = reader.number("cell", 0.2, {0.01, 2});
  // between the inscribed and the circumscribed circle: a path that a careful driver can follow
  inflation_ = reader.number("inflation", 0.8 * context.model.vehicles[context.vehicle].radius, kNotNegative);
  if (const auto p = reader.numbers("position", 2, 2, "two numbers, x y"))
    goal_point_ = Vec2{(*p)[0], (*p)[1]};
  if (goal_point_) check_inside(reader, "position", context.model, *goal_point_);
}

void StartAndGoal::finish(const TaskContext& context) {
  vehicle_ = context.vehicle;
  trailers_ = context.model.joined_vehicles(vehicle_);
  goal_radius_ = context.goal_radius;
  const double radius = context.model.vehicles[vehicle_].radius + context.model.collision_threshold + kTouch;
  spawn_clearance_ = std::max(spawn_clearance_, radius);
}

std::optional<Vec2> StartAndGoal::draw_point(const Simulation& simulation, double clearance, const Rect& area,
                                             RandomStream& random, const Poll& poll) const {
  for (int i = 0; i < kPointTries; ++i) {
    if (poll) poll();
    const Vec2 p{random.uniform(area.x_min, area.x_max), random.uniform(area.y_min, area.y_max)};
    if (is_free(simulation, vehicle_, p, clearance) && ground_slope(simulation.model(), p) <= goal_slope_)
      return p;
  }
  return std::nullopt;
}

// With a planning grid goals are centres of its free cells, of every second row and column, so that their
// fields fit into the cache and are found again.
std::optional<Vec2> StartAndGoal::draw_goal(EnvState& env, const PlanningGrid* grid, RandomStream& random,
                                            const Poll& poll) const {
  if (goal_point_) return goal_point_;
  if (!grid) return draw_point(env.simulation, goal_clearance_, goal_area_, random, poll);
  for (int i = 0; i < kPointTries; ++i) {
    if (poll) poll();
    const int cell = grid->cell_of({random.uniform(goal_area_.x_min, goal_area_.x_max),
                                    random.uniform(goal_area_.y_min, goal_area_.y_max)});
    const int column = cell % grid->width & ~1, row = cell / grid->width & ~1;
    const int snapped = row * grid->width + column;
    const Vec2 p = grid->center(snapped);
    if (grid->free[static_cast<size_t>(snapped)] && is_free(env.simulation, vehicle_, p, goal_clearance_) &&
        ground_slope(env.simulation.model(), p) <= goal_slope_)
      return p;
  }
  return std::nullopt;
}

// `wanted`: a distance to be met within a few decimetres, < 0 for any within the range.
bool StartAndGoal::accepts(const EnvState& env, Vec2 start, double wanted) const {
  if (!has_goal_) return true;
  if (norm(env.goal - start) <= goal_radius_) return false;
  if (env.field && !env.field->reaches(start)) return false;
  if (!distance_) return true;
  const double d = geodesic_ ? env.field->distance(start) : norm(env.goal - start);
  constexpr double kNear = 0.25;
  if (wanted >= 0 && std::fabs(d - wanted) > kNear) return false;
  return d >= distance_->low && d <= distance_->high;
}

bool StartAndGoal::trailers_are_free(const Simulation& s) const {
  return std::all_of(trailers_.begin(), trailers_.end(), [&](size_t i) {
    const Pose3 pose = s.vehicle_pose(i);
    return is_free(s, vehicle_, {pose.x, pose.y},
                   s.model().vehicles[i].radius + s.model().collision_threshold + kTouch);
  });
}

bool StartAndGoal::draw_start(EnvState& env, RandomStream& random, const Poll& poll) const {
  Simulation& s = env.simulation;
  if (!has_spawn_ || spawn_pose_) {
    Pose3 initial = s.model().vehicles[vehicle_].initial_pose;
    Pose2 pose = spawn_pose_.value_or(Pose2{initial.x, initial.y, initial.yaw});
    pose.x += spawn_deviation_.x * random.normal();
    pose.y += spawn_deviation_.y * random.normal();
    pose.yaw += spawn_deviation_.yaw * random.normal();
    s.place_vehicle(vehicle_, pose);
    env.start = {pose.x, pose.y};
    return accepts(env, env.start, -1) && s.clearance(vehicle_, 1) > 0;
  }
  const double wanted = uniform_distance_ ? random.uniform(distance_->low, distance_->high) : -1;
  for (int i = 0; i < kStartTries; ++i) {
    if (poll) poll();
    const Vec2 p{random.uniform(spawn_area_.x_min, spawn_area_.x_max),
                 random.uniform(spawn_area_.y_min, spawn_area_.y_max)};
    // what is cheap first; half of the tries insist on the wanted distance
    if (!accepts(env, p, 2 * i < kStartTries ? wanted : -1)) continue;
    if (!is_free(s, vehicle_, p, spawn_clearance_) || ground_slope(s.model(), p) > spawn_slope_) continue;
    const double yaw = yaw_ ? random.uniform(yaw_->low, yaw_->high) * kDegree : random.uniform(-kPi, kPi);
    s.place_vehicle(vehicle_, {p.x, p.y, yaw});
    if (!trailers_are_free(s)) continue;
    env.start = p;
    return true;
  }
  return false;
}

void StartAndGoal::apply(EnvState& env, const PlanningGrid* grid, const FieldOf& field_of,
                         const Poll& poll) const {
  RandomStream spawn(env.simulation.key(), env.simulation.episode(), StreamPurpose::kSpawn);
  RandomStream goal(env.simulation.key(), env.simulation.episode(), StreamPurpose::kGoal);
  env.field.reset();
  for (int i = 0; i < kGoalTries; ++i) {
    if (has_goal_) {
      const auto drawn = draw_goal(env, grid, goal, poll);
      if (!drawn) break;
      env.goal = *drawn;
      if (grid) env.field = field_of(env.goal);
    }
    if (draw_start(env, spawn, poll)) return;
  }
  throw Error("no free start" + std::string(has_goal_ ? " and goal" : "") +
              " found: the clearances, distances or areas of <reset> leave no room in this world");
}

}  // namespace mvsim
