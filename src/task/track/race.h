// The tracker of races: the progress of an agent along the centreline of its task, and that of the others.
// Immutable, any thread.
#pragma once

#include <memory>
#include <optional>

#include "task/terms.h"
#include "task/track/tracker.h"

namespace mvsim {

// Places in m along the centreline, counted over all laps. All doubles.
struct RaceState {
  static constexpr double kNeverAhead = -1e9;

  double along = 0, before = 0;              // now, and at the start of the period
  double farthest = 0, farthest_before = 0;  // now, and at the start of the period
  double start = 0;                          // at the start of its episode
  double line = 0;                           // start line of the laps
  double best_lead = kNeverAhead;            // largest lead over all others, up to the start of the period
};

class RaceTracker final : public TrackerOf<RaceState> {
 public:
  // `lines`: one for all worlds, or one for each `variants` worlds in a row.
  RaceTracker(std::vector<Centreline> lines, size_t variants)
      : lines_(std::move(lines)), variants_(variants) {}
  const Centreline& line(const EnvState& env) const {
    return lines_[lines_.size() > 1 ? env.variant / variants_ : 0];
  }

  void start(const TrackerView& view) const override;
  // Sets the start line at the foremost agent.
  void all_started(EnvState& env) const override;
  void begin_period(const TrackerView& view) const override;
  void measure(const TrackerView& view) const override;
  // The agent goes on from the new place with the laps that remain.
  void moved(const TrackerView& view) const override;
  void hash(ArchiveHasher& hasher) const override;
  std::unique_ptr<Tracker> for_estimates() const override { return std::make_unique<RaceTracker>(*this); }
  std::vector<CourseLine> lines() const override;
  std::optional<double> way(const AgentState& agent) const override {
    return state(agent).along - state(agent).start;
  }

  // Returns the lead of an agent over the foremost other agent that drives, m, or nothing if no other agent
  // drives.
  std::optional<double> lead(const EnvState& env, const AgentState& agent) const;
  // Returns the nearest other driving agent along the line, regardless of laps, or null.
  const AgentState* nearest_rival(const EnvState& env, const AgentState& agent) const;
  // Returns the whole laps at a place along the line: below 0 before the start line.
  double laps_of(const EnvState& env, const AgentState& agent, double along) const;

 private:
  std::vector<Centreline> lines_;
  size_t variants_;
};

// Return the race of the task, or throw if there is no centreline, or only one agent.
const RaceTracker& need_race(const TermReader& reader, const TaskContext& context);
const RaceTracker& need_rivals(const TermReader& reader, const TaskContext& context);
// Returns the race by the poses that observations see (task/track/localization.h), or throws.
const RaceTracker& need_seen_race(const TermReader& reader, const TaskContext& context);

}  // namespace mvsim
