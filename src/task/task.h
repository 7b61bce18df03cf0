// A compiled environment: its worlds, its agents and their terms. It is shared by all envs of a batch and by
// all threads, and immutable except for the cache of goal fields. Mutable state is in EnvState.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "task/env_spec.h"
#include "task/line_up.h"
#include "task/move/movers.h"
#include "task/plan/goal_field.h"
#include "task/randomize.h"
#include "task/start_and_goal.h"
#include "task/terms.h"
#include "task/track/tracker.h"

namespace mvsim {

struct WeightedReward {
  std::string name;
  double weight;
  double share;  // share that is replaced by the mean over the agents
  std::unique_ptr<const Reward> term;
};

struct ObservationSlot {
  std::unique_ptr<const Observation> term;
  size_t index = 0;  // among the observations of the agent
  DType dtype = DType::kFloat32;
  std::vector<float> low, high;  // of the values of one frame
  bool clips = true;             // false: all values are within their bounds, and none is mapped
  bool normalize = false;
  int history = 1;
  int stride = 1;        // control periods between two frames of the history
  bool changes = false;  // rows hold the latest frame, then differences of frames, the latest first
  size_t frame_bytes = 0;
  size_t first_frame = 0;   // index in AgentState::frames, used if history > 1
  size_t first_recipe = 0;  // index in AgentState::recipes, of pictures

  bool is_picture() const { return term->picture() != nullptr; }
  // Number of frames from the oldest that is observed to the latest.
  size_t kept() const { return static_cast<size_t>(history - 1) * static_cast<size_t>(stride) + 1; }
};

// One <agent>, compiled.
struct AgentTask {
  size_t vehicle = 0;
  double clearance_limit = 0.5;
  double goal_radius = 0.25;  // m, of the termination if there is one
  bool needs_path = false;
  size_t frames_size = 0, recipes_size = 0;  // of AgentState::frames and ::recipes
  size_t memory_size = 0;                    // of AgentState::memory
  std::vector<const Tracker*> trackers;      // those of the task, then its own
  Trackers own_trackers;

  StartAndGoal start_and_goal;
  std::unique_ptr<const Action> action;
  std::vector<ActionComponent> action_components;
  std::vector<ObservationSlot> observations;
  std::vector<WeightedReward> rewards;
  std::vector<std::unique_ptr<const Termination>> terminations;
  std::vector<std::string> termination_names;
  std::vector<Then> termination_then;

  std::vector<std::shared_ptr<const PlanningGrid>> grids;  // by variant, if needs_path and static_world
  std::unique_ptr<GoalFieldCache> fields = std::make_unique<GoalFieldCache>();
};

struct Task {
  EnvSpec spec;
  std::shared_ptr<const EnvSpec> given;              // as given, with knobs not replaced
  std::vector<Override> knobs;                       // knobs that an env set later (batch/batch_options.h)
  std::vector<std::shared_ptr<const Model>> models;  // by variant; same vehicles, sensors and parameters
  double control_period = 0, substep = 0;            // s
  int substeps = 1;
  int64_t max_steps = 0;     // of an episode, 0: no limit
  bool static_world = true;  // no obstacle moves, so goal fields outlive an episode
  std::vector<size_t> scheduled_sensors;
  Trackers trackers;  // of all agents
  std::optional<LineUp> line_up;
  std::vector<std::string> warnings;  // without those of the models
  bool strict = false;                // motion beyond the limits of a step is an error
  double memory_used = 0;             // bytes, counted while the task was compiled

  std::vector<Randomization> level_randomizations;  // of make_level(); others override them
  std::vector<Randomization> randomizations;
  std::vector<std::unique_ptr<const ResetTerm>> resets;
  std::unique_ptr<const Movers> movers;  // null: no policy of the environment moves anything

  std::vector<AgentTask> agents;                   // at least one
  std::vector<ObservationSpec> observation_specs;  // of each agent's rows
  bool has_pictures = false;
  bool shares_rewards = false;

  bool is_picture(size_t key) const { return agents.front().observations[key].is_picture(); }
};

}  // namespace mvsim
