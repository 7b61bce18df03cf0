// A compiled environment: its worlds and its terms. Immutable but for the cache of goal fields, shared by all
// envs of a batch and by all threads; what changes lies in EnvState.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/batch.h"
#include "env/env_spec.h"
#include "env/goal_field_cache.h"
#include "env/randomize.h"
#include "env/start_and_goal.h"
#include "env/terms.h"

namespace mvsim {

struct WeightedReward {
  std::string name;
  double weight;
  std::unique_ptr<const Reward> term;
};

struct ObservationSlot {
  std::unique_ptr<const Observation> term;
  std::vector<float> low, high;  // of the values of one frame
  bool normalize = false;
  int history = 1;
  size_t first_history = 0;  // index in EnvState::history, used if history > 1
};

struct Task {
  EnvSpec spec;
  std::vector<std::shared_ptr<const Model>> models;  // by variant; same vehicles, sensors and parameters
  size_t vehicle = 0;
  double control_period = 0, substep = 0;  // s
  int substeps = 1;
  int64_t most_steps = 0;  // of an episode, 0: no limit
  double clearance_limit = 0.5;
  double stuck_distance = 0.3;
  double goal_radius = 0.25;  // m, of the termination where there is one
  bool needs_path = false;
  bool static_world = true;  // no obstacle moves, so goal fields outlive an episode
  std::vector<size_t> scheduled_sensors;
  size_t history_size = 0;            // of EnvState::history
  double memory_used = 0;             // bytes, counted while it was made
  std::vector<std::string> warnings;  // beside those of the models

  std::vector<Randomization> randomizations;
  std::vector<std::unique_ptr<const ResetTerm>> resets;
  StartAndGoal start_and_goal;
  std::unique_ptr<const Action> action;
  std::vector<ActionComponent> action_components;
  std::vector<ObservationSlot> observations;
  std::vector<ObservationInfo> observation_infos;
  std::vector<WeightedReward> rewards;
  std::vector<std::unique_ptr<const Termination>> terminations;

  std::vector<std::shared_ptr<const PlanningGrid>> grids;  // by variant, if needs_path and static_world
  std::unique_ptr<GoalFieldCache> fields = std::make_unique<GoalFieldCache>();
};

// Loads the worlds and makes the terms. Throws WorldFileError or Error.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options);

EnvState make_env(const Task& task, uint64_t key);

// Starts the env's next episode. `poll` is called often and may throw; the env then needs another start.
void start_episode(const Task& task, EnvState& env, const Poll& poll = {});

// Runs one control period with env.action. `keep_going` is asked before each substep; false ends the call
// early with false, the env left between two substeps. Else sets the facts, success and the end of the
// episode, and adds up the rewards into `reward`.
bool step_period(const Task& task, EnvState& env, const std::function<bool()>& keep_going, double& reward);

// Writes all frames of observation `slot`; `first` is true after a reset, when the history starts anew.
void write_observation(const ObservationSlot& slot, EnvState& env, bool first, Scratch& scratch, float* out);

// Length of the shortest path from the episode's start to its goal (m), for SPL.
double optimal_length(const Task& task, const EnvState& env);

}  // namespace mvsim
