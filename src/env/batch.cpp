#include "env/batch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>

#include "base/file.h"
#include "env/batch_impl.h"
#include "env/check_memory.h"
#include "env/env_archive.h"

namespace mvsim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollEvery = std::chrono::milliseconds(20);
constexpr int kSubstepsPerLook = 16;  // at the clock, which costs as much as a tenth of a substep

// Ends the start of an episode when the caller was told to stop.
struct StoppedReset {};

// Asks the caller now and then whether to stop, on the caller's thread only.
class StopSignal {
 public:
  explicit StopSignal(const Batch::ShouldStop& should_stop) : should_stop_(should_stop) {}

  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // On the caller's thread.
  void poll() {
    if (!should_stop_ || stopped()) return;
    const Clock::time_point now = Clock::now();
    if (now - last_ < kPollEvery) return;
    last_ = now;
    try {
      if (should_stop_()) stopped_ = true;
    } catch (...) {
      error_ = std::current_exception();
      stopped_ = true;
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
    if (stopped()) throw Interrupted("interrupted: some environments stand within a control period");
  }

 private:
  const Batch::ShouldStop& should_stop_;
  Clock::time_point last_ = Clock::now();
  std::atomic<bool> stopped_{false};
  std::exception_ptr error_;
};

// The error of the env with the smallest index: the same one whatever the threads do.
class FirstError {
 public:
  void add(int env, const char* text) {
    const std::lock_guard lock(mutex_);
    if (env_ >= 0 && env_ < env) return;
    env_ = env;
    text_ = text;
  }
  void rethrow() const {
    if (env_ >= 0) throw Error("environment " + std::to_string(env_) + ": " + text_);
  }

 private:
  std::mutex mutex_;
  int env_ = -1;
  std::string text_;
};

enum InfoIndex {
  kSuccess,
  kCollision,
  kTimeout,
  kDiverged,
  kTime,
  kPathLength,
  kMinClearance,
  kBadAction,
  kRewards
};

}  // namespace

Batch::Impl::Impl(std::shared_ptr<const Task> compiled, const BatchOptions& batch_options)
    : task(std::move(compiled)),
      options(batch_options),
      fingerprint(mvsim::fingerprint(*task)),
      pool(options.num_threads > 0 ? std::min(options.num_threads, options.num_envs)
                                   : default_threads(options.num_envs),
           options.pin) {
  check_memory(*task, options.num_envs, options.load.memory_limit);
  const auto n = static_cast<size_t>(options.num_envs);
  scratches.resize(static_cast<size_t>(pool.threads()));
  envs.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    if (options.load.poll) options.load.poll();
    envs.push_back(make_env(*task, i));
  }
  options.load.poll = {};  // the load is over
  warnings = task->warnings;
  for (const ActionComponent& c : task->action_components) {
    action_low.push_back(c.low);
    action_high.push_back(c.high);
    action_names.push_back(c.name);
  }
  for (const ObservationInfo& info : task->observation_infos) {
    observations.emplace_back(n * info.low.size(), 0.0f);
    final_observations.emplace_back(options.autoreset == AutoresetMode::kSameStep ? n * info.low.size() : 0,
                                    0.0f);
  }
  rewards.assign(n, 0.0);
  for (auto* flags : {&terminated, &truncated, &finished, &was_reset}) flags->assign(n, 0);
  const auto add_info = [&](const std::string& key, InfoType type) {
    infos.push_back({key, type, std::vector<double>(n, 0.0), std::vector<uint8_t>(n, 0)});
  };
  for (const char* key : {"success", "collision", "timeout", "diverged"}) add_info(key, InfoType::kBool);
  for (const char* key : {"time", "path_length", "min_clearance"}) add_info(key, InfoType::kNumber);
  add_info("bad_action", InfoType::kInt);
  for (const WeightedReward& r : task->rewards) add_info("reward/" + r.name, InfoType::kNumber);
  termination_column = infos.size();
  for (const TermSpec& t : task->spec.terminations) add_info("terminated/" + t.name, InfoType::kBool);
  spl_column = infos.size();
  if (options.spl) {
    add_info("spl", InfoType::kNumber);
    add_info("optimal_length", InfoType::kNumber);
  }
  for (const auto& model : task->models)
    for (const std::string& w : model->warnings)
      if (std::find(warnings.begin(), warnings.end(), w) == warnings.end()) warnings.push_back(w);
}

void Batch::Impl::set_info(size_t column, int i, double value) {
  infos[column].values[i] = value;
  infos[column].mask[i] = 1;
}

void Batch::Impl::clear_results(int i) {
  rewards[i] = 0;
  terminated[i] = truncated[i] = finished[i] = was_reset[i] = 0;
  for (InfoColumn& c : infos) c.mask[i] = 0;
}

void Batch::Impl::observe(int i, bool first, Scratch& scratch) {
  for (size_t k = 0; k < task->observations.size(); ++k) {
    const size_t size = task->observation_infos[k].low.size();
    write_observation(task->observations[k], envs[i], first, scratch, observations[k].data() + i * size);
  }
}

void Batch::Impl::start(int i, const std::function<bool()>& keep_going, Scratch& scratch) {
  start_episode(*task, envs[i], [&] {
    if (!keep_going()) throw StoppedReset();
  });
  was_reset[i] = 1;
  observe(i, true, scratch);
}

// Takes over the action clipped to [-1, 1]; one that is not finite counts as zero as a whole.
bool Batch::Impl::read_action(int i, const float* actions) {
  EnvState& env = envs[i];
  std::swap(env.previous_action, env.action);
  const size_t n = env.action.size();
  const float* row = actions + static_cast<size_t>(i) * n;
  bool good = true;
  for (size_t k = 0; k < n; ++k) good = good && std::isfinite(row[k]);
  for (size_t k = 0; k < n; ++k)
    env.action[k] = good ? std::clamp(static_cast<double>(row[k]), -1.0, 1.0) : 0.0;
  return good;
}

void Batch::Impl::advance(int i, const float* actions, const std::function<bool()>& keep_going,
                          Scratch& scratch) {
  EnvState& env = envs[i];
  clear_results(i);
  if (env.finished) {  // kNextStep: the action is ignored
    start(i, keep_going, scratch);
    return;
  }
  if (!read_action(i, actions)) set_info(kBadAction, i, ++env.bad_actions);
  const bool whole = step_period(*task, env, keep_going, rewards[i]);
  if (!logs.empty()) logs[static_cast<size_t>(i)]->flush();
  if (!whole) return;
  if (!env.diverged) observe(i, false, scratch);
  if (env.end != EpisodeEnd::kNone) {
    finish(i);
    if (options.autoreset != AutoresetMode::kSameStep) return;
    for (size_t k = 0; k < observations.size(); ++k) {
      const size_t size = task->observation_infos[k].low.size();
      const auto row = observations[k].begin() + static_cast<std::ptrdiff_t>(i * size);
      std::copy(row, row + static_cast<std::ptrdiff_t>(size),
                final_observations[k].begin() + static_cast<std::ptrdiff_t>(i * size));
    }
    start(i, keep_going, scratch);
  }
}

void Batch::Impl::finish(int i) {
  EnvState& env = envs[i];
  env.finished = true;
  finished[i] = 1;
  terminated[i] = env.end == EpisodeEnd::kTerminated;
  truncated[i] = env.end == EpisodeEnd::kTruncated;
  set_info(kSuccess, i, env.success);
  set_info(kCollision, i, env.now.collided);
  set_info(kTimeout, i, truncated[i] && !env.diverged);
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

void Batch::Impl::for_envs(const ShouldStop& should_stop,
                           const std::function<void(int, const std::function<bool()>&, Scratch&)>& work) {
  StopSignal stop(should_stop);
  FirstError error;
  const WorkerPool::Work chunk = [&](int begin, int end, int worker) {
    const bool on_caller = worker == 0;
    Scratch& scratch = scratches[static_cast<size_t>(worker)];
    int substeps = 0;
    const std::function<bool()> keep_going = [&] {
      if (on_caller && ++substeps % kSubstepsPerLook == 0) stop.poll();
      return !stop.stopped();
    };
    for (int i = begin; i < end && !stop.stopped(); ++i) {
      try {
        work(i, keep_going, scratch);
      } catch (const StoppedReset&) {
        envs[static_cast<size_t>(i)].finished = true;
      } catch (const std::exception& e) {
        envs[static_cast<size_t>(i)].finished = true;
        error.add(i, e.what());
      } catch (...) {
        envs[static_cast<size_t>(i)].finished = true;
        error.add(i, "unknown error");
      }
      if (on_caller) stop.poll();
    }
  };
  pool.run(options.num_envs, chunk, [&] { stop.poll(); });
  stop.rethrow();
  error.rethrow();
}

void Batch::Impl::check_actions(std::span<const float> actions) const {
  const size_t n = task->action_components.size();
  if (actions.size() != n * envs.size())
    throw Error("actions: found " + std::to_string(actions.size()) + " values, expected " +
                std::to_string(envs.size()) + " x " + std::to_string(n));
  for (size_t i = 0; i < envs.size(); ++i) {
    if (!envs[i].started) throw Error("environment " + std::to_string(i) + ": step() before reset()");
    if (envs[i].finished && options.autoreset == AutoresetMode::kDisabled)
      throw Error("environment " + std::to_string(i) +
                  ": its episode has ended, expected a reset before the next step");
  }
  if (!options.strict_actions) return;
  for (size_t i = 0; i < actions.size(); ++i)
    if (!std::isfinite(actions[i]))
      throw Error("environment " + std::to_string(i / n) + ": the action is not finite");
}

Batch::Batch(const EnvSpec& spec, const BatchOptions& options) {
  if (options.num_envs < 1)
    throw Error("num_envs: found " + std::to_string(options.num_envs) + ", expected at least 1");
  if (options.num_threads < 0)
    throw Error("num_threads: found " + std::to_string(options.num_threads) + ", expected at least 0");
  impl_ = std::make_unique<Impl>(compile_task(spec, options.load), options);
}

Batch::Batch(std::shared_ptr<const Task> task, const BatchOptions& options)
    : impl_(std::make_unique<Impl>(std::move(task), options)) {}

Batch::~Batch() = default;

void Batch::seed_env(int env, uint64_t key) {
  EnvState& e = impl_->envs.at(static_cast<size_t>(env));
  e.key = key;
  e.next_episode = 0;
}

void Batch::reset(std::span<const uint8_t> mask, const ShouldStop& should_stop) {
  const Busy busy(impl_->busy);
  Impl& m = *impl_;
  if (!mask.empty() && mask.size() != m.envs.size())
    throw Error("reset mask: found " + std::to_string(mask.size()) + " values, expected " +
                std::to_string(m.envs.size()));
  for (InfoColumn& c : m.infos) std::fill(c.mask.begin(), c.mask.end(), uint8_t{0});
  std::fill(m.was_reset.begin(), m.was_reset.end(), uint8_t{0});
  m.for_envs(should_stop, [&](int i, const std::function<bool()>& keep_going, Scratch& scratch) {
    if (!mask.empty() && mask[static_cast<size_t>(i)] == 0) return;
    m.clear_results(i);
    m.start(i, keep_going, scratch);
  });
}

void Batch::step(std::span<const float> actions, const ShouldStop& should_stop) {
  const Busy busy(impl_->busy);
  Impl& m = *impl_;
  m.check_actions(actions);
  m.for_envs(should_stop, [&](int i, const std::function<bool()>& keep_going, Scratch& scratch) {
    m.advance(i, actions.data(), keep_going, scratch);
  });
}

void Batch::log_to(const std::string& folder) {
  Impl& m = *impl_;
  const Busy busy(m.busy);
  m.logs.clear();
  for (size_t i = 0; i < m.envs.size(); ++i) {
    const std::string own = m.envs.size() == 1 ? folder : join_path(folder, "env_" + std::to_string(i));
    m.logs.push_back(std::make_unique<VehicleLog>(m.envs[i].simulation, own));
  }
}

void Batch::stop_threads() {
  if (impl_->busy.test_and_set()) return;
  impl_->pool.stop();
  impl_->busy.clear();
}

const EnvSpec& Batch::spec() const {
  return impl_->task->spec;
}
const std::vector<std::string>& Batch::warnings() const {
  return impl_->warnings;
}
int Batch::num_envs() const {
  return impl_->options.num_envs;
}
int Batch::num_threads() const {
  return impl_->pool.threads();
}
double Batch::control_period() const {
  return impl_->task->control_period;
}
AutoresetMode Batch::autoreset() const {
  return impl_->options.autoreset;
}
size_t Batch::action_size() const {
  return impl_->task->action_components.size();
}
const std::vector<double>& Batch::action_low() const {
  return impl_->action_low;
}
const std::vector<double>& Batch::action_high() const {
  return impl_->action_high;
}
const std::vector<std::string>& Batch::action_names() const {
  return impl_->action_names;
}
const std::vector<ObservationInfo>& Batch::observations() const {
  return impl_->task->observation_infos;
}
std::span<float> Batch::observation(size_t key) {
  return impl_->observations.at(key);
}
std::span<float> Batch::final_observation(size_t key) {
  return impl_->final_observations.at(key);
}
std::span<double> Batch::rewards() {
  return impl_->rewards;
}
std::span<uint8_t> Batch::terminated() {
  return impl_->terminated;
}
std::span<uint8_t> Batch::truncated() {
  return impl_->truncated;
}
std::span<uint8_t> Batch::finished() {
  return impl_->finished;
}
std::span<uint8_t> Batch::was_reset() {
  return impl_->was_reset;
}
const std::vector<InfoColumn>& Batch::infos() const {
  return impl_->infos;
}
bool Batch::has_infos() const {
  // an episode's end tells it too
  const std::vector<uint8_t>& mask = impl_->infos[kBadAction].mask;
  return std::find(mask.begin(), mask.end(), 1) != mask.end();
}

const Simulation& Batch::simulation(int env) const {
  return impl_->envs.at(static_cast<size_t>(env)).simulation;
}
std::shared_ptr<const Model> Batch::model(int env) const {
  return impl_->task->models[impl_->envs.at(static_cast<size_t>(env)).variant];
}
size_t Batch::vehicle() const {
  return impl_->task->vehicle;
}
double Batch::goal_radius() const {
  return impl_->task->goal_radius;
}
std::optional<Vec2> Batch::goal(int env) const {
  if (!impl_->task->start_and_goal.has_goal()) return std::nullopt;
  return impl_->envs.at(static_cast<size_t>(env)).goal;
}
uint32_t Batch::episode(int env) const {
  return impl_->envs.at(static_cast<size_t>(env)).simulation.episode();
}

}  // namespace mvsim
