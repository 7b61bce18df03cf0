// The tracker of races: how far an agent has come along the centreline of its task, beside the others.
// Immutable, any thread.
#pragma once

#include <memory>
#include <optional>

#include "task/terms.h"
#include "task/track/tracker.h"

namespace mvsim {

// m along the centreline, counted on over laps. All doubles.
struct RaceState {
  static constexpr double kNeverAhead = -1e9;

  double along = 0, before = 0;              // now, and at the start of the period
  double farthest = 0, farthest_before = 0;  // so far, and up to then
  double start = 0;                          // where its episode began
  double line = 0;                           // where laps are counted from
  double best_lead = kNeverAhead;  // the most that it was ahead of all others, up to the start of the period
};

class RaceTracker final : public TrackerOf<RaceState> {
 public:
  explicit RaceTracker(Centreline line) : line_(std::move(line)) {}
  const Centreline& line() const { return line_; }

  void start(const TrackerView& view) const override;
  // Sets the start line: laps are counted from the foremost agent.
  void all_started(EnvState& env) const override;
  void begin_period(const TrackerView& view) const override;
  void measure(const TrackerView& view) const override;
  // The agent goes on from there with the laps that it had left.
  void moved(const TrackerView& view) const override;
  void hash(ArchiveHasher& hasher) const override;
  std::vector<CourseLine> lines() const override { return {&line_}; }
  std::optional<double> way(const AgentState& agent) const override {
    return state(agent).along - state(agent).start;
  }

  // Returns how far an agent is ahead of the foremost other agent that drives, m. Nothing: no other one
  // drives.
  std::optional<double> lead(const EnvState& env, const AgentState& agent) const;
  // Returns the other driving agent that is nearest along the line, in whichever lap, or null.
  const AgentState* nearest_rival(const EnvState& env, const AgentState& agent) const;
  // Returns the whole laps of a place along the line: below 0 before the start line.
  double laps_of(const AgentState& agent, double along) const;

 private:
  Centreline line_;
};

// Return the race of the task, or fail where it has no centreline, or only one agent.
const RaceTracker& need_race(const TermReader& reader, const TaskContext& context);
const RaceTracker& need_rivals(const TermReader& reader, const TaskContext& context);

}  // namespace mvsim
