// What an episode's end has to say: the columns of Batch::infos().
#include <algorithm>

#include "env/batch_impl.h"

namespace mvsim {

void Batch::Impl::add_infos() {
  const auto add = [&](const std::string& key, InfoType type) {
    infos.push_back({key, type, std::vector<double>(envs.size(), 0.0), std::vector<uint8_t>(envs.size(), 0)});
  };
  for (const char* key : {"success", "collision", "timeout", "diverged"}) add(key, InfoType::kBool);
  for (const char* key : {"time", "path_length", "min_clearance"}) add(key, InfoType::kNumber);
  add("bad_action", InfoType::kInt);
  for (const WeightedReward& r : task->rewards) add("reward/" + r.name, InfoType::kNumber);
  termination_column = infos.size();
  for (const TermSpec& t : task->spec.terminations) add("terminated/" + t.name, InfoType::kBool);
  spl_column = infos.size();
  if (options.spl) {
    add("spl", InfoType::kNumber);
    add("optimal_length", InfoType::kNumber);
  }
}

void Batch::Impl::set_info(size_t column, int i, double value) {
  infos[column].values[i] = value;
  infos[column].mask[i] = 1;
}

void Batch::Impl::tell_end(int i, bool timeout) {
  const EnvState& env = envs[i];
  set_info(kSuccess, i, env.success);
  set_info(kCollision, i, env.now.collided);
  set_info(kTimeout, i, timeout);
  set_info(kDiverged, i, env.diverged);
  set_info(kTime, i, env.steps * task->control_period);
  set_info(kPathLength, i, env.path_length);
  set_info(kMinClearance, i, env.min_clearance);
  set_info(kBadAction, i, env.bad_actions);
  for (size_t k = 0; k < env.reward_sums.size(); ++k) set_info(kRewards + k, i, env.reward_sums[k]);
  for (size_t k = 0; k < task->terminations.size(); ++k)
    set_info(termination_column + k, i, !env.diverged && task->terminations[k]->holds(env));
  if (!options.spl) return;
  double spl = 0;
  if (env.success) {
    const double optimal = optimal_length(*task, env);
    set_info(spl_column + 1, i, optimal);
    const double longer = std::max(optimal, env.path_length);
    spl = longer > 0 ? optimal / longer : 1;
  }
  set_info(spl_column, i, spl);
}

void Batch::tell_cut(int env) {
  const Busy busy(impl_->busy);
  impl_->check_env(env);
  if (!impl_->envs[static_cast<size_t>(env)].finished) impl_->tell_end(env, true);
}

const std::vector<InfoColumn>& Batch::infos() const {
  return impl_->infos;
}

bool Batch::has_infos() const {
  // an episode's end tells it too
  const std::vector<uint8_t>& mask = impl_->infos[kBadAction].mask;
  return std::find(mask.begin(), mask.end(), 1) != mask.end();
}

}  // namespace mvsim
