// State of an environment: of its agents, and of their imperfect sensors and actuators.
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

namespace mvsim {

// The state of late actions, late readings and pushes of an agent (episode/episode.h). Plain values.

// A delay in control periods plus time steps.
struct Delay {
  uint32_t periods = 0, steps = 0;

  bool any() const { return periods > 0 || steps > 0; }
};

// Actions that have not arrived yet: a ring of the latest Delay::periods + 1, with their noise.
struct LateActions {
  bool active = false;  // false: actions are applied at once
  Delay delay;
  uint64_t count = 0;  // number of actions so far
  std::vector<double> values;
};

// Frames of one observation that have not arrived yet: a ring of the latest Delay::periods + 1 frames, or
// recipes of pictures.
struct LateFrames {
  bool active = false;
  Delay delay;
  uint64_t count = 0;  // number of frames so far
  std::vector<uint8_t> frames;
  std::vector<double> recipes;
};

struct Pushes {
  bool active = false;
  uint32_t count = 0;  // number of pushes so far
  double due = 0;      // s in the episode, time of the next push
};

struct TransferState {
  LateActions actions;
  std::vector<LateFrames> frames;  // by observation; empty if none is late
  Pushes pushes;
};

// One env of a batch: its world, its episode, and its agents. Plain values; a copy continues bit for bit. One
// thread at a time.

// The quantities of an agent that the terms of a task read, computed once at a reset and at the end of each
// control period.
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

// The measurements at the start of a control period that the terms read at its end.
struct PeriodStart {
  double goal_distance = 0, path_distance = 0;
  uint8_t contacts = 0;
};

// An agent's action. Each component is in [-1, 1], in the order of AgentTask::action_components.
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

// State, within an episode, of a body that a policy of the environment moves (task/move/).
struct MoverState {
  Vec2 goal, start;      // world frame
  double speed = 0;      // m/s, preferred
  uint32_t next = 0;     // index of the next point of its path
  bool crosses = false;  // it moves back and forth across a circle
  Vec2 asked;            // m/s, world frame: set by the caller, for the policy `python`
};

enum class EpisodeEnd : uint8_t { kNone, kTerminated, kTruncated };

// The effect on an agent that has terminated while others go on, and on those others.
enum class Then : uint8_t {
  kStay,    // its robot stands where it is
  kLeave,   // its robot is taken out of the world
  kEndAll,  // the episode ends for all
};

// State of one agent (a robot that a policy drives) within an episode.
struct AgentState {
  EpisodeEnd end = EpisodeEnd::kNone;
  bool success = false;
  Then then = Then::kStay;  // of the termination that applied
  bool waits = false;       // it ended in an earlier period and others go on: it is not stepped
  int bad_actions = 0;
  PeriodStart before;
  Measurements now;  // at the end of the period
  Vec2 goal, start;
  Vec2 last;                               // position after the last substep, within a period only
  std::shared_ptr<const GoalField> field;  // only if a term needs it
  std::vector<double> memory;              // of its trackers (task/track/tracker.h)
  double path_length = 0, min_clearance = 0;
  ActionValues action, previous_action;
  std::vector<double> reward_sums;  // weighted, by reward term
  // Rings of the frames of observations with a history (observe.h), laid out by AgentTask.
  std::vector<uint8_t> frames;
  // Recipes of pictures: for each frame the values from which it is drawn again.
  std::vector<double> recipes;
  TransferState transfer;
};

// A parameter that the caller holds at a value until release: all parameters that the pattern matches, in
// user units.
struct HeldParam {
  std::string pattern;
  double value = 0;
};

// The start and the goal that the caller gives for an agent's next episode. Missing parts are drawn at
// random.
struct GivenStart {
  std::optional<Pose2> pose;
  std::optional<Vec2> goal;
  size_t vehicle = 0;  // the agent's; bodies that are placed earlier keep away from it
};

// Spreads the steps of an episode over keys, 2^64 over the golden ratio: key + kStepKeys * step.
inline constexpr uint64_t kStepKeys = 0x9e3779b97f4a7c15;

// Work that is still to do for an env in a vector step (vector_step.cpp).
enum class Due : uint8_t { kNothing, kFinalSense, kReset, kRespawn, kFreshSense };

struct EnvState {
  explicit EnvState(Simulation s) : simulation(std::move(s)) {}

  Simulation simulation;
  size_t variant = 0;
  uint64_t key = 0;
  uint32_t next_episode = 0;          // the episode of the next reset
  std::vector<HeldParam> held;        // the latest last
  std::span<const GivenStart> given;  // one for each agent, while an episode starts; else empty
  bool started = false;               // reset at least once
  bool finished = false;              // must be reset before it can step
  bool diverged = false;
  Due due = Due::kNothing;  // within a call of the batch only
  int64_t steps = 0;        // control periods
  std::vector<AgentState> agents;
  std::vector<MoverState> movers;  // by Movers::bodies()
};

// Returns the caller's start and goal of an agent's next episode.
inline GivenStart given_start(const EnvState& env, size_t agent) {
  return agent < env.given.size() ? env.given[agent] : GivenStart{};
}

}  // namespace mvsim
