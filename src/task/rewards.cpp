// Rewards that need no tracker. Each value is multiplied by the term's weight.
#include <algorithm>
#include <cmath>

#include "sim/measure.h"
#include "task/make_term.h"
#include "task/terms.h"
#include "task/track/dock.h"

namespace mvsim {
namespace {

void need_goal(TermReader& reader, const TaskContext& context) {
  if (context.has_goal) return;
  if (find_tracker<DockTracker>(context.trackers))
    reader.fail("class",
                "expected a <goal> in <reset>, or for a <dock> the rewards 'dock_progress' and 'docked'");
  reader.fail("class", "expected a <goal> in <reset>");
}

void need_goal_termination(TermReader& reader, const TaskContext& context) {
  need_goal(reader, context);
  if (!context.has_goal_termination) reader.fail("class", "expected a <terminate class=\"goal\">");
}

}  // namespace

// The decrease of the distance to the goal, m. The sum over an episode is the distance at its start minus
// that at its end.
template <>
std::unique_ptr<const Reward> term<class ProgressReward>(TermReader& reader, TaskContext& context) {
  need_goal(reader, context);
  if (!reader.boolean("geodesic", false))
    return reward([](const EnvState&, const AgentState& agent) {
      return agent.before.goal_distance - agent.now.goal_distance;
    });
  context.needs.path = true;
  return reward([](const EnvState&, const AgentState& agent) {
    return agent.before.path_distance - agent.now.path_distance;
  });
}

// 1 when the episode ends in success.
template <>
std::unique_ptr<const Reward> term<class GoalReward>(TermReader& reader, TaskContext& context) {
  need_goal_termination(reader, context);
  return reward([](const EnvState&, const AgentState& agent) { return agent.success ? 1 : 0; });
}

// 1 when the last agent of the world reaches its goal and all others have.
template <>
std::unique_ptr<const Reward> term<class AllGoalsReward>(TermReader& reader, TaskContext& context) {
  need_goal_termination(reader, context);
  return reward([](const EnvState& env, const AgentState&) {
    return std::ranges::all_of(env.agents, &AgentState::success) ? 1 : 0;
  });
}

// 1 in the period in which contact begins.
template <>
std::unique_ptr<const Reward> term<class CollisionReward>(TermReader& reader, TaskContext&) {
  return reward([with = read_contact_kinds(reader)](const EnvState&, const AgentState& agent) {
    return (agent.now.contacts & with) != 0 && (agent.before.contacts & with) == 0 ? 1 : 0;
  });
}

// 1 when the episode ends in any failure (collision, stuck, tilt, off_map...).
template <>
std::unique_ptr<const Reward> term<class FailureReward>(TermReader&, TaskContext&) {
  return reward([](const EnvState&, const AgentState& agent) {
    return agent.end == EpisodeEnd::kTerminated && !agent.success ? 1 : 0;
  });
}

// 1 in each period.
template <>
std::unique_ptr<const Reward> term<class TimeReward>(TermReader&, TaskContext&) {
  return reward([](const EnvState&, const AgentState&) { return 1; });
}

// |yaw rate| divided by `max`, by default by the largest commanded one.
template <>
std::unique_ptr<const Reward> term<class TurnReward>(TermReader& reader, TaskContext& context) {
  const double max = context.omega_max > 0 ? reader.number("max", context.omega_max, kPositive)
                                           : reader.required_number("max", kPositive);
  return reward(
      [max](const EnvState&, const AgentState& agent) { return std::fabs(agent.now.twist.omega) / max; });
}

// Sum of the squares of the changes of the action's components (in [-1, 1]).
template <>
std::unique_ptr<const Reward> term<class ActionRateReward>(TermReader&, TaskContext&) {
  return reward([](const EnvState&, const AgentState& agent) {
    double sum = 0;
    for (size_t i = 0; i < agent.action.size(); ++i) {
      const double d = agent.action[i] - agent.previous_action[i];
      sum += d * d;
    }
    return sum;
  });
}

// 1 - clearance / limit if the clearance of the chassis is below `limit`.
template <>
std::unique_ptr<const Reward> term<class ClearanceReward>(TermReader& reader, TaskContext& context) {
  const double limit = reader.number("limit", 0.2, kPositive);
  context.needs.clearance_limit = std::max(context.needs.clearance_limit, limit);
  return reward([limit](const EnvState&, const AgentState& agent) {
    return std::max(0.0, 1 - agent.now.clearance / limit);
  });
}

// Cosine of the angle between the robot's heading and the direction of the goal.
template <>
std::unique_ptr<const Reward> term<class HeadingReward>(TermReader& reader, TaskContext& context) {
  need_goal(reader, context);
  return reward([](const EnvState&, const AgentState& agent) {
    const Measurements& m = agent.now;
    return m.goal_distance > 0 ? m.heading.unrotate(m.to_goal).x / m.goal_distance : 1;
  });
}

// Forward speed divided by `max`, by default by the largest commanded one.
template <>
std::unique_ptr<const Reward> term<class SpeedReward>(TermReader& reader, TaskContext& context) {
  const double max = context.vx_max > 0 ? reader.number("max", context.vx_max, kPositive)
                                        : reader.required_number("max", kPositive);
  return reward([max](const EnvState&, const AgentState& agent) { return agent.now.twist.vx / max; });
}

// Square of the difference between `target` and the speed of the reference point in any direction, m2/s2.
template <>
std::unique_ptr<const Reward> term<class SpeedErrorReward>(TermReader& reader, TaskContext&) {
  const double target = reader.required_number("target", kNotNegative);
  return reward([target](const EnvState&, const AgentState& agent) {
    const Twist2& t = agent.now.twist;
    const double error = target - std::sqrt(t.vx * t.vx + t.vy * t.vy);
    return error * error;
  });
}

// |change of the commanded steering angle|, rad.
template <>
std::unique_ptr<const Reward> term<class SteerRateReward>(TermReader& reader, TaskContext& context) {
  const size_t component = context.steer_component;
  const double scale = context.steer_max;
  if (scale == 0) reader.fail("class", "expected an <action> with a steering angle");
  return reward([component, scale](const EnvState&, const AgentState& agent) {
    return scale * std::fabs(agent.action[component] - agent.previous_action[component]);
  });
}

// |slip angle of the body|, rad, if it is within `angle` and the robot is faster than `min_speed`, else 0.
// The slip angle is that between the velocity of the reference point and the robot's heading.
template <>
std::unique_ptr<const Reward> term<class SideslipReward>(TermReader& reader, TaskContext&) {
  const double min_speed = reader.number("min_speed", 1, kPositive);
  const Interval degrees = reader.interval("angle", {0, 180}).value_or(Interval{0, 90});
  const Interval wanted{kDegree * degrees.low, kDegree * degrees.high};
  return reward([min_speed, wanted](const EnvState&, const AgentState& agent) -> double {
    const Twist2& t = agent.now.twist;
    if (t.vx * t.vx + t.vy * t.vy <= min_speed * min_speed) return 0;
    const double angle = std::fabs(math::atan2(t.vy, t.vx));
    return angle > wanted.low && angle < wanted.high ? angle : 0;
  });
}

// Mean over the wheels of the speed at which the tire slips along its rolling direction, m/s: the
// difference of spin times rolling radius and the speed of the wheel over the ground.
template <>
std::unique_ptr<const Reward> term<class WheelSlipReward>(TermReader&, TaskContext& context) {
  return reward([vehicle = context.vehicle](const EnvState& env, const AgentState&) {
    const std::span<const WheelState> wheels = wheel_states(env.simulation, vehicle);
    double sum = 0;
    for (size_t i = 0; i < wheels.size(); ++i) {
      const Vec2 over_ground =
          Rotation2(wheels[i].steer).unrotate(wheel_velocity(env.simulation, vehicle, i));
      sum += std::fabs(wheels[i].spin * rolling_radius(env.simulation, vehicle, i) - over_ground.x);
    }
    return sum / static_cast<double>(std::max<size_t>(wheels.size(), 1));
  });
}

}  // namespace mvsim
