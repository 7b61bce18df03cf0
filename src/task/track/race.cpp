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
template <>
std::unique_ptr<const Reward> term<class TrackProgressReward>(TermReader& reader, TaskContext& context) {
  return reward([&race = need_race(reader, context)](const EnvState&, const AgentState& agent) {
    return race.state(agent).along - race.state(agent).before;
  });
}

// Mean progress of the other agents that drive, m.
template <>
std::unique_ptr<const Reward> term<class RivalsProgressReward>(TermReader& reader, TaskContext& context) {
  return reward([&race = need_rivals(reader, context)](const EnvState& env, const AgentState& agent) {
    double sum = 0, count = 0;
    for (const AgentState& other : env.agents)
      if (&other != &agent && !other.waits)
        sum += race.state(other).along - race.state(other).before, ++count;
    return count > 0 ? sum / count : 0;
  });
}

// 1 for each lap that ends in the period. Driving back and crossing the line again is no second lap.
template <>
std::unique_ptr<const Reward> term<class LapReward>(TermReader& reader, TaskContext& context) {
  return reward([&race = need_race(reader, context)](const EnvState& env, const AgentState& agent) {
    const auto laps = [&](double along) { return std::max(0.0, race.laps_of(env, agent, along)); };
    return laps(race.state(agent).farthest) - laps(race.state(agent).farthest_before);
  });
}

// 1 when an agent that was never ahead of all others is `by` metres ahead of them.
template <>
std::unique_ptr<const Reward> term<class OvertakeReward>(TermReader& reader, TaskContext& context) {
  const RaceTracker& race = need_rivals(reader, context);
  const double by = reader.number("by", 0.5, kNotNegative);
  return reward([&race, by](const EnvState& env, const AgentState& agent) {
    const std::optional<double> ahead = race.lead(env, agent);
    return ahead && *ahead >= by && race.state(agent).best_lead < by ? 1 : 0;
  });
}

// 1 in the period in which two vehicles touch, for the vehicle behind, regardless of laps.
template <>
std::unique_ptr<const Reward> term<class RearContactReward>(TermReader& reader, TaskContext& context) {
  return reward([&race = need_rivals(reader, context)](const EnvState& env, const AgentState& agent) {
    if (!(agent.now.contacts & kTouchesVehicle) || (agent.before.contacts & kTouchesVehicle)) return 0;
    const AgentState* const rival = race.nearest_rival(env, agent);
    if (!rival) return 0;
    const double ahead = race.state(*rival).before - race.state(agent).before;
    return std::remainder(ahead, race.line(env).length()) > 0 ? 1 : 0;
  });
}

// Ends after a number of laps.
template <>
std::unique_ptr<const Termination> term<class LapsTermination>(TermReader& reader, TaskContext& context) {
  const RaceTracker& race = need_race(reader, context);
  const int count = reader.integer("count", 1, 1, 1000000);
  return termination(Verdict::kSuccess, [&race, count](const EnvState& env, const AgentState& agent) {
    return race.laps_of(env, agent, race.state(agent).farthest) >= count;
  });
}

// Ends `distance` m behind the farthest place of the agent.
template <>
std::unique_ptr<const Termination> term<class BackwardsTermination>(TermReader& reader,
                                                                    TaskContext& context) {
  const RaceTracker& race = need_race(reader, context);
  const double distance = reader.number("distance", 2, kPositive);
  return failure([&race, distance](const EnvState&, const AgentState& agent) {
    return race.state(agent).farthest - race.state(agent).along > distance;
  });
}

}  // namespace mvsim
