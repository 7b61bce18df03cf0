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

// Writes a flag only if it changes. Rows of two workers may share a cache line, and this keeps it in both
// caches.
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
  // Sets all infos of an episode that has ended, for agent `index` of the env. `poll` is called often while a
  // path is planned for SPL, and may throw.
  void set_end(const Task& task, const EnvState& env, size_t index, size_t row, const Poll& poll = {});
  // The same for an episode that is ended from outside of the batch, like by a time limit.
  void set_cut(const Task& task, const EnvState& env, size_t index, size_t row);
  // Whether any row has an info.
  bool any() const;
  // Copies values and masks from infos of the same task.
  void copy(const RowInfos& other) { columns_ = other.columns_; }

 private:
  enum Column { kSuccess, kCollision, kTimeout, kDiverged, kTime, kPathLength, kMinClearance, kBadAction };

  size_t column(const std::string& key, InfoType type, size_t rows);
  void set(size_t column, size_t row, double value);

  std::vector<InfoColumn> columns_;
  std::vector<std::vector<size_t>> rewards_, terminations_;  // columns, by agent and term
  size_t contacts_ = 0;  // first of the columns of kinds of contact, if there are several agents
  size_t trackers_ = 0;  // first of the columns of the trackers' infos
  bool spl_;
  size_t spl_column_ = 0;  // column of spl, followed by optimal_length
};

}  // namespace mvsim
