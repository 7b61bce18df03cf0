// Explains why an episode found no start or no goal. Examines many points again for the limit that fails, and
// by how much.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "sim/measure.h"
#include "task/plan/planning_grid.h"
#include "task/start_and_goal.h"

namespace mvsim {
namespace {

constexpr int kPoints = 2000, kGoals = 20, kStarts = 100;
constexpr uint16_t kOwnStream = 0xffff;  // of the examined points, so that results do not change
constexpr double kFarAway = std::numeric_limits<double>::infinity();

std::string text_of(const Rect& r) {
  char buffer[128];
  std::snprintf(buffer, sizeof buffer, "x %.4g to %.4g, y %.4g to %.4g", r.x_min, r.x_max, r.y_min, r.y_max);
  return buffer;
}

// Throws at the attribute's place, or at the element's if it is missing.
[[noreturn]] void fail(const TermSpec& term, std::string_view attribute, const std::string& text) {
  TermReader(term).fail(attribute, "no episode can start: " + text);
}

// The conditions that a start or a goal sets to a point.
struct Wanted {
  const TermSpec& term;
  double clearance, slope;
  Rect area;
};

struct Survey {
  std::vector<Vec2> good;
  int on_ground = 0;
  double clearance = 0, clearance_of_walls = 0;  // the largest found; the same without movable obstacles
  double slope = kFarAway;                       // the smallest found, a tangent
};

Survey look_around(const Simulation& s, size_t agent, const Wanted& wanted, RandomStream& random,
                   const Poll& poll) {
  Survey out;
  const double max = std::max(2 * wanted.clearance, 1.0);
  for (int i = 0; i < kPoints; ++i) {
    if (poll) poll();
    const Vec2 p{random.uniform(wanted.area.x_min, wanted.area.x_max),
                 random.uniform(wanted.area.y_min, wanted.area.y_max)};
    if (!is_known_ground(s.model(), p)) continue;
    ++out.on_ground;
    const double walls = distance_to_fixed(s.model(), p, max);
    const double all = std::min(walls, distance_to_obstacles(s, p, max, static_cast<int>(agent)));
    const double slope = ground_slope(s.model(), p);
    out.clearance = std::max(out.clearance, all);
    out.clearance_of_walls = std::max(out.clearance_of_walls, walls);
    if (all >= wanted.clearance) out.slope = std::min(out.slope, slope);
    if (all >= wanted.clearance && slope <= wanted.slope) out.good.push_back(p);
  }
  return out;
}

// Throws if no point meets the conditions.
void require_some(const Survey& found, const Wanted& wanted, const std::string& who) {
  if (!found.good.empty()) return;
  const std::string area = "the area (" + text_of(wanted.area) + ")";
  if (found.on_ground == 0)
    fail(wanted.term, "area",
         "none of " + std::to_string(kPoints) + " points of " + area +
             " is on known ground: they are in walls, in unknown cells or outside of the map");
  if (found.clearance < wanted.clearance) {
    std::string text = who + " needs " + metres(wanted.clearance) + " around it, the freest of " +
                       std::to_string(kPoints) + " points of " + area + " has " + metres(found.clearance);
    if (found.clearance_of_walls >= wanted.clearance)
      text += " (without the movable obstacles " + metres(found.clearance_of_walls) +
              " or more): expected fewer or smaller obstacles, or less clearance";
    else
      text += ": expected less clearance or a wider area";
    fail(wanted.term, "clearance", text);
  }
  const std::string slope = short_number(math::atan2(found.slope, 1) / kDegree, 3);
  fail(wanted.term, "slope",
       "the flattest of the free points of " + area + " has " + slope + " degrees, expected a larger slope");
}

// Names the obstacle that the agent touches at a pose.
std::string obstacle_near(const Simulation& s, size_t agent) {
  const Pose3 pose = vehicle_pose(s, agent);
  const Vec2 here{pose.x, pose.y};
  if (!is_known_ground(s.model(), here)) return "an occupied or unknown cell, or the outside of the map";
  const double reach = s.model().vehicles[agent].radius;
  for (size_t i = 0; i < s.model().blocks.size(); ++i) {
    const BlockModel& block = s.model().blocks[i];
    const Pose3 at = block_pose(s, i);
    const double radius = block.shape.radius * s.state().params[block.params + kBlockScale];
    if (!block.traits.intangible && !block.is_wall && norm(here - Vec2{at.x, at.y}) < reach + radius)
      return "the block '" + block.name + "'";
  }
  return distance_to_fixed(s.model(), here, reach) < reach ? "a wall" : "another vehicle";
}

}  // namespace

void StartAndGoal::require_free_pose(Simulation& s) const {
  const Pose3 initial = s.model().vehicles[vehicle_].initial_pose;
  const Pose2 pose = spawn_pose_.value_or(Pose2{initial.x, initial.y, initial.yaw});
  s.place_vehicle(vehicle_, pose);
  if (clearance(s, vehicle_, 1) > 0) return;
  char place[64];
  std::snprintf(place, sizeof place, "the pose %.4g %.4g", pose.x, pose.y);
  const std::string text =
      std::string(place) + " touches " + obstacle_near(s, vehicle_) + ", expected a free one";
  if (has_spawn_) fail(spawn_term_, "pose", text);
  throw WorldFileError(s.model().vehicles[vehicle_].where,
                       "no episode can start: " + text + " (or a <spawn> in <reset>)");
}

void StartAndGoal::explain_given(EnvState& env, size_t index, const GivenStart& given) const {
  Simulation& s = env.simulation;
  const AgentState& agent = env.agents[index];
  const std::string whose = env.agents.size() == 1 ? "" : " of '" + s.model().vehicles[vehicle_].name + "'";
  char place[64];
  if (given.pose) {
    s.place_vehicle(vehicle_, *given.pose);
    std::snprintf(place, sizeof place, " %.4g %.4g that was given", given.pose->x, given.pose->y);
  } else {
    std::snprintf(place, sizeof place, " %.4g %.4g that was given", given.goal->x, given.goal->y);
  }
  const std::string text = (given.pose ? "the pose" : "the goal") + whose + place;
  if (given.pose) {
    if (clearance(s, vehicle_, 1) <= 0)
      throw Error("no episode can start: " + text + " touches " + obstacle_near(s, vehicle_) +
                  ", expected a free one");
  }
  if (given.pose && given.goal && norm(agent.goal - agent.start) <= goal_radius_)
    throw Error("no episode can start: " + text + " is within the radius " + metres(goal_radius_) +
                " of the goal: it would end at once");
  throw Error("no episode can start: " + text +
              (given.pose && given.goal ? " has no path to the goal"
                                        : " fits no other end of the way that <reset> allows"));
}

// Explains distances: there are starts and goals, but no pair at the required distance.
void StartAndGoal::explain_distance(const Simulation& simulation, const PlanningGrid* grid,
                                    const FieldOf& field_of, const std::vector<Vec2>& starts,
                                    RandomStream& random, const Poll& poll) const {
  double nearest = kFarAway, farthest = 0;
  int goals = 0, reached = 0;
  for (int i = 0; i < kGoals; ++i) {
    const std::optional<Vec2> goal = draw_goal(simulation, grid, random, poll);
    if (!goal) break;
    ++goals;
    const std::shared_ptr<const GoalField> field = grid ? field_of(*goal) : nullptr;
    for (size_t k = 0; k < starts.size() && k < static_cast<size_t>(kStarts); ++k) {
      const Vec2 start = starts[(k * 7919 + static_cast<size_t>(i)) % starts.size()];
      if (field && !field->reaches(start)) continue;
      ++reached;
      const double d = geodesic_ ? field->distance(start) : norm(*goal - start);
      nearest = std::min(nearest, d);
      farthest = std::max(farthest, d);
    }
  }
  const std::string margin =
      "of " + metres(inflation_) + " (inflation) from everything, in cells of " + metres(cell_);
  if (goals == 0) fail(goal_term_, "inflation", "no goal lies on a path at a distance " + margin);
  if (reached == 0)
    fail(goal_term_, "inflation", "no path leads from a start to a goal at a distance " + margin);
  const std::string found =
      "starts and goals found are " + metres(nearest) + " to " + metres(farthest) + " apart";
  if (distance_ && (farthest < distance_->low || nearest > distance_->high))
    fail(goal_term_, "distance",
         found + (geodesic_ ? " along the shortest path" : "") + ", expected a distance within");
  if (farthest <= goal_radius_)
    fail(goal_term_, "distance",
         found + ", which is within the radius " + metres(goal_radius_) +
             " of <terminate class=\"goal\">: it would end at once");
  if (!trailers_.empty())
    fail(has_spawn_ ? spawn_term_ : goal_term_, "clearance",
         "the trailers have no room, expected more clearance");
  fail(goal_term_, distance_ ? "distance" : "clearance",
       found + ", but almost never within the limits: expected wider limits or fewer obstacles");
}

// Explains that no pose of the goal has room.
void StartAndGoal::explain_poses(const Simulation& s) const {
  const double max = std::max(2 * goal_clearance_, 1.0);
  double most = 0;
  for (const Pose2& pose : goal_poses_->poses()) {
    const Vec2 p{pose.x, pose.y};
    if (!is_known_ground(s.model(), p)) continue;
    const double walls = distance_to_fixed(s.model(), p, max);
    most = std::max(most, std::min(walls, distance_to_obstacles(s, p, max, static_cast<int>(vehicle_))));
  }
  const std::string count = std::to_string(goal_poses_->poses().size());
  fail(goal_term_, most < goal_clearance_ ? "clearance" : "slope",
       "the goal needs " + metres(goal_clearance_) + " around it, the freest of its " + count +
           " poses has " + metres(most) + ": expected less clearance, fewer obstacles or more poses");
}

// Explains that a robot and its trailer have no room.
void StartAndGoal::explain_rig(Simulation& s, RandomStream& random, const Poll& poll) const {
  const Rect area = area_of(spawn_area_, s.model());
  const double max = std::max(2 * spawn_clearance_, 1.0);
  double most = 0;
  for (int i = 0; i < kPoints; ++i) {
    if (poll) poll();
    const Vec2 p{random.uniform(area.x_min, area.x_max), random.uniform(area.y_min, area.y_max)};
    const double yaw = yaw_ ? random.uniform(yaw_->low, yaw_->high) * kDegree : random.uniform(-kPi, kPi);
    rig_->place(s, {p.x, p.y, yaw}, rig_->draw_hitch(random));
    if (is_known_ground(s.model(), p)) most = std::max(most, clearance(s, vehicle_, max));
  }
  if (most >= spawn_clearance_)
    fail(spawn_term_, "slope", "the robot and its trailer have room, but almost never on ground so flat");
  fail(spawn_term_, "clearance",
       "the robot and its trailer need " + metres(spawn_clearance_) + " around them, the freest of " +
           std::to_string(kPoints) + " poses of the area (" + text_of(area) + ") has " + metres(most) +
           ": expected less clearance, fewer obstacles or a wider area");
}

void StartAndGoal::explain_no_room(Simulation& s, const PlanningGrid* grid, const FieldOf& field_of,
                                   const Poll& poll) const {
  RandomStream random(s.state().key, s.state().episode, StreamPurpose::kSpawn, kOwnStream);
  const auto is_found = [&] { return draw_goal_pose(s, random, poll).has_value(); };
  if (goal_poses_ && !is_found()) explain_poses(s);
  if (has_goal_ && !goal_point_ && !goal_poses_) {
    const Wanted goal{goal_term_, goal_clearance_, goal_slope_, area_of(goal_area_, s.model())};
    require_some(look_around(s, vehicle_, goal, random, poll), goal, "the goal");
  }
  std::vector<Vec2> starts;
  if (rig_ && !has_goal_) explain_rig(s, random, poll);
  if (has_spawn_ && !spawn_pose_) {
    const Wanted start{spawn_term_, spawn_clearance_, spawn_slope_, area_of(spawn_area_, s.model())};
    Survey found = look_around(s, vehicle_, start, random, poll);
    require_some(found, start, "the robot");
    starts = std::move(found.good);
  } else {
    require_free_pose(s);
    const Pose3 pose = vehicle_pose(s, vehicle_);
    starts = {{pose.x, pose.y}};
  }
  if (has_goal_) explain_distance(s, grid, field_of, starts, random, poll);
  throw Error("no episode can start: no free pose was found for the vehicle and what it pulls");
}

}  // namespace mvsim
