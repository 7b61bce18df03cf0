#include "batch/row_infos.h"

#include <algorithm>
#include <array>

#include "episode/episode.h"
#include "task/move/movers.h"
#include "task/terms.h"

namespace mvsim {

RowInfos::RowInfos(const Task& task, size_t rows, bool spl) : spl_(spl) {
  for (const char* key : {"success", "collision", "timeout", "diverged"}) column(key, InfoType::kBool, rows);
  for (const char* key : {"time", "path_length", "min_clearance"}) column(key, InfoType::kNumber, rows);
  column("bad_action", InfoType::kInt, rows);
  for (const AgentTask& agent : task.agents) {
    std::vector<size_t>& columns = rewards_.emplace_back();
    for (const WeightedReward& r : agent.rewards)
      columns.push_back(column("reward/" + r.name, InfoType::kNumber, rows));
  }
  for (const AgentTask& agent : task.agents) {
    std::vector<size_t>& columns = terminations_.emplace_back();
    for (const std::string& name : agent.termination_names)
      columns.push_back(column("terminated/" + name, InfoType::kBool, rows));
  }
  if (task.agents.size() > 1 || may_have_people(task.spec, *task.models.front())) {
    contacts_ = columns_.size();
    for (const ContactKind& kind : kContactKinds)
      column("collision/" + std::string(kind.name), InfoType::kBool, rows);
  }
  trackers_ = columns_.size();
  for (const auto& tracker : task.trackers)
    for (const std::string& name : tracker->infos()) column(name, InfoType::kNumber, rows);
  if (!spl) return;
  spl_column_ = column("spl", InfoType::kNumber, rows);
  column("optimal_length", InfoType::kNumber, rows);
}

// Returns the column of a key. Terms with the same name of several agents share it.
size_t RowInfos::column(const std::string& key, InfoType type, size_t rows) {
  for (size_t k = 0; k < columns_.size(); ++k)
    if (columns_[k].key == key) return k;
  columns_.push_back({key, type, std::vector<double>(rows, 0.0), std::vector<uint8_t>(rows, 0)});
  return columns_.size() - 1;
}

void RowInfos::set(size_t column, size_t row, double value) {
  columns_[column].values[row] = value;
  columns_[column].mask[row] = 1;
}

void RowInfos::clear() {
  for (InfoColumn& c : columns_) std::fill(c.mask.begin(), c.mask.end(), uint8_t{0});
}

void RowInfos::clear(size_t row) {
  if (columns_[kBadAction].mask[row] == 0) return;  // every info of a row sets this column too
  for (InfoColumn& c : columns_) update(c.mask[row], false);
}

void RowInfos::set_end(const Task& task, const EnvState& env, size_t index, size_t row, const Poll& poll) {
  const AgentTask& agent_task = task.agents[index];
  const AgentState& agent = env.agents[index];
  set(kSuccess, row, agent.success);
  set(kCollision, row, agent.now.collided());
  const bool timeout = task.max_steps > 0 && env.steps >= task.max_steps;
  set(kTimeout, row, agent.end == EpisodeEnd::kTruncated && timeout && !env.diverged);
  set(kDiverged, row, env.diverged);
  set(kTime, row, env.steps * task.control_period);
  set(kPathLength, row, agent.path_length);
  set(kMinClearance, row, agent.min_clearance);
  set(kBadAction, row, agent.bad_actions);
  for (size_t k = 0; k < agent.reward_sums.size(); ++k) set(rewards_[index][k], row, agent.reward_sums[k]);
  for (size_t k = 0; k < terminations_[index].size(); ++k)
    set(terminations_[index][k], row, !env.diverged && agent_task.terminations[k]->holds(env, agent));
  for (size_t k = 0; contacts_ > 0 && k < kContactKinds.size(); ++k)
    set(contacts_ + k, row, (agent.now.contacts & kContactKinds[k].bit) != 0);
  for (const auto& tracker : task.trackers) {
    std::array<double, Tracker::kMostInfos> values;
    const size_t count = tracker->write_infos(env, agent, values.data());
    if (count == 0) continue;
    // an env with other knobs may have a tracker without columns in the batch
    const auto first =
        std::find_if(columns_.begin() + static_cast<std::ptrdiff_t>(trackers_), columns_.end(),
                     [name = tracker->infos().front()](const InfoColumn& c) { return c.key == name; });
    if (first == columns_.end()) continue;
    for (size_t k = 0; k < count; ++k) set(static_cast<size_t>(first - columns_.begin()) + k, row, values[k]);
  }
  if (!spl_) return;
  double spl = 0;
  if (agent.success) {
    const double optimal = optimal_length(agent_task, env, agent, poll);
    set(spl_column_ + 1, row, optimal);
    const double longer = std::max(optimal, agent.path_length);
    spl = longer > 0 ? optimal / longer : 1;
  }
  set(spl_column_, row, spl);
}

void RowInfos::set_cut(const Task& task, const EnvState& env, size_t index, size_t row) {
  set_end(task, env, index, row);
  set(kTimeout, row, 1);
}

bool RowInfos::any() const {
  // infos of an episode's end set it too
  const std::vector<uint8_t>& mask = columns_[kBadAction].mask;
  return std::find(mask.begin(), mask.end(), 1) != mask.end();
}

}  // namespace mvsim
