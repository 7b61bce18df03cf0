// Terminations that need no tracker: goal, collision, off_map, tilt. A termination is an outcome of the task;
// the time limit truncates instead.
#include <cmath>

#include "task/make_term.h"
#include "task/terms.h"

namespace mvsim {

// Ends near the goal, below `max_speed` and with a heading within `max_angle` of the goal's, if these are
// given.
class GoalTermination final : public Termination {
 public:
  GoalTermination(TermReader& reader, TaskContext& context)
      : radius_(reader.required_number("radius", kPositive)),
        max_speed_(reader.number("max_speed", kNoLimit, kPositive)) {
    if (!context.has_goal) reader.fail("class", "expected a <goal> in <reset>");
    if (reader.has("max_angle")) {
      max_angle_ = kDegree * reader.number("max_angle", 180, {1e-9, 180});
      poses_ = context.goal_poses;
      if (!poses_) reader.fail("max_angle", "expected a <goal> with the attribute 'poses' in <reset>");
    }
    context.has_goal_termination = true;
    context.goal_radius = radius_;
  }
  bool holds(const EnvState&, const AgentState& agent) const override {
    const Twist2& t = agent.now.twist;
    return agent.now.goal_distance < radius_ && t.vx * t.vx + t.vy * t.vy <= max_speed_ * max_speed_ &&
           (!poses_ || std::fabs(wrap_to_pi(agent.now.pose.yaw - poses_->heading(agent.goal))) < max_angle_);
  }
  Verdict verdict() const override { return Verdict::kSuccess; }

 private:
  static constexpr double kNoLimit = 1e9;

  double radius_, max_speed_, max_angle_ = 0;
  std::shared_ptr<const GoalPoses> poses_;  // null: any heading
};
template std::unique_ptr<const Termination> term<GoalTermination>(TermReader&, TaskContext&);

class CollisionTermination final : public Termination {
 public:
  CollisionTermination(TermReader& reader, TaskContext&) : with_(read_contact_kinds(reader)) {}
  bool holds(const EnvState&, const AgentState& agent) const override {
    return (agent.now.contacts & with_) != 0;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  uint8_t with_;
};
template std::unique_ptr<const Termination> term<CollisionTermination>(TermReader&, TaskContext&);

// Ends when the reference point is outside of the world's bounds widened by `margin`.
class OffMapTermination final : public Termination {
 public:
  OffMapTermination(TermReader& reader, TaskContext&) : margin_(reader.number("margin", 0)) {}
  bool holds(const EnvState& env, const AgentState& agent) const override {
    const Pose2& p = agent.now.pose;
    const Rect& r = env.simulation.model().bounds;
    return p.x < r.x_min - margin_ || p.x > r.x_max + margin_ || p.y < r.y_min - margin_ ||
           p.y > r.y_max + margin_;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  double margin_;
};
template std::unique_ptr<const Termination> term<OffMapTermination>(TermReader&, TaskContext&);

// Ends when pitch or roll is beyond `max` (degrees in XML), where a real vehicle would tip over.
class TiltTermination final : public Termination {
 public:
  TiltTermination(TermReader& reader, TaskContext& context)
      : vehicle_(context.vehicle), max_(kDegree * reader.required_number("max", kPositive)) {}
  bool holds(const EnvState& env, const AgentState&) const override {
    const VehicleState& v = env.simulation.state().vehicles[vehicle_];
    return std::fabs(v.pitch) > max_ || std::fabs(v.roll) > max_;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  size_t vehicle_;
  double max_;
};
template std::unique_ptr<const Termination> term<TiltTermination>(TermReader&, TaskContext&);

}  // namespace mvsim
