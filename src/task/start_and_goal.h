// <spawn> and <goal> of a <reset>: the start and the goal of an episode.
//
// Both are drawn together, the goal first. A field of path lengths belongs to a goal, so trying many starts
// for one goal is cheap.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "task/env_state.h"
#include "task/terms.h"
#include "task/trailer.h"

namespace mvsim {

class StartAndGoal {
 public:
  // Read the two elements; either may be absent.
  void read_spawn(TermReader& reader, const TaskContext& context);
  void read_goal(TermReader& reader, const TaskContext& context);
  // Checks the elements after both are read.
  void finish(const TaskContext& context);

  bool has_goal() const { return has_goal_; }
  const std::shared_ptr<const GoalPoses>& goal_poses() const { return goal_poses_; }  // null: no heading
  bool is_geodesic() const { return geodesic_; }
  double planning_cell() const { return cell_; }
  double inflation() const { return inflation_; }

  using FieldOf = std::function<std::shared_ptr<const GoalField>(Vec2 goal)>;
  // Places agent `index` of the env, at the pose of EnvState::given if it has one. Sets its goal, its start
  // and, with a planning grid, its field. Throws WorldFileError with the limit that fails if no place is
  // found. `poll` is called before each try and may throw.
  void apply(EnvState& env, size_t index, const PlanningGrid* grid, const FieldOf& field_of,
             const Poll& poll) const;

 private:
  std::optional<Vec2> draw_point(const Simulation& simulation, double clearance, const Rect& area,
                                 RandomStream& random, const Poll& poll) const;
  bool draw_start(Simulation& simulation, AgentState& agent, RandomStream& random, const Poll& poll) const;
  bool draw_rig_start(Simulation& simulation, AgentState& agent, RandomStream& random,
                      const Poll& poll) const;
  bool start_at(Simulation& simulation, AgentState& agent, const GivenStart& given) const;
  bool accepts(const AgentState& agent, Vec2 start, double wanted) const;
  bool is_apart(const EnvState& env, size_t index, Vec2 goal) const;
  std::optional<Vec2> draw_goal(const EnvState& env, size_t index, const PlanningGrid* grid,
                                RandomStream& random, const Poll& poll) const;
  std::optional<Vec2> draw_goal(const Simulation& simulation, const PlanningGrid* grid, RandomStream& random,
                                const Poll& poll) const;

  std::optional<Vec2> draw_goal_pose(const Simulation& simulation, RandomStream& random,
                                     const Poll& poll) const;
  bool trailers_are_free(const Simulation& simulation) const;

  // Throws an error that names the limit that fails (no_room.cpp).
  [[noreturn]] void explain_no_room(Simulation& simulation, const PlanningGrid* grid, const FieldOf& field_of,
                                    const Poll& poll) const;
  [[noreturn]] void explain_distance(const Simulation& simulation, const PlanningGrid* grid,
                                     const FieldOf& field_of, const std::vector<Vec2>& starts,
                                     RandomStream& random, const Poll& poll) const;
  [[noreturn]] void explain_rig(Simulation& simulation, RandomStream& random, const Poll& poll) const;
  [[noreturn]] void explain_poses(const Simulation& simulation) const;
  [[noreturn]] void explain_given(EnvState& env, size_t index, const GivenStart& given) const;
  void require_free_pose(Simulation& simulation) const;

  size_t vehicle_ = 0;
  std::vector<size_t> trailers_;  // vehicles that it pulls
  double goal_radius_ = 0;
  bool has_spawn_ = false, has_goal_ = false, geodesic_ = false, uniform_distance_ = false;
  double spawn_clearance_ = 0, goal_clearance_ = 0;
  double goals_apart_ = 0;  // m between the goals of two agents
  double cell_ = 0.2, inflation_ = 0;
  TermSpec spawn_term_, goal_term_;             // for messages
  std::optional<Rect> spawn_area_, goal_area_;  // none: the bounds of the world
  double spawn_slope_ = 0, goal_slope_ = 0;     // tangents of the steepest ground
  std::optional<Pose2> spawn_pose_;
  Pose2 spawn_deviation_;
  std::optional<RigStart> rig_;  // of <spawn of="trailer">
  std::optional<Vec2> goal_point_;
  std::shared_ptr<const GoalPoses> goal_poses_;  // the goal is one of them
  std::optional<Interval> distance_, yaw_;
};

}  // namespace mvsim
