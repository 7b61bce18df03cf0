// The tasks that envs of one batch play with other knobs than the batch was made with: compiled when they are
// first asked for, and kept while an env plays them or they are among the latest.
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

  // The base for no knobs. Throws Error for a name that is no <knob>, and for a value with which
  // observations, actions, rewards, terminations, vehicles or times would be others; WorldFileError for one
  // that the files cannot take. `poll` is called often and may throw.
  std::shared_ptr<const Task> get(const std::vector<Override>& knobs, const Poll& poll);

 private:
  std::shared_ptr<const Task> base_;
  EnvLoadOptions load_;
  std::list<std::shared_ptr<const Task>> made_;  // the latest asked for first
};

}  // namespace mvsim
