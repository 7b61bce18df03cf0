// Reading and changing the envs of a Batch between steps.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "batch/batch.h"
#include "episode/episode.h"
#include "episode/quantities.h"
#include "model/transfer_params.h"
#include "sim/place.h"

namespace mvsim {
namespace {

std::string of_env(int i, const std::string& text) {
  return "environment " + std::to_string(i) + ": " + text;
}

// Calls work(env), and adds the index of the env to its errors.
template <typename Work>
auto in_env(int i, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(of_env(i, error.what()));
  }
}

// The items of a name in each of some envs, resolved once for each world.
class NameInEnvs {
 public:
  NameInEnvs(const std::string& name, int first_env) : name_(name), first_env_(first_env) {}

  const QuantityList& of(const Task& task, const EnvState& env, int i) {
    const Model* const model = &env.simulation.model();
    if (model == model_) return list_;
    QuantityList found = in_env(i, [&] { return find_quantities(task, env, name_); });
    if (model_ && (found.items.size() != list_.items.size() || found.size != list_.size))
      throw Error(of_env(i, "'" + name_ + "' matches " + std::to_string(found.items.size()) + " items, but " +
                                std::to_string(list_.items.size()) + " in environment " +
                                std::to_string(first_env_) +
                                ", expected envs with as many (the argument `envs` chooses)"));
    list_ = std::move(found);
    model_ = model;
    return list_;
  }
  const QuantityList& latest() const { return list_; }
  size_t count() const { return list_.items.size() * list_.size; }

 private:
  const std::string& name_;
  int first_env_;
  const Model* model_ = nullptr;
  QuantityList list_;
};

void check_count(size_t found, size_t expected) {
  if (found != expected)
    throw Error("found " + std::to_string(found) + " values, expected " + std::to_string(expected));
}

}  // namespace

void Batch::check_running(int i) const {
  const EnvState& env = envs_[static_cast<size_t>(i)];
  if (!env.started || env.finished)
    throw Error(of_env(i, std::string(env.started ? "its episode has ended" : "it was never reset") +
                              ", expected a running episode (the argument `envs` chooses)"));
}

void Batch::check_starts(std::span<const uint8_t> mask, std::span<const GivenStart> starts) const {
  if (starts.empty()) return;
  const size_t agents = task_->agents.size();
  check_count(starts.size(), envs_.size() * agents);
  for (size_t k = 0; k < starts.size(); ++k) {
    const size_t i = k / agents;
    if (!mask.empty() && mask[i] == 0) continue;
    const Model& model = *next_tasks_[i]->models.front();
    const AgentTask& agent = task_->agents[k % agents];
    const std::string whose = agents == 1 ? "" : " of '" + model.vehicles[agent.vehicle].name + "'";
    in_env(static_cast<int>(i), [&] {
      if (starts[k].pose) check_pose(model, *starts[k].pose, "pose" + whose);
      if (!starts[k].goal) return;
      if (!agent.start_and_goal.has_goal())
        throw Error("goal" + whose + ": this environment has none, expected no such option");
      check_pose(model, {starts[k].goal->x, starts[k].goal->y, 0}, "goal" + whose);
    });
  }
}

std::vector<std::string> Batch::names(int env) const {
  check_env(env);
  return quantity_names(task_of(env), envs_[static_cast<size_t>(env)]);
}

std::vector<Batch::MovedBody> Batch::bodies() const {
  std::vector<MovedBody> out;
  const Movers* const movers = task_->movers.get();
  if (!movers) return out;
  for (const Movers::Body& body : movers->bodies()) {
    const Movers::Group& group = movers->group_of(body);
    out.push_back({body.name, group.term.name, group.name});
  }
  return out;
}

Batch::Reading Batch::read_agents(std::span<const int> which, const std::string& name, size_t agents) const {
  Reading out;
  NameInEnvs names(name, which.empty() ? 0 : which[0]);
  for (const int i : which) {
    check_env(i);
    const EnvState& env = envs_[static_cast<size_t>(i)];
    const QuantityList& list = names.of(task_of(i), env, i);
    if (!env.started && list.items[0].quantity) check_running(i);
    for (size_t agent = 0; agent < agents; ++agent) {
      const size_t at = out.values.size();
      out.values.resize(at + names.count());
      read_quantities(task_of(i), env, list, std::span(out.values).subspan(at), agent);
    }
  }
  const QuantityList& list = names.latest();
  if (list.is_pattern) out.shape.push_back(list.items.size());
  if (!list.is_scalar) out.shape.push_back(list.size);
  return out;
}

Batch::Reading Batch::read(std::span<const int> envs, const std::string& name) const {
  std::optional<Busy> busy;
  if (!is_callers_turn()) busy.emplace(busy_);
  return read_agents(envs, name, 1);
}

Batch::Reading Batch::read_rows(const std::string& name) const {
  std::optional<Busy> busy;
  if (!is_callers_turn()) busy.emplace(busy_);
  std::vector<int> all(envs_.size());
  std::iota(all.begin(), all.end(), 0);
  return read_agents(all, name, task_->agents.size());
}

void Batch::write(std::span<const int> envs, const std::string& name, std::span<const double> values) {
  const Busy busy(busy_);
  NameInEnvs names(name, envs.empty() ? 0 : envs[0]);
  const auto for_envs = [&](const auto& work) {
    for (size_t k = 0; k < envs.size(); ++k) {
      const int i = envs[k];
      EnvState& env = envs_[static_cast<size_t>(i)];
      const QuantityList& list = names.of(task_of(i), env, i);
      check_count(values.size(), envs.size() * names.count());
      in_env(i, [&] { work(task_of(i), env, list, values.subspan(k * names.count(), names.count())); });
    }
  };
  for (const int i : envs) {
    check_env(i);
    check_running(i);
  }
  for_envs([](const Task& task, EnvState& env, const QuantityList& list, std::span<const double> own) {
    check_quantities(task, env, list, own);
  });
  for_envs([](const Task& task, EnvState& env, const QuantityList& list, std::span<const double> own) {
    write_quantities(task, env, list, own);
  });
}

void Batch::hold(std::span<const int> envs, const std::string& pattern, std::span<const double> values) {
  const Busy busy(busy_);
  check_count(values.size(), envs.size());
  for (size_t k = 0; k < envs.size(); ++k) {
    check_env(envs[k]);
    const Model& model = envs_[static_cast<size_t>(envs[k])].simulation.model();
    in_env(envs[k], [&] {
      for (const size_t i : settable_params(model, pattern))
        static_cast<void>(stored_value(model.params[i], values[k]));
    });
  }
  for (size_t k = 0; k < envs.size(); ++k) {
    EnvState& env = envs_[static_cast<size_t>(envs[k])];
    std::erase_if(env.held, [&](const HeldParam& held) { return held.pattern == pattern; });
    env.held.push_back({pattern, values[k]});
    apply_held(env);
    if (env.started && !env.finished) measure_again(task_of(envs[k]), env);
  }
}

void Batch::release(std::span<const int> envs) {
  const Busy busy(busy_);
  for (const int i : envs) check_env(i);
  for (const int i : envs) envs_[static_cast<size_t>(i)].held.clear();
}

void Batch::set_knobs(std::span<const int> envs, const std::vector<Override>& knobs,
                      const std::function<void()>& poll) {
  const Busy busy(busy_);
  for (const int i : envs) check_env(i);
  const std::shared_ptr<const Task> task = knob_tasks_.get(knobs, poll);
  for (const int i : envs) next_tasks_[static_cast<size_t>(i)] = task;
}

const std::vector<Override>& Batch::knobs(int env) const {
  check_env(env);
  return next_tasks_[static_cast<size_t>(env)]->knobs;
}

double Batch::choice_value(const std::string& pattern, const std::string& name) const {
  return mvsim::choice_value(*task_->models.front(), pattern, name);
}

void Batch::add_rewards(std::span<const double> values, std::span<double> sums) {
  check_count(values.size(), rewards_.size());
  check_count(sums.size(), rewards_.size());
  for (size_t row = 0; row < values.size(); ++row)
    if (live_[row] != 0 && !std::isfinite(values[row]))
      throw Error(of_env(static_cast<int>(row / task_->agents.size()),
                         "found " + std::to_string(values[row]) + ", expected a finite number"));
  for (size_t row = 0; row < values.size(); ++row)
    if (live_[row] != 0 &&
        !(std::isfinite(rewards_[row] + values[row]) && std::isfinite(sums[row] + values[row])))
      throw Error(of_env(static_cast<int>(row / task_->agents.size()),
                         "the sum of its rewards overflows float64, expected smaller values"));
  for (size_t row = 0; row < values.size(); ++row) {
    if (live_[row] == 0) continue;
    rewards_[row] += values[row];
    sums[row] += values[row];
  }
}

std::span<uint8_t> Batch::live() {
  return live_;
}

std::vector<uint8_t> Batch::waiting() const {
  std::vector<uint8_t> out;
  for (const EnvState& env : envs_)
    for (const AgentState& agent : env.agents) out.push_back(agent.waits ? 1 : 0);
  return out;
}

std::vector<double> Batch::draw(uint32_t stream, size_t count, bool normal) const {
  std::vector<double> out;
  out.reserve(rewards_.size() * count);
  for (const EnvState& env : envs_) {
    const uint64_t key =
        env.key + kStepKeys * (static_cast<uint64_t>(env.steps) + 1) + (uint64_t{stream} << 32);
    for (size_t a = 0; a < env.agents.size(); ++a) {
      RandomStream random(key, env.simulation.state().episode, StreamPurpose::kObservationNoise,
                          static_cast<uint16_t>(a));
      for (size_t k = 0; k < count; ++k) out.push_back(normal ? random.normal() : random.uniform());
    }
  }
  return out;
}

}  // namespace mvsim
