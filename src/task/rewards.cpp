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

}  // namespace

// The decrease of the distance to the goal, m. The sum over an episode is the distance at its start minus
// that at its end.
class ProgressReward final : public Reward {
 public:
  ProgressReward(TermReader& reader, TaskContext& context) : path_(reader.boolean("geodesic", false)) {
    need_goal(reader, context);
    if (path_) context.needs.path = true;
  }
  double value(const EnvState&, const AgentState& agent) const override {
    if (path_) return agent.before.path_distance - agent.now.path_distance;
    return agent.before.goal_distance - agent.now.goal_distance;
  }

 private:
  bool path_;
};
template std::unique_ptr<const Reward> term<ProgressReward>(TermReader&, TaskContext&);

// 1 when the episode ends in success.
class GoalReward final : public Reward {
 public:
  GoalReward(TermReader& reader, TaskContext& context) {
    need_goal(reader, context);
    if (!context.has_goal_termination) reader.fail("class", "expected a <terminate class=\"goal\">");
  }
  double value(const EnvState&, const AgentState& agent) const override { return agent.success ? 1 : 0; }
};
template std::unique_ptr<const Reward> term<GoalReward>(TermReader&, TaskContext&);

// 1 when the last agent of the world reaches its goal and all others have.
class AllGoalsReward final : public Reward {
 public:
  AllGoalsReward(TermReader& reader, TaskContext& context) {
    need_goal(reader, context);
    if (!context.has_goal_termination) reader.fail("class", "expected a <terminate class=\"goal\">");
  }
  double value(const EnvState& env, const AgentState&) const override {
    return std::all_of(env.agents.begin(), env.agents.end(), [](const AgentState& a) { return a.success; })
               ? 1
               : 0;
  }
};
template std::unique_ptr<const Reward> term<AllGoalsReward>(TermReader&, TaskContext&);

// 1 in the period in which contact begins.
class CollisionReward final : public Reward {
 public:
  CollisionReward(TermReader& reader, TaskContext&) : with_(read_contact_kinds(reader)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return (agent.now.contacts & with_) != 0 && (agent.before.contacts & with_) == 0 ? 1 : 0;
  }

 private:
  uint8_t with_;
};
template std::unique_ptr<const Reward> term<CollisionReward>(TermReader&, TaskContext&);

// 1 when the episode ends in any failure (collision, stuck, tilt, off_map...).
class FailureReward final : public Reward {
 public:
  FailureReward(TermReader&, TaskContext&) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return agent.end == EpisodeEnd::kTerminated && !agent.success ? 1 : 0;
  }
};
template std::unique_ptr<const Reward> term<FailureReward>(TermReader&, TaskContext&);

// 1 in each period.
class TimeReward final : public Reward {
 public:
  TimeReward(TermReader&, TaskContext&) {}
  double value(const EnvState&, const AgentState&) const override { return 1; }
};
template std::unique_ptr<const Reward> term<TimeReward>(TermReader&, TaskContext&);

// |yaw rate| divided by `max`, by default by the largest commanded one.
class TurnReward final : public Reward {
 public:
  TurnReward(TermReader& reader, TaskContext& context)
      : max_(context.omega_max > 0 ? reader.number("max", context.omega_max, kPositive)
                                   : reader.required_number("max", kPositive)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return std::fabs(agent.now.twist.omega) / max_;
  }

 private:
  double max_;
};
template std::unique_ptr<const Reward> term<TurnReward>(TermReader&, TaskContext&);

// Sum of the squares of the changes of the action's components (in [-1, 1]).
class ActionRateReward final : public Reward {
 public:
  ActionRateReward(TermReader&, TaskContext&) {}
  double value(const EnvState&, const AgentState& agent) const override {
    double sum = 0;
    for (size_t i = 0; i < agent.action.size(); ++i) {
      const double d = agent.action[i] - agent.previous_action[i];
      sum += d * d;
    }
    return sum;
  }
};
template std::unique_ptr<const Reward> term<ActionRateReward>(TermReader&, TaskContext&);

// 1 - clearance / limit if the clearance of the chassis is below `limit`.
class ClearanceReward final : public Reward {
 public:
  ClearanceReward(TermReader& reader, TaskContext& context) : limit_(reader.number("limit", 0.2, kPositive)) {
    context.needs.clearance_limit = std::max(context.needs.clearance_limit, limit_);
  }
  double value(const EnvState&, const AgentState& agent) const override {
    return std::max(0.0, 1 - agent.now.clearance / limit_);
  }

 private:
  double limit_;
};
template std::unique_ptr<const Reward> term<ClearanceReward>(TermReader&, TaskContext&);

// Cosine of the angle between the robot's heading and the direction of the goal.
class HeadingReward final : public Reward {
 public:
  HeadingReward(TermReader& reader, TaskContext& context) { need_goal(reader, context); }
  double value(const EnvState&, const AgentState& agent) const override {
    const Measurements& m = agent.now;
    return m.goal_distance > 0 ? m.heading.unrotate(m.to_goal).x / m.goal_distance : 1;
  }
};
template std::unique_ptr<const Reward> term<HeadingReward>(TermReader&, TaskContext&);

// Forward speed divided by `max`, by default by the largest commanded one.
class SpeedReward final : public Reward {
 public:
  SpeedReward(TermReader& reader, TaskContext& context)
      : max_(context.vx_max > 0 ? reader.number("max", context.vx_max, kPositive)
                                : reader.required_number("max", kPositive)) {}
  double value(const EnvState&, const AgentState& agent) const override { return agent.now.twist.vx / max_; }

 private:
  double max_;
};
template std::unique_ptr<const Reward> term<SpeedReward>(TermReader&, TaskContext&);

// Square of the difference between `target` and the speed of the reference point in any direction, m2/s2.
class SpeedErrorReward final : public Reward {
 public:
  SpeedErrorReward(TermReader& reader, TaskContext&)
      : target_(reader.required_number("target", kNotNegative)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    const Twist2& t = agent.now.twist;
    const double error = target_ - std::sqrt(t.vx * t.vx + t.vy * t.vy);
    return error * error;
  }

 private:
  double target_;
};
template std::unique_ptr<const Reward> term<SpeedErrorReward>(TermReader&, TaskContext&);

// |change of the commanded steering angle|, rad.
class SteerRateReward final : public Reward {
 public:
  SteerRateReward(TermReader& reader, TaskContext& context)
      : component_(context.steer_component), scale_(context.steer_max) {
    if (scale_ == 0) reader.fail("class", "expected an <action> with a steering angle");
  }
  double value(const EnvState&, const AgentState& agent) const override {
    return scale_ * std::fabs(agent.action[component_] - agent.previous_action[component_]);
  }

 private:
  size_t component_;
  double scale_;
};
template std::unique_ptr<const Reward> term<SteerRateReward>(TermReader&, TaskContext&);

// |slip angle of the body|, rad, if it is within `angle` and the robot is faster than `min_speed`, else 0.
// The slip angle is that between the velocity of the reference point and the robot's heading.
class SideslipReward final : public Reward {
 public:
  SideslipReward(TermReader& reader, TaskContext&) : min_speed_(reader.number("min_speed", 1, kPositive)) {
    const Interval degrees = reader.interval("angle", {0, 180}).value_or(Interval{0, 90});
    angle_ = {kDegree * degrees.low, kDegree * degrees.high};
  }
  double value(const EnvState&, const AgentState& agent) const override {
    const Twist2& t = agent.now.twist;
    if (t.vx * t.vx + t.vy * t.vy <= min_speed_ * min_speed_) return 0;
    const double angle = std::fabs(math::atan2(t.vy, t.vx));
    return angle > angle_.low && angle < angle_.high ? angle : 0;
  }

 private:
  double min_speed_;
  Interval angle_;
};
template std::unique_ptr<const Reward> term<SideslipReward>(TermReader&, TaskContext&);

// Mean over the wheels of the speed at which the tire slips along its rolling direction, m/s: the
// difference of spin times rolling radius and the speed of the wheel over the ground.
class WheelSlipReward final : public Reward {
 public:
  WheelSlipReward(TermReader&, TaskContext& context) : vehicle_(context.vehicle) {}
  double value(const EnvState& env, const AgentState&) const override {
    const std::span<const WheelState> wheels = wheel_states(env.simulation, vehicle_);
    double sum = 0;
    for (size_t i = 0; i < wheels.size(); ++i) {
      const Vec2 over_ground =
          Rotation2(wheels[i].steer).unrotate(wheel_velocity(env.simulation, vehicle_, i));
      sum += std::fabs(wheels[i].spin * rolling_radius(env.simulation, vehicle_, i) - over_ground.x);
    }
    return sum / static_cast<double>(std::max<size_t>(wheels.size(), 1));
  }

 private:
  size_t vehicle_;
};
template std::unique_ptr<const Reward> term<WheelSlipReward>(TermReader&, TaskContext&);

}  // namespace mvsim
