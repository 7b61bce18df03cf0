// One env of a batch: its world and its episode. Plain values; a copy continues bit for bit. One thread at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "env/goal_field.h"
#include "sim/simulation.h"

namespace mvsim {

// What the terms of a task ask about the agent, computed once at a reset and at the end of each control
// period.
struct Facts {
  Pose2 pose;
  Rotation2 heading;
  Twist2 twist;              // body frame
  Vec2 to_goal;              // world frame
  double goal_distance = 0;  // straight, m
  double path_distance = 0;  // along the shortest path, m; only if a term needs it
  double clearance = 0;      // of the chassis, at most Task::clearance_limit
  bool collided = false;     // in any substep of the period
};

// Of one distance of TaskNeeds::stuck_distances.
struct Stillness {
  Vec2 anchor;      // where the agent was when it last got that far away from where it had been
  double time = 0;  // s since then
};

enum class EpisodeEnd : uint8_t { kNone, kTerminated, kTruncated };

struct EnvState {
  explicit EnvState(Simulation s) : simulation(std::move(s)) {}

  Simulation simulation;
  size_t variant = 0;
  uint64_t key = 0;
  uint32_t next_episode = 0;  // the episode of the next reset

  // -- of the episode
  bool started = false;   // reset at least once
  bool finished = false;  // to be reset before it can step
  int64_t steps = 0;      // control periods
  EpisodeEnd end = EpisodeEnd::kNone;
  bool success = false, diverged = false;
  Facts before, now;  // at the start and the end of the period
  Vec2 goal, start;
  std::shared_ptr<const GoalField> field;  // only if a term needs it
  std::vector<Stillness> stillness;        // by TaskNeeds::stuck_distances
  double path_length = 0, min_clearance = 0;
  int bad_actions = 0;
  std::vector<double> action, previous_action;  // in [-1, 1]
  std::vector<double> reward_sums;              // weighted, by reward term
  std::vector<float> history;                   // frames of observations that keep some, oldest first
};

}  // namespace mvsim
