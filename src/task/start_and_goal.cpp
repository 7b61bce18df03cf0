#include "task/start_and_goal.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "sim/rigid_body_solver.h"
#include "task/plan/planning_grid.h"

namespace mvsim {
namespace {

constexpr int kPointTries = 2000, kStartTries = 400, kGoalTries = 100;
constexpr double kFar = std::numeric_limits<double>::infinity();

// Reads the attribute `slope` as a tangent.
double read_slope(TermReader& reader) {
  const SinCos angle = sin_cos(kDegree * reader.number("slope", 90, {0, 90}));
  return angle.cos > 1e-9 ? angle.sin / angle.cos : kFar;
}

// Warns of radians where degrees are expected.
void warn_of_radians(const TermReader& reader, const TaskContext& context, const char* attribute,
                     double yaw) {
  const double degrees = degrees_if_radians(yaw);
  if (degrees == 0) return;
  char text[128];
  std::snprintf(text, sizeof text, ": <%s>, %s: a yaw of %g is in degrees here: %g rad would be %g degrees",
                reader.term().params.tag.c_str(), attribute, yaw, yaw, degrees);
  std::string warning = reader.term().params.find(attribute)->where.text() + text;
  std::vector<std::string>& warnings = context.needs.warnings;
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
    warnings.push_back(std::move(warning));
}

}  // namespace

void StartAndGoal::read_spawn(TermReader& reader, const TaskContext& context) {
  has_spawn_ = true;
  spawn_term_ = reader.term();
  const VehicleModel& v = context.model.vehicles[context.vehicle];
  if (const int group = context.model.bodies[v.body].joint_group;
      group >= 0 && context.model.joint_groups[static_cast<size_t>(group)].tied)
    reader.fail("spawn", "the vehicle '" + v.name + "' is joined to a static block and cannot be placed");
  spawn_clearance_ = reader.number("clearance", 0, kNotNegative);
  spawn_area_ = read_area(reader, context.model);
  spawn_slope_ = read_slope(reader);
  yaw_ = reader.interval("yaw", kAngle);
  static constexpr Range kPose[] = {kPlace, kPlace, kAngle};
  if (const auto p = reader.numbers("pose", kPose, "three numbers, x y yaw_deg"))
    spawn_pose_ = Pose2{(*p)[0], (*p)[1], (*p)[2] * kDegree};
  if (spawn_pose_) warn_of_radians(reader, context, "pose", spawn_pose_->yaw / kDegree);
  if (yaw_)
    for (const double yaw : {yaw_->low, yaw_->high}) warn_of_radians(reader, context, "yaw", yaw);
  if (spawn_pose_) check_inside(reader, "pose", context.model, {spawn_pose_->x, spawn_pose_->y});
  static constexpr Range kDeviation[] = {{0, 1e4}, {0, 1e4}, {0, 3600}};
  if (const auto d = reader.numbers("deviation", kDeviation, "three numbers, of x, y and yaw_deg")) {
    if (!spawn_pose_) reader.fail("deviation", "expected with the attribute 'pose' only");
    spawn_deviation_ = {(*d)[0], (*d)[1], (*d)[2] * kDegree};
  }
  const bool of_trailer = reader.choice("of", {"robot", "trailer"}) == 1;
  if (of_trailer && spawn_pose_)
    reader.fail("pose", "found beside of='trailer', expected the attribute 'area'");
  for (const char* other : {"point", "hitch"})
    if (reader.has(other) && !of_trailer) reader.fail(other, "expected with of='trailer' only");
  if (of_trailer) rig_.emplace(reader, context);
}

void StartAndGoal::read_goal(TermReader& reader, const TaskContext& context) {
  has_goal_ = true;
  goal_term_ = reader.term();
  goal_clearance_ = reader.number("clearance", 0, kNotNegative);
  goal_area_ = read_area(reader, context.model);
  goal_slope_ = read_slope(reader);
  goals_apart_ = reader.number("apart", 0, kNotNegative);
  distance_ = reader.interval("distance", kNotNegative);
  if (distance_ && reader.term().params.find("distance")->text.find_first_of(" \t") == std::string::npos)
    distance_->high = kFar;  // one number is the minimum distance
  geodesic_ = reader.boolean("geodesic", false);
  uniform_distance_ = reader.boolean("uniform", false);
  if (uniform_distance_ && (!distance_ || std::isinf(distance_->high)))
    reader.fail("uniform", "expected with the attribute 'distance', low and high");
  cell_ = reader.number("cell", 0.2, {0.01, 2});
  // between the inscribed and the circumscribed circle, so that a careful driver can follow the path
  inflation_ = reader.number("inflation", 0.8 * context.model.vehicles[context.vehicle].radius, kNotNegative);
  static constexpr Range kPosition[] = {kPlace, kPlace};
  if (const auto p = reader.numbers("position", kPosition, "two numbers, x y"))
    goal_point_ = Vec2{(*p)[0], (*p)[1]};
  if (goal_point_) check_inside(reader, "position", context.model, *goal_point_);
  std::vector<Pose2> poses = reader.poses("poses");
  for (const char* other : {"position", "area"})
    if (!poses.empty() && reader.has(other)) reader.fail(other, "found beside 'poses', expected one of them");
  for (const Pose2& pose : poses) {
    check_inside(reader, "poses", context.model, {pose.x, pose.y});
    warn_of_radians(reader, context, "poses", pose.yaw / kDegree);
  }
  if (!poses.empty()) goal_poses_ = std::make_shared<const GoalPoses>(std::move(poses));
}

void StartAndGoal::finish(const TaskContext& context) {
  vehicle_ = context.vehicle;
  trailers_ = context.model.joined_vehicles(vehicle_);
  goal_radius_ = context.goal_radius;
  const double least = context.model.collision_threshold + kSkins;
  // of a rig the chassis are measured, of a robot alone the circle around it
  const double radius = rig_ ? least : context.model.vehicles[vehicle_].radius + least;
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

// Draws one of the poses with enough room around it.
std::optional<Vec2> StartAndGoal::draw_goal_pose(const Simulation& simulation, RandomStream& random,
                                                 const Poll& poll) const {
  const std::vector<Pose2>& poses = goal_poses_->poses();
  for (int i = 0; i < kPointTries; ++i) {
    if (poll) poll();
    const Pose2& pose = poses[random.below(static_cast<uint32_t>(poses.size()))];
    const Vec2 p{pose.x, pose.y};
    if (is_free(simulation, vehicle_, p, goal_clearance_) &&
        ground_slope(simulation.model(), p) <= goal_slope_)
      return p;
  }
  return std::nullopt;
}

// Draws a goal. With a planning grid goals are centres of its free cells, in every second row and column, so
// that their fields fit into the cache and are used again.
std::optional<Vec2> StartAndGoal::draw_goal(const Simulation& simulation, const PlanningGrid* grid,
                                            RandomStream& random, const Poll& poll) const {
  if (goal_point_) return goal_point_;
  if (goal_poses_) return draw_goal_pose(simulation, random, poll);
  const Rect area = area_of(goal_area_, simulation.model());
  if (!grid) return draw_point(simulation, goal_clearance_, area, random, poll);
  for (int i = 0; i < kPointTries; ++i) {
    if (poll) poll();
    const int cell =
        grid->cell_of({random.uniform(area.x_min, area.x_max), random.uniform(area.y_min, area.y_max)});
    const int column = cell % grid->width & ~1, row = cell / grid->width & ~1;
    const int snapped = row * grid->width + column;
    const Vec2 p = grid->center(snapped);
    if (grid->free[static_cast<size_t>(snapped)] && is_free(simulation, vehicle_, p, goal_clearance_) &&
        ground_slope(simulation.model(), p) <= goal_slope_)
      return p;
  }
  return std::nullopt;
}

// Whether a goal is far enough from the goals of the agents that have one in this episode.
bool StartAndGoal::is_apart(const EnvState& env, size_t index, Vec2 goal) const {
  for (size_t a = 0; a < env.agents.size(); ++a)
    if (a != index && norm(env.agents[a].goal - goal) < goals_apart_) return false;
  return true;
}

std::optional<Vec2> StartAndGoal::draw_goal(const EnvState& env, size_t index, const PlanningGrid* grid,
                                            RandomStream& random, const Poll& poll) const {
  for (int i = 0; i < kGoalTries; ++i) {
    const auto drawn = draw_goal(env.simulation, grid, random, poll);
    if (!drawn || is_apart(env, index, *drawn)) return drawn;
  }
  return std::nullopt;
}

// `wanted` is a distance that the goal must have within a few decimetres; below 0, any distance in the range
// is good.
bool StartAndGoal::accepts(const AgentState& agent, Vec2 start, double wanted) const {
  if (!has_goal_) return true;
  if (norm(agent.goal - start) <= goal_radius_) return false;
  if (agent.field && !agent.field->reaches(start)) return false;
  if (!distance_) return true;
  const double d = geodesic_ ? agent.field->distance(start) : norm(agent.goal - start);
  constexpr double kNear = 0.25;
  if (wanted >= 0 && std::fabs(d - wanted) > kNear) return false;
  return d >= distance_->low && d <= distance_->high;
}

bool StartAndGoal::trailers_are_free(const Simulation& s) const {
  return std::all_of(trailers_.begin(), trailers_.end(), [&](size_t i) {
    const Pose3 pose = vehicle_pose(s, i);
    return is_free(s, vehicle_, {pose.x, pose.y},
                   s.model().vehicles[i].radius + s.model().collision_threshold + kSkins);
  });
}

bool StartAndGoal::draw_start(Simulation& s, AgentState& agent, RandomStream& random,
                              const Poll& poll) const {
  if (!has_spawn_ || spawn_pose_) {
    Pose3 initial = s.model().vehicles[vehicle_].initial_pose;
    Pose2 pose = spawn_pose_.value_or(Pose2{initial.x, initial.y, initial.yaw});
    pose.x += spawn_deviation_.x * random.normal();
    pose.y += spawn_deviation_.y * random.normal();
    pose.yaw += spawn_deviation_.yaw * random.normal();
    s.place_vehicle(vehicle_, pose);
    agent.start = {pose.x, pose.y};
    return accepts(agent, agent.start, -1) && clearance(s, vehicle_, 1) > 0;
  }
  if (rig_) return draw_rig_start(s, agent, random, poll);
  const Rect area = area_of(spawn_area_, s.model());
  const double wanted = uniform_distance_ ? random.uniform(distance_->low, distance_->high) : -1;
  for (int i = 0; i < kStartTries; ++i) {
    if (poll) poll();
    const Vec2 p{random.uniform(area.x_min, area.x_max), random.uniform(area.y_min, area.y_max)};
    // the cheap check first; half of the tries require the wanted distance
    if (!accepts(agent, p, 2 * i < kStartTries ? wanted : -1)) continue;
    if (!is_free(s, vehicle_, p, spawn_clearance_) || ground_slope(s.model(), p) > spawn_slope_) continue;
    const double yaw = yaw_ ? random.uniform(yaw_->low, yaw_->high) * kDegree : random.uniform(-kPi, kPi);
    s.place_vehicle(vehicle_, {p.x, p.y, yaw});
    if (!trailers_are_free(s)) continue;
    agent.start = p;
    return true;
  }
  return false;
}

bool StartAndGoal::draw_rig_start(Simulation& s, AgentState& agent, RandomStream& random,
                                  const Poll& poll) const {
  const Rect area = area_of(spawn_area_, s.model());
  for (int i = 0; i < kStartTries; ++i) {
    if (poll) poll();
    const Vec2 p{random.uniform(area.x_min, area.x_max), random.uniform(area.y_min, area.y_max)};
    const double yaw = yaw_ ? random.uniform(yaw_->low, yaw_->high) * kDegree : random.uniform(-kPi, kPi);
    const double hitch = rig_->draw_hitch(random);
    if (!is_known_ground(s.model(), p) || ground_slope(s.model(), p) > spawn_slope_) continue;
    rig_->place(s, {p.x, p.y, yaw}, hitch);
    if (clearance(s, vehicle_, spawn_clearance_) < spawn_clearance_) continue;
    agent.start = vehicle_position(s, vehicle_);
    if (accepts(agent, agent.start, -1)) return true;
  }
  return false;
}

// Takes over the caller's start and goal, except those with which no episode can start: in a collision, or at
// the goal.
bool StartAndGoal::start_at(Simulation& s, AgentState& agent, const GivenStart& given) const {
  s.place_vehicle(vehicle_, *given.pose);
  agent.start = {given.pose->x, given.pose->y};
  if (clearance(s, vehicle_, 1) <= 0) return false;
  if (!has_goal_ || !given.goal) return accepts(agent, agent.start, -1);
  return norm(agent.goal - agent.start) > goal_radius_ && (!agent.field || agent.field->reaches(agent.start));
}

void StartAndGoal::apply(EnvState& env, size_t index, const PlanningGrid* grid, const FieldOf& field_of,
                         const Poll& poll) const {
  Simulation& s = env.simulation;
  AgentState& agent = env.agents[index];
  const GivenStart given = given_start(env, index);
  const auto stream = static_cast<uint16_t>(index);
  const uint64_t key = s.state().key + kStepKeys * static_cast<uint64_t>(env.steps);
  RandomStream spawn(key, s.state().episode, StreamPurpose::kSpawn, stream);
  RandomStream goal(key, s.state().episode, StreamPurpose::kGoal, stream);
  agent.field.reset();
  for (int i = 0; i < kGoalTries; ++i) {
    if (has_goal_) {
      const auto drawn = given.goal ? given.goal : draw_goal(env, index, grid, goal, poll);
      if (!drawn) break;
      agent.goal = *drawn;
      if (grid && !(agent.field && given.goal)) agent.field = field_of(agent.goal);
    }
    if (given.pose ? start_at(s, agent, given) : draw_start(s, agent, spawn, poll)) return;
    if (given.pose && given.goal) break;
  }
  if (given.pose || given.goal) explain_given(env, index, given);
  explain_no_room(s, grid, field_of, poll);
}

}  // namespace mvsim
