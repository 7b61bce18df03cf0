// Terminations that need no tracker: goal, collision, off_map, tilt. A termination is an outcome of the task;
// the time limit truncates instead.
#include <cmath>

#include "task/make_term.h"
#include "task/terms.h"

namespace mvsim {

// Ends near the goal, below `max_speed` and with a heading within `max_angle` of the goal's, if these are
// given.
template <>
std::unique_ptr<const Termination> term<class GoalTermination>(TermReader& reader, TaskContext& context) {
  constexpr double kNoLimit = 1e9;
  const double radius = reader.required_number("radius", kPositive);
  const double max_speed = reader.number("max_speed", kNoLimit, kPositive);
  if (!context.has_goal) reader.fail("class", "expected a <goal> in <reset>");
  double max_angle = 0;
  std::shared_ptr<const GoalPoses> poses;  // null: any heading
  if (reader.has("max_angle")) {
    max_angle = kDegree * reader.number("max_angle", 180, {1e-9, 180});
    poses = context.goal_poses;
    if (!poses) reader.fail("max_angle", "expected a <goal> with the attribute 'poses' in <reset>");
  }
  context.has_goal_termination = true;
  context.goal_radius = radius;
  return termination(Verdict::kSuccess, [=](const EnvState&, const AgentState& agent) {
    const Twist2& t = agent.now.twist;
    return agent.now.goal_distance < radius && t.vx * t.vx + t.vy * t.vy <= max_speed * max_speed &&
           (!poses || std::fabs(wrap_to_pi(agent.now.pose.yaw - poses->heading(agent.goal))) < max_angle);
  });
}

template <>
std::unique_ptr<const Termination> term<class CollisionTermination>(TermReader& reader, TaskContext&) {
  return failure([with = read_contact_kinds(reader)](const EnvState&, const AgentState& agent) {
    return (agent.now.contacts & with) != 0;
  });
}

// Ends when the reference point is outside of the world's bounds widened by `margin`.
template <>
std::unique_ptr<const Termination> term<class OffMapTermination>(TermReader& reader, TaskContext&) {
  return failure([margin = reader.number("margin", 0)](const EnvState& env, const AgentState& agent) {
    const Pose2& p = agent.now.pose;
    const Rect& r = env.simulation.model().bounds;
    return p.x < r.x_min - margin || p.x > r.x_max + margin || p.y < r.y_min - margin ||
           p.y > r.y_max + margin;
  });
}

// Ends when pitch or roll is beyond `max` (degrees in XML), where a real vehicle would tip over.
template <>
std::unique_ptr<const Termination> term<class TiltTermination>(TermReader& reader, TaskContext& context) {
  const double max = kDegree * reader.required_number("max", kPositive);
  return failure([vehicle = context.vehicle, max](const EnvState& env, const AgentState&) {
    const VehicleState& v = env.simulation.state().vehicles[vehicle];
    return std::fabs(v.pitch) > max || std::fabs(v.roll) > max;
  });
}

}  // namespace mvsim
