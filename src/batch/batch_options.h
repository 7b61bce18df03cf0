// Options of a Batch, and the tasks that it compiles for values of knobs.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "base/error.h"
#include "task/env_spec.h"
#include "task/observation_spec.h"
#include "task/task.h"

namespace mvsim {

// How a Batch is made and called: its size, its threads, and what happens at the end of an episode.

// step() or reset() was stopped by should_stop. The batch stays usable; envs may be inside a control period.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// The way in which an env whose episode has ended is reset, as in Gymnasium.
enum class AutoresetMode {
  kNextStep,  // its next step ignores the action and resets it: reward 0, flags false
  kSameStep,  // reset at once: `observation` is the first of the new episode, `final_observation` the last of
              // the old
  kDisabled,  // the caller resets it; stepping it before is an Error
};

struct BatchOptions {
  int num_envs = 1;     // >= 1
  int num_rows = 0;     // instead of num_envs: env x agent, a multiple of the agents of an env; 0: not given
  int num_threads = 0;  // 0: default_threads(); the calling thread is one of them
  bool pin = false;     // binds each worker thread to a processor of its own
  AutoresetMode autoreset = AutoresetMode::kNextStep;
  bool strict_actions =
      false;            // a non-finite action is an Error before any env steps, instead of a zero action
  bool spl = false;     // compute optimal_length and spl of successful episodes (evaluation)
  Device device{};      // memory of observed camera images; all else is on the host
  EnvLoadOptions load;  // folders for the world's files
};

// The tasks of envs whose knobs differ from those of their batch. A task is compiled when it is first needed,
// and kept while an env uses it or while it is among the latest.

class KnobTasks {
 public:
  KnobTasks(std::shared_ptr<const Task> base, const EnvLoadOptions& load)
      : base_(std::move(base)), load_(load) {}

  const std::shared_ptr<const Task>& base() const { return base_; }

  // Returns the task for some knobs; the base task for none. Throws Error for a name that is no <knob>, and
  // for a value that would change observations, actions, rewards, terminations, vehicles or times. Throws
  // WorldFileError for a value that the files cannot take. `poll` is called often and may throw.
  std::shared_ptr<const Task> get(const std::vector<Override>& knobs, const Poll& poll);

 private:
  std::shared_ptr<const Task> base_;
  EnvLoadOptions load_;
  std::list<std::shared_ptr<const Task>> made_;  // latest use first
};

}  // namespace mvsim
