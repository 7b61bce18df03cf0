// Extension point: trackers. A tracker follows one aspect of an agent through an episode, beyond
// Measurements, such as its progress on a race track or its distance to people. Its class is immutable and
// shared by all envs and threads. Its numbers are in AgentState::memory, which snapshots contain.
//
// A tracker of a task belongs to every agent and has one row in trackers.cpp. A term may add another one for
// its agent alone (TaskNeeds::track).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "assets/open_file.h"
#include "base/archive.h"
#include "base/load_guard.h"
#include "model/model.h"
#include "task/env_spec.h"
#include "task/env_state.h"
#include "task/plan/centreline.h"
#include "task/plan/crop_path.h"

namespace mvsim {

// An env and one of its agents. A tracker writes to the memory of this agent only; it may read the memory of
// the others.
struct TrackerView {
  const EnvState& env;
  AgentState& agent;  // of env.agents
  size_t vehicle;     // index of the agent's vehicle in the model
  double period;      // control period, s
  const Pose2& pose;  // of the agent: the true one, or its estimate (task/track/localization.h)

  Vec2 position() const { return {pose.x, pose.y}; }
};

// A line along which agents can line up. A centreline is closed; a path through crop rows is not.
using CourseLine = std::variant<const Centreline*, const CropPath*>;

// Base of trackers. Derive from TrackerOf<State> below.
class Tracker {
 public:
  virtual ~Tracker() = default;
  virtual size_t memory_size() const = 0;  // numbers

  // Begins an episode of the agent, which has been placed and measured (AgentState::now).
  virtual void start(const TrackerView& view) const = 0;
  // Called when all agents of an env have started, but not when one of them starts again.
  virtual void all_started(EnvState& /*env*/) const {}
  // Called before a control period of an agent that drives; agents that have ended are skipped.
  virtual void begin_period(const TrackerView& /*view*/) const {}
  // Called at the end of a control period, after AgentState::now is measured and before terms are evaluated.
  virtual void measure(const TrackerView& view) const = 0;
  // Called after a caller moved bodies, so that the move is no progress. AgentState::now is measured.
  virtual void moved(const TrackerView& /*view*/) const {}

  // Hashes the properties that snapshots must match.
  virtual void hash(ArchiveHasher& hasher) const = 0;
  // Lines for lining up at the start: one for all worlds, or one for each. Empty: the tracker has none.
  virtual std::vector<CourseLine> lines() const { return {}; }
  // Returns the progress of an agent, m: along such a line, or the decrease of a potential from any constant.
  virtual std::optional<double> way(const AgentState& /*agent*/) const { return std::nullopt; }
  // Names of the numbers that a tracker of a task adds to the infos of an episode's end, at most kMostInfos.
  static constexpr size_t kMostInfos = 16;
  virtual std::vector<std::string> infos() const { return {}; }
  // Writes their values and returns their number.
  virtual size_t write_infos(const EnvState& /*env*/, const AgentState& /*agent*/, double* /*out*/) const {
    return 0;
  }

  // Returns a tracker of the same kind for the estimated poses (task/track/localization.h), or null if no
  // observation reads it.
  virtual std::unique_ptr<Tracker> for_estimates() const { return nullptr; }

  virtual void set_first(size_t first) { first_ = first; }

 protected:
  size_t first_ = 0;  // index of its first number in AgentState::memory
};

// A tracker whose memory is a struct of doubles.
template <class State>
class TrackerOf : public Tracker {
  static_assert(std::is_trivially_copyable_v<State> && alignof(State) == alignof(double));

 public:
  size_t memory_size() const final { return sizeof(State) / sizeof(double); }
  State& state(AgentState& agent) const { return *reinterpret_cast<State*>(agent.memory.data() + first_); }
  const State& state(const AgentState& agent) const {
    return *reinterpret_cast<const State*>(agent.memory.data() + first_);
  }
};

// The data that a tracker may read while it is made.
struct TrackerContext {
  const EnvSpec& spec;
  std::span<const std::shared_ptr<const Model>> models;  // by variant
  std::span<const NamedText> centrelines;          // one for all worlds, or one for each combination of knobs
  const TermSpec* element;                         // element with the row's tag; null: the file has none
  std::function<OpenFile(const NamedText&)> open;  // opens a file that the environment names
  LoadGuard& guard;
};

// Makes a tracker of class T, or null if the task does not need one. Each class specialises it in its own
// file. Throws WorldFileError.
template <class T>
std::unique_ptr<Tracker> tracker(const TrackerContext& context);

using Trackers = std::vector<std::unique_ptr<Tracker>>;

// Makes the trackers of a task, in the order of the rows of trackers.cpp. Sets `context.element` for each.
Trackers make_trackers(TrackerContext context);
// Returns the tags of the elements that declare trackers.
std::vector<std::string> tracker_tags();

// Returns the tracker of class T, or null.
template <class T>
const T* find_tracker(const Trackers& trackers) {
  for (const auto& t : trackers)
    if (const auto* const found = dynamic_cast<const T*>(t.get())) return found;
  return nullptr;
}

}  // namespace mvsim
