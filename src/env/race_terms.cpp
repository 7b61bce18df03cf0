#include "env/race_terms.h"

#include <algorithm>
#include <cmath>

#include "env/race.h"

namespace mvsim {
namespace {

// Metres along the centreline; the sum over an episode is how far the agent came.
class TrackProgress final : public Reward {
 public:
  double value(const EnvState&, const AgentState& agent) const override {
    return agent.race.along - agent.race.before;
  }
};

// The same of the other agents that drive, their mean.
class RivalsProgress final : public Reward {
 public:
  double value(const EnvState& env, const AgentState& agent) const override {
    double sum = 0, count = 0;
    for (const AgentState& other : env.agents)
      if (&other != &agent && !other.waits) sum += other.race.along - other.race.before, ++count;
    return count > 0 ? sum / count : 0;
  }
};

// 1 for each lap that ends in the period. To and fro over the line is no second lap.
class Lap final : public Reward {
 public:
  explicit Lap(std::shared_ptr<const Centreline> line) : line_(std::move(line)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    const auto laps = [&](double along) { return std::max(0.0, laps_of(*line_, agent.race, along)); };
    return laps(agent.race.farthest) - laps(agent.race.farthest_before);
  }

 private:
  std::shared_ptr<const Centreline> line_;
};

// 1 when an agent that was never ahead of all others gets `by` metres ahead of them.
class Overtake final : public Reward {
 public:
  explicit Overtake(TermReader& reader) : by_(reader.number("by", 0.5, kNotNegative)) {}
  double value(const EnvState& env, const AgentState& agent) const override {
    const std::optional<double> ahead = lead(env, agent);
    return ahead && *ahead >= by_ && agent.race.best_lead < by_ ? 1 : 0;
  }

 private:
  double by_;
};

// 1 in the period in which two vehicles touch, for the one behind, in whichever laps they are.
class RearContact final : public Reward {
 public:
  explicit RearContact(std::shared_ptr<const Centreline> line) : line_(std::move(line)) {}
  double value(const EnvState& env, const AgentState& agent) const override {
    if (!(agent.now.contacts & kTouchesVehicle) || (agent.before.contacts & kTouchesVehicle)) return 0;
    const AgentState* const rival = nearest_rival(*line_, env, agent);
    return rival && std::remainder(rival->race.before - agent.race.before, line_->length()) > 0 ? 1 : 0;
  }

 private:
  std::shared_ptr<const Centreline> line_;
};

// |change of the steering angle that the action asks for|, rad.
class SteerRate final : public Reward {
 public:
  SteerRate(size_t component, double scale) : component_(component), scale_(scale) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return scale_ * std::fabs(agent.action[component_] - agent.previous_action[component_]);
  }

 private:
  size_t component_;
  double scale_;
};

// After so many laps.
class Laps final : public Termination {
 public:
  Laps(TermReader& reader, std::shared_ptr<const Centreline> line)
      : line_(std::move(line)), count_(reader.integer("count", 1, 1, 1000000)) {}
  bool holds(const EnvState&, const AgentState& agent) const override {
    return laps_of(*line_, agent.race, agent.race.farthest) >= count_;
  }
  Verdict verdict() const override { return Verdict::kSuccess; }

 private:
  std::shared_ptr<const Centreline> line_;
  int count_;
};

// `distance` m behind the farthest place that it has come to.
class Backwards final : public Termination {
 public:
  explicit Backwards(TermReader& reader) : distance_(reader.number("distance", 2, kPositive)) {}
  bool holds(const EnvState&, const AgentState& agent) const override {
    return agent.race.farthest - agent.race.along > distance_;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  double distance_;
};

}  // namespace

const std::shared_ptr<const Centreline>& need_centreline(const TermReader& reader,
                                                         const TaskContext& context) {
  if (!context.centreline) reader.fail("class", "expected the attribute 'centreline' of <mvsim_env>");
  return context.centreline;
}

void need_rivals(const TermReader& reader, const TaskContext& context) {
  if (context.agents.size() < 2) reader.fail("class", "expected several agents");
}

std::unique_ptr<const Reward> make_track_progress(TermReader& reader, TaskContext& context) {
  need_centreline(reader, context);
  return std::make_unique<TrackProgress>();
}

std::unique_ptr<const Reward> make_rivals_progress(TermReader& reader, TaskContext& context) {
  need_centreline(reader, context);
  need_rivals(reader, context);
  return std::make_unique<RivalsProgress>();
}

std::unique_ptr<const Reward> make_lap(TermReader& reader, TaskContext& context) {
  return std::make_unique<Lap>(need_centreline(reader, context));
}

std::unique_ptr<const Reward> make_overtake(TermReader& reader, TaskContext& context) {
  need_centreline(reader, context);
  need_rivals(reader, context);
  return std::make_unique<Overtake>(reader);
}

std::unique_ptr<const Reward> make_rear_contact(TermReader& reader, TaskContext& context) {
  need_rivals(reader, context);
  return std::make_unique<RearContact>(need_centreline(reader, context));
}

std::unique_ptr<const Reward> make_steer_rate(TermReader& reader, TaskContext& context) {
  if (context.steer_max == 0) reader.fail("class", "expected an <action> with a steering angle");
  return std::make_unique<SteerRate>(context.steer_component, context.steer_max);
}

std::unique_ptr<const Termination> make_laps(TermReader& reader, TaskContext& context) {
  return std::make_unique<Laps>(reader, need_centreline(reader, context));
}

std::unique_ptr<const Termination> make_backwards(TermReader& reader, TaskContext& context) {
  need_centreline(reader, context);
  return std::make_unique<Backwards>(reader);
}

}  // namespace mvsim
