// What an agent is paid for; each value is multiplied by the term's weight.
#include <algorithm>
#include <array>
#include <cmath>

#include "env/contact_kinds.h"
#include "env/crop_terms.h"
#include "env/people_terms.h"
#include "env/race_terms.h"
#include "env/terms.h"

namespace mvsim {
namespace {

void need_goal(TermReader& reader, const TaskContext& context) {
  if (!context.has_goal) reader.fail("class", "expected a <goal> in <reset>");
}

// Metres that the goal came nearer; the sum over an episode is the distance at its start minus that at its
// end.
class Progress final : public Reward {
 public:
  Progress(TermReader& reader, TaskContext& context) : path_(reader.boolean("geodesic", false)) {
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

// 1 when the episode ends in success.
class Goal final : public Reward {
 public:
  Goal(TermReader& reader, TaskContext& context) {
    need_goal(reader, context);
    if (!context.has_goal_termination) reader.fail("class", "expected a <terminate class=\"goal\">");
  }
  double value(const EnvState&, const AgentState& agent) const override { return agent.success ? 1 : 0; }
};

// 1 when the last agent of the world reaches its goal and all others have.
class AllGoals final : public Reward {
 public:
  AllGoals(TermReader& reader, TaskContext& context) {
    need_goal(reader, context);
    if (!context.has_goal_termination) reader.fail("class", "expected a <terminate class=\"goal\">");
  }
  double value(const EnvState& env, const AgentState&) const override {
    return std::all_of(env.agents.begin(), env.agents.end(), [](const AgentState& a) { return a.success; })
               ? 1
               : 0;
  }
};

// 1 in the period in which contact begins.
class Collision final : public Reward {
 public:
  Collision(TermReader& reader, TaskContext&) : with_(read_contact_kinds(reader)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return (agent.now.contacts & with_) != 0 && (agent.before.contacts & with_) == 0 ? 1 : 0;
  }

 private:
  uint8_t with_;
};

// 1 when the episode ends in a failure, whatever it was (collision, stuck, tilt, off_map).
class Failure final : public Reward {
 public:
  Failure(TermReader&, TaskContext&) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return agent.end == EpisodeEnd::kTerminated && !agent.success ? 1 : 0;
  }
};

// 1 in each period.
class Time final : public Reward {
 public:
  Time(TermReader&, TaskContext&) {}
  double value(const EnvState&, const AgentState&) const override { return 1; }
};

// |yaw rate| as a share of `max`, by default of the largest one commanded.
class Turn final : public Reward {
 public:
  Turn(TermReader& reader, TaskContext& context)
      : max_(context.omega_max > 0 ? reader.number("max", context.omega_max, kPositive)
                                   : reader.required_number("max", kPositive)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return std::fabs(agent.now.twist.omega) / max_;
  }

 private:
  double max_;
};

// Sum of the squares of the changes of the action's components (in [-1, 1]).
class ActionRate final : public Reward {
 public:
  ActionRate(TermReader&, TaskContext&) {}
  double value(const EnvState&, const AgentState& agent) const override {
    double sum = 0;
    for (size_t i = 0; i < agent.action.size(); ++i) {
      const double d = agent.action[i] - agent.previous_action[i];
      sum += d * d;
    }
    return sum;
  }
};

// 1 - clearance / limit where something is nearer to the chassis than `limit`.
class Clearance final : public Reward {
 public:
  Clearance(TermReader& reader, TaskContext& context) : limit_(reader.number("limit", 0.2, kPositive)) {
    context.needs.clearance_limit = std::max(context.needs.clearance_limit, limit_);
  }
  double value(const EnvState&, const AgentState& agent) const override {
    return std::max(0.0, 1 - agent.now.clearance / limit_);
  }

 private:
  double limit_;
};

// Cosine of the angle between the robot's heading and the direction of the goal.
class Heading final : public Reward {
 public:
  Heading(TermReader& reader, TaskContext& context) { need_goal(reader, context); }
  double value(const EnvState&, const AgentState& agent) const override {
    const Measurements& m = agent.now;
    return m.goal_distance > 0 ? m.heading.unrotate(m.to_goal).x / m.goal_distance : 1;
  }
};

// Forward speed as a share of `max`, by default of the largest one commanded.
class Speed final : public Reward {
 public:
  Speed(TermReader& reader, TaskContext& context)
      : max_(context.vx_max > 0 ? reader.number("max", context.vx_max, kPositive)
                                : reader.required_number("max", kPositive)) {}
  double value(const EnvState&, const AgentState& agent) const override { return agent.now.twist.vx / max_; }

 private:
  double max_;
};

template <typename T>
std::unique_ptr<const Reward> make(TermReader& reader, TaskContext& context) {
  return std::make_unique<T>(reader, context);
}

constexpr auto kClasses = std::to_array<TermClass<Reward>>({
    {"progress", make<Progress>},
    {"goal", make<Goal>},
    {"all_goals", make<AllGoals>},
    {"collision", make<Collision>},
    {"time", make<Time>},
    {"turn", make<Turn>},
    {"action_rate", make<ActionRate>},
    {"clearance", make<Clearance>},
    {"heading", make<Heading>},
    {"speed", make<Speed>},
    {"failure", make<Failure>},
    {"track_progress", make_track_progress},
    {"rivals_progress", make_rivals_progress},
    {"lap", make_lap},
    {"overtake", make_overtake},
    {"rear_contact", make_rear_contact},
    {"steer_rate", make_steer_rate},
    {"discomfort", make_discomfort},
    {"row_progress", make_row_progress},
    {"row_end", make_row_end},
    {"row_offset", make_row_offset},
});

}  // namespace

std::span<const TermClass<Reward>> reward_classes() {
  return kClasses;
}

}  // namespace mvsim
