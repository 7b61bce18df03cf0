// The infos of a batch: a fixed set of columns with a value and a mask for each row (env x agent).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "task/task.h"

namespace mvsim {

enum class InfoType { kBool, kInt, kNumber };

// One info key for all rows: `mask[i]` says whether row i has it in this step.
struct InfoColumn {
  std::string key;
  InfoType type;
  std::vector<double> values;
  std::vector<uint8_t> mask;
};

// The rows of two workers may lie in one cache line: it is written only where something changes, so that both
// keep it.
inline void update(uint8_t& flag, bool value) {
  if ((flag != 0) != value) flag = value;
}

class RowInfos {
 public:
  RowInfos(const Task& task, size_t rows, bool spl);

  const std::vector<InfoColumn>& columns() const { return columns_; }
  void clear();
  void clear(size_t row);
  void set_bad_actions(size_t row, int count) { set(kBadAction, row, count); }
  // All that is said of an episode that has ended, of agent `index` of the env. `poll` is called often while
  // a path is planned for SPL, and may throw.
  void set_end(const Task& task, const EnvState& env, size_t index, size_t row, const Poll& poll = {});
  // The same of an episode that something outside of the batch ends here, as a time limit would.
  void set_cut(const Task& task, const EnvState& env, size_t index, size_t row);
  // Whether any row has an info.
  bool any() const;
  // Takes over values and masks of the infos of the same task.
  void copy(const RowInfos& other) { columns_ = other.columns_; }

 private:
  enum Column { kSuccess, kCollision, kTimeout, kDiverged, kTime, kPathLength, kMinClearance, kBadAction };

  size_t column(const std::string& key, InfoType type, size_t rows);
  void set(size_t column, size_t row, double value);

  std::vector<InfoColumn> columns_;
  std::vector<std::vector<size_t>> rewards_, terminations_;  // columns, by agent and term
  size_t contacts_ = 0;  // first of a column for each kind of contact, where there are several agents
  size_t trackers_ = 0;  // first of a column for each info of the trackers
  bool spl_;
  size_t spl_column_ = 0;  // spl, then optimal_length
};

}  // namespace mvsim
