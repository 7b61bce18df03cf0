// How far an agent has come along the centreline of its task, beside the others. Pure functions of an env.
#pragma once

#include <optional>

#include "env/env_state.h"
#include "env/plan/centreline.h"

namespace mvsim {

// At its start, once it is placed; `first`: an agent that starts beside it, whose distances it goes by.
void start_race(const Centreline& line, Vec2 position, const RaceState* first, RaceState& race);
// After all of an episode have started: laps are counted from the foremost.
void set_start_line(EnvState& env);

// Once those that have ended wait.
void begin_race_period(EnvState& env);
// At the end of a control period.
void follow_race(const Centreline& line, Vec2 position, RaceState& race);
// After a caller moved it: it goes on from there with the laps that it had left.
void move_in_race(const Centreline& line, Vec2 position, RaceState& race);

// m that it is ahead of the foremost other agent that drives, none where no other does.
std::optional<double> lead(const EnvState& env, const AgentState& agent);
// Of the other agents that drive the one that is nearest along the line, in whichever lap; null where there
// is none.
const AgentState* nearest_rival(const Centreline& line, const EnvState& env, const AgentState& agent);

// Whole laps of `along`, below 0 before the start line.
double laps_of(const Centreline& line, const RaceState& race, double along);

}  // namespace mvsim
