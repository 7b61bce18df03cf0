// One env of a batch: its world, its episode, and its agents. Plain values; a copy continues bit for bit. One
// thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/simulation.h"
#include "task/plan/goal_field.h"
#include "task/transfer_state.h"

namespace mvsim {

// What the terms of a task ask about an agent, computed once at a reset and at the end of each control
// period.
struct Measurements {
  Pose2 pose;
  Rotation2 heading;
  Twist2 twist;              // body frame
  Vec2 to_goal;              // world frame
  double goal_distance = 0;  // straight, m
  double path_distance = 0;  // along the shortest path, m; only if a term needs it
  double clearance = 0;      // of the chassis, at most AgentTask::clearance_limit
  uint8_t contacts = 0;      // in any substep of the period: bits of Contact (sim/sim_state.h)

  bool collided() const { return contacts != 0; }
};

// Of the measurements at the start of a control period, what the terms ask for at its end.
struct PeriodStart {
  double goal_distance = 0, path_distance = 0;
  uint8_t contacts = 0;
};

// Of an agent's action, each component in [-1, 1], by AgentTask::action_components.
class ActionValues {
 public:
  ActionValues() = default;
  explicit ActionValues(size_t size) : size_(size) {}
  ActionValues(std::initializer_list<double> values) : size_(values.size()) {
    std::copy(values.begin(), values.end(), values_.begin());
  }
  size_t size() const { return size_; }
  double* begin() { return values_.data(); }
  double* end() { return values_.data() + size_; }
  const double* begin() const { return values_.data(); }
  const double* end() const { return values_.data() + size_; }
  double& operator[](size_t i) { return values_[i]; }
  double operator[](size_t i) const { return values_[i]; }

 private:
  size_t size_ = 0;
  std::array<double, kMaxCommand> values_{};
};

// What belongs within an episode to a body that a policy of the environment moves (task/move/).
struct MoverState {
  Vec2 goal, start;      // world frame
  double speed = 0;      // m/s, that it likes to go at
  uint32_t next = 0;     // the point of its path that it goes to
  bool crosses = false;  // it goes to and fro across a circle
  Vec2 asked;            // m/s, world frame: what the caller wants, where his policy moves it
};

enum class EpisodeEnd : uint8_t { kNone, kTerminated, kTruncated };

// What becomes of an agent that has terminated while others go on, and of those.
enum class Then : uint8_t {
  kStay,    // its robot stands where it is
  kLeave,   // its robot is taken out of the world
  kEndAll,  // the episode ends for all
};

// What belongs to one agent (a robot that a policy drives) within an episode.
struct AgentState {
  EpisodeEnd end = EpisodeEnd::kNone;
  bool success = false;
  Then then = Then::kStay;  // of the termination that held
  bool waits = false;       // it ended in an earlier period and others go on: it is not stepped
  int bad_actions = 0;
  PeriodStart before;
  Measurements now;  // at the end of the period
  Vec2 goal, start;
  Vec2 last;                               // where it was after the last substep, within a period only
  std::shared_ptr<const GoalField> field;  // only if a term needs it
  std::vector<double> memory;              // of its trackers (task/track/tracker.h)
  double path_length = 0, min_clearance = 0;
  ActionValues action, previous_action;
  std::vector<double> reward_sums;  // weighted, by reward term
  // Of observations that keep frames: a ring of each one's frames (observe.h), laid out by AgentTask.
  std::vector<uint8_t> frames;
  // Of pictures: for each frame what draws it again.
  std::vector<double> recipes;
  TransferState transfer;
};

// A parameter that the caller fixes until he frees it: all that the pattern matches, in his units.
struct HeldParam {
  std::string pattern;
  double value = 0;
};

// Where the caller wants the coming episode of an agent to begin, and to end; what is left open is drawn.
struct GivenStart {
  std::optional<Pose2> pose;
  std::optional<Vec2> goal;
  size_t vehicle = 0;  // the agent's, from which whatever is placed before keeps off
};

// Spreads the steps of an episode over keys, 2^64 over the golden ratio: key + kStepKeys * step.
inline constexpr uint64_t kStepKeys = 0x9e3779b97f4a7c15;

// What the phases of a vector step still have to do for an env (vector_step.cpp).
enum class Due : uint8_t { kNothing, kFinalSense, kReset, kRespawn, kFreshSense };

struct EnvState {
  explicit EnvState(Simulation s) : simulation(std::move(s)) {}

  Simulation simulation;
  size_t variant = 0;
  uint64_t key = 0;
  uint32_t next_episode = 0;          // the episode of the next reset
  std::vector<HeldParam> held;        // the latest last
  std::span<const GivenStart> given;  // the caller's, one an agent, while an episode starts; else empty

  // -- of the episode
  bool started = false;   // reset at least once
  bool finished = false;  // to be reset before it can step
  bool diverged = false;
  Due due = Due::kNothing;  // within a call of the batch only
  int64_t steps = 0;        // control periods
  std::vector<AgentState> agents;
  std::vector<MoverState> movers;  // by Movers::bodies()
};

// What the caller says of an agent's coming episode.
inline GivenStart given_start(const EnvState& env, size_t agent) {
  return agent < env.given.size() ? env.given[agent] : GivenStart{};
}

}  // namespace mvsim
