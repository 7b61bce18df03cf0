// The tasks of envs whose knobs differ from those of their batch. A task is compiled when it is first needed,
// and kept while an env uses it or while it is among the latest.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "task/task.h"

namespace mvsim {

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
