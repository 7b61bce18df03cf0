#include "env/race.h"

#include <algorithm>
#include <cmath>

namespace mvsim {

void start_race(const Centreline& line, Vec2 position, const RaceState* first, RaceState& race) {
  race = {};
  race.along = first ? line.nearest(position, first->along) : line.nearest(position);
  race.before = race.farthest = race.farthest_before = race.start = race.line = race.along;
}

void set_start_line(EnvState& env) {
  double foremost = env.agents.front().race.along;
  for (const AgentState& agent : env.agents) foremost = std::max(foremost, agent.race.along);
  for (AgentState& agent : env.agents) agent.race.line = foremost;
}

void begin_race_period(EnvState& env) {
  for (AgentState& agent : env.agents) {
    if (agent.waits) continue;
    RaceState& race = agent.race;
    race.before = race.along;
    race.farthest_before = race.farthest;
    if (const std::optional<double> ahead = lead(env, agent))
      race.best_lead = std::max(race.best_lead, *ahead);
  }
}

void follow_race(const Centreline& line, Vec2 position, RaceState& race) {
  race.along = line.nearest(position, race.along);
  race.farthest = std::max(race.farthest, race.along);
}

void move_in_race(const Centreline& line, Vec2 position, RaceState& race) {
  const double was = race.along;
  race.along = line.nearest(position, was);
  const double moved = race.along - was;
  for (double* const value : {&race.farthest, &race.farthest_before, &race.start, &race.line, &race.before})
    *value += moved;
}

std::optional<double> lead(const EnvState& env, const AgentState& agent) {
  std::optional<double> out;
  for (const AgentState& other : env.agents) {
    if (&other == &agent || other.waits) continue;
    const double ahead = agent.race.along - other.race.along;
    if (!out || ahead < *out) out = ahead;
  }
  return out;
}

const AgentState* nearest_rival(const Centreline& line, const EnvState& env, const AgentState& agent) {
  const AgentState* nearest = nullptr;
  double best = 0;
  for (const AgentState& other : env.agents) {
    if (&other == &agent || other.waits) continue;
    const double apart = std::fabs(std::remainder(other.race.along - agent.race.along, line.length()));
    if (nearest && apart >= best) continue;
    nearest = &other;
    best = apart;
  }
  return nearest;
}

double laps_of(const Centreline& line, const RaceState& race, double along) {
  return std::floor((along - race.line) / line.length());
}

}  // namespace mvsim
