// Races: the tracker, its rewards (track_progress, rivals_progress, lap, overtake, rear_contact) and its
// terminations (laps, backwards). Its observations are in race_observations.cpp.
#include "task/track/race.h"

#include <algorithm>
#include <cmath>

#include "base/archive.h"
#include "task/compile_parts.h"
#include "task/make_term.h"
#include "task/plan/centreline.h"
#include "task/track/localization.h"

namespace mvsim {
namespace {

// Returns the state of an agent that has started already: the first agent, or the second if the first starts
// again.
const RaceState* beside(const RaceTracker& race, const TrackerView& view) {
  const std::vector<AgentState>& agents = view.env.agents;
  if (&view.agent != agents.data()) return &race.state(agents.front());
  return view.env.steps > 0 && agents.size() > 1 ? &race.state(agents[1]) : nullptr;
}

Centreline line_of(const NamedText& named, const TrackerContext& context) {
  const OpenFile file = context.open(named);
  try {
    return Centreline(read_centreline(file, named.where, context.guard));
  } catch (const WorldFileError&) {
    throw;
  } catch (const Error& e) {
    throw WorldFileError(named.where, about("centreline", named.where) + "the file '" +
                                          shortened(named.text, 200) + "': " + e.what());
  }
}

}  // namespace

template <>
std::unique_ptr<Tracker> tracker<RaceTracker>(const TrackerContext& context) {
  std::vector<Centreline> lines;
  for (const NamedText& named : context.centrelines) lines.push_back(line_of(named, context));
  if (lines.empty()) return nullptr;
  return std::make_unique<RaceTracker>(std::move(lines), static_cast<size_t>(context.spec.variants));
}

std::vector<CourseLine> RaceTracker::lines() const {
  std::vector<CourseLine> out;
  for (const Centreline& line : lines_) out.insert(out.end(), lines_.size() > 1 ? variants_ : 1, &line);
  return out;
}

void RaceTracker::start(const TrackerView& view) const {
  const RaceState* const first = beside(*this, view);
  const Centreline& course = line(view.env);
  const double along =
      first ? course.nearest(view.position(), first->along) : course.nearest(view.position());
  RaceState& race = state(view.agent);
  race = {};
  race.along = race.before = race.farthest = race.farthest_before = race.start = race.line = along;
  measure(view);
}

void RaceTracker::all_started(EnvState& env) const {
  double foremost = state(env.agents.front()).along;
  for (const AgentState& agent : env.agents) foremost = std::max(foremost, state(agent).along);
  for (AgentState& agent : env.agents) state(agent).line = foremost;
}

void RaceTracker::begin_period(const TrackerView& view) const {
  RaceState& race = state(view.agent);
  race.before = race.along;
  race.farthest_before = race.farthest;
  if (const std::optional<double> ahead = lead(view.env, view.agent))
    race.best_lead = std::max(race.best_lead, *ahead);
}

void RaceTracker::measure(const TrackerView& view) const {
  RaceState& race = state(view.agent);
  const Centreline& course = line(view.env);
  race.along = course.crosses_itself() ? course.follow(view.position(), race.along)
                                       : course.nearest(view.position(), race.along);
  race.farthest = std::max(race.farthest, race.along);
}

void RaceTracker::moved(const TrackerView& view) const {
  RaceState& race = state(view.agent);
  const double was = race.along;
  race.along = line(view.env).nearest(view.position(), was);
  const double by = race.along - was;
  for (double* const value : {&race.farthest, &race.farthest_before, &race.start, &race.line, &race.before})
    *value += by;
}

void RaceTracker::hash(ArchiveHasher& hasher) const {
  for (const Centreline& line : lines_)
    for (const Vec2 p : line.points()) hasher(p);
}

std::optional<double> RaceTracker::lead(const EnvState& env, const AgentState& agent) const {
  std::optional<double> out;
  for (const AgentState& other : env.agents) {
    if (&other == &agent || other.waits) continue;
    const double ahead = state(agent).along - state(other).along;
    if (!out || ahead < *out) out = ahead;
  }
  return out;
}

const AgentState* RaceTracker::nearest_rival(const EnvState& env, const AgentState& agent) const {
  const AgentState* nearest = nullptr;
  double best = 0;
  for (const AgentState& other : env.agents) {
    if (&other == &agent || other.waits) continue;
    const double apart =
        std::fabs(std::remainder(state(other).along - state(agent).along, line(env).length()));
    if (nearest && apart >= best) continue;
    nearest = &other;
    best = apart;
  }
  return nearest;
}

double RaceTracker::laps_of(const EnvState& env, const AgentState& agent, double along) const {
  return std::floor((along - state(agent).line) / line(env).length());
}

const RaceTracker& need_race(const TermReader& reader, const TaskContext& context) {
  const auto* const race = find_tracker<RaceTracker>(context.trackers);
  if (!race) reader.fail("class", "expected the attribute 'centreline' of <mvsim_env>");
  return *race;
}

const RaceTracker& need_seen_race(const TermReader& reader, const TaskContext& context) {
  need_race(reader, context);
  return *find_seen_tracker<RaceTracker>(context);
}

const RaceTracker& need_rivals(const TermReader& reader, const TaskContext& context) {
  const RaceTracker& race = need_race(reader, context);
  if (context.agents.size() < 2) reader.fail("class", "expected several agents");
  return race;
}

// Metres along the centreline. The sum over an episode is the agent's progress.
class TrackProgressReward final : public Reward {
 public:
  TrackProgressReward(TermReader& reader, TaskContext& context) : race_(need_race(reader, context)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return race_.state(agent).along - race_.state(agent).before;
  }

 private:
  const RaceTracker& race_;
};
template std::unique_ptr<const Reward> term<TrackProgressReward>(TermReader&, TaskContext&);

// Mean progress of the other agents that drive, m.
class RivalsProgressReward final : public Reward {
 public:
  RivalsProgressReward(TermReader& reader, TaskContext& context) : race_(need_rivals(reader, context)) {}
  double value(const EnvState& env, const AgentState& agent) const override {
    double sum = 0, count = 0;
    for (const AgentState& other : env.agents)
      if (&other != &agent && !other.waits)
        sum += race_.state(other).along - race_.state(other).before, ++count;
    return count > 0 ? sum / count : 0;
  }

 private:
  const RaceTracker& race_;
};
template std::unique_ptr<const Reward> term<RivalsProgressReward>(TermReader&, TaskContext&);

// 1 for each lap that ends in the period. Driving back and crossing the line again is no second lap.
class LapReward final : public Reward {
 public:
  LapReward(TermReader& reader, TaskContext& context) : race_(need_race(reader, context)) {}
  double value(const EnvState& env, const AgentState& agent) const override {
    const auto laps = [&](double along) { return std::max(0.0, race_.laps_of(env, agent, along)); };
    return laps(race_.state(agent).farthest) - laps(race_.state(agent).farthest_before);
  }

 private:
  const RaceTracker& race_;
};
template std::unique_ptr<const Reward> term<LapReward>(TermReader&, TaskContext&);

// 1 when an agent that was never ahead of all others is `by` metres ahead of them.
class OvertakeReward final : public Reward {
 public:
  OvertakeReward(TermReader& reader, TaskContext& context)
      : race_(need_rivals(reader, context)), by_(reader.number("by", 0.5, kNotNegative)) {}
  double value(const EnvState& env, const AgentState& agent) const override {
    const std::optional<double> ahead = race_.lead(env, agent);
    return ahead && *ahead >= by_ && race_.state(agent).best_lead < by_ ? 1 : 0;
  }

 private:
  const RaceTracker& race_;
  double by_;
};
template std::unique_ptr<const Reward> term<OvertakeReward>(TermReader&, TaskContext&);

// 1 in the period in which two vehicles touch, for the vehicle behind, regardless of laps.
class RearContactReward final : public Reward {
 public:
  RearContactReward(TermReader& reader, TaskContext& context) : race_(need_rivals(reader, context)) {}
  double value(const EnvState& env, const AgentState& agent) const override {
    if (!(agent.now.contacts & kTouchesVehicle) || (agent.before.contacts & kTouchesVehicle)) return 0;
    const AgentState* const rival = race_.nearest_rival(env, agent);
    if (!rival) return 0;
    const double ahead = race_.state(*rival).before - race_.state(agent).before;
    return std::remainder(ahead, race_.line(env).length()) > 0 ? 1 : 0;
  }

 private:
  const RaceTracker& race_;
};
template std::unique_ptr<const Reward> term<RearContactReward>(TermReader&, TaskContext&);

// Ends after a number of laps.
class LapsTermination final : public Termination {
 public:
  LapsTermination(TermReader& reader, TaskContext& context)
      : race_(need_race(reader, context)), count_(reader.integer("count", 1, 1, 1000000)) {}
  bool holds(const EnvState& env, const AgentState& agent) const override {
    return race_.laps_of(env, agent, race_.state(agent).farthest) >= count_;
  }
  Verdict verdict() const override { return Verdict::kSuccess; }

 private:
  const RaceTracker& race_;
  int count_;
};
template std::unique_ptr<const Termination> term<LapsTermination>(TermReader&, TaskContext&);

// Ends `distance` m behind the farthest place of the agent.
class BackwardsTermination final : public Termination {
 public:
  BackwardsTermination(TermReader& reader, TaskContext& context)
      : race_(need_race(reader, context)), distance_(reader.number("distance", 2, kPositive)) {}
  bool holds(const EnvState&, const AgentState& agent) const override {
    return race_.state(agent).farthest - race_.state(agent).along > distance_;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  const RaceTracker& race_;
  double distance_;
};
template std::unique_ptr<const Termination> term<BackwardsTermination>(TermReader&, TaskContext&);

}  // namespace mvsim
