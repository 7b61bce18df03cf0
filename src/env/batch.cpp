// Making a Batch, and access to its results.
#include "env/batch.h"

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "env/batch_impl.h"
#include "env/compile_parts.h"
#include "env/env_archive.h"
#include "env/episode.h"

namespace mvsim {
namespace {

// Returns the options with num_envs set, computed from num_rows if that is given.
BatchOptions with_envs(BatchOptions options, const Task& task) {
  const auto agents = static_cast<int>(task.agents.size());
  if (options.num_rows == 0) return options;
  if (options.num_rows % agents != 0)
    throw Error("num_envs: found " + std::to_string(options.num_rows) + ", expected a multiple of " +
                std::to_string(agents) + ", the agents of a world: a row is an agent of a world");
  options.num_envs = options.num_rows / agents;
  return options;
}

// Refuses wrong options before anything is allocated.
const Task& checked(const Task& task, const BatchOptions& options) {
  check_memory(task, options.num_envs, options.load.memory_limit);
  return task;
}

}  // namespace

Batch::Impl::Impl(std::shared_ptr<const Task> compiled, const BatchOptions& batch_options)
    : task(std::move(compiled)),
      knob_tasks(task, batch_options.load),
      options(with_envs(batch_options, *task)),
      fingerprint(mvsim::fingerprint(*task)),
      infos(checked(*task, options), static_cast<size_t>(options.num_envs) * task->agents.size(),
            options.spl),
      pool(options.num_threads > 0 ? std::min(options.num_threads, options.num_envs)
                                   : default_threads(options.num_envs),
           options.pin) {
  const auto n = static_cast<size_t>(options.num_envs), rows = n * task->agents.size();
  tasks.assign(n, task);
  next_tasks = tasks;
  scratches.resize(static_cast<size_t>(pool.threads()));
  envs.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    if (options.load.poll) options.load.poll();
    envs.push_back(make_env(*task, i));
  }
  options.load.poll = {};  // not used after the load
  has_rest.assign(n, 0);
  due_drawings.assign(rows, DueDrawing::kNothing);
  for (const ActionComponent& c : task->agents.front().action_components) {
    action_low.push_back(c.low);
    action_high.push_back(c.high);
    action_names.push_back(c.name);
  }
  on_device = device_observations(*task, options.device);
  for (size_t k = 0; k < task->observation_specs.size(); ++k) {
    const ObservationSpec& spec = task->observation_specs[k];
    CudaDevice* const device = on_device.image(k) ? on_device.device.get() : nullptr;
    observations.emplace_back(spec, rows, device);
    final_observations.emplace_back(spec, options.autoreset == AutoresetMode::kSameStep ? rows : 0, device);
  }
  rewards.assign(rows, 0.0);
  for (auto* flags : {&terminated, &truncated, &finished, &was_reset, &live, &alive}) flags->assign(rows, 0);
  if (respawns(*task) && options.autoreset == AutoresetMode::kDisabled)
    throw Error(
        "on_end: 'respawn' resets agents by itself, expected the autoreset mode NextStep or SameStep");
  warnings = task->warnings;
  for (const auto& model : task->models)
    for (const std::string& w : model->warnings)
      if (std::find(warnings.begin(), warnings.end(), w) == warnings.end()) warnings.push_back(w);
}

Batch::Batch(const EnvSpec& spec, const BatchOptions& options) {
  const int count = options.num_rows != 0 ? options.num_rows : options.num_envs;
  if (count < 1) throw Error("num_envs: found " + std::to_string(count) + ", expected at least 1");
  if (options.num_threads < 0)
    throw Error("num_threads: found " + std::to_string(options.num_threads) + ", expected at least 0");
  const BatchOptions drawn = with_backend(options);
  impl_ = std::make_unique<Impl>(compile_task(spec, drawn.load), drawn);
}

Batch::Batch(std::shared_ptr<const Task> task, const BatchOptions& options)
    : impl_(std::make_unique<Impl>(std::move(task), options)) {}

Batch::~Batch() = default;

void Batch::seed_env(int env, uint64_t key) {
  EnvState& e = impl_->envs.at(static_cast<size_t>(env));
  e.key = key;
  e.next_episode = 0;
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
int Batch::num_agents() const {
  return static_cast<int>(impl_->task->agents.size());
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
  return impl_->action_low.size();
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
const std::vector<ObservationSpec>& Batch::observations() const {
  return impl_->task->observation_specs;
}
ObservationBuffer& Batch::observation_buffer(size_t key) {
  return impl_->observations.at(key);
}
ObservationBuffer& Batch::final_observation_buffer(size_t key) {
  return impl_->final_observations.at(key);
}
std::shared_ptr<const std::atomic<uint64_t>> Batch::device_moment() const {
  return impl_->device_moment;
}
std::span<double> Batch::rewards() {
  return impl_->rewards;
}
std::span<uint8_t> Batch::terminated() {
  return impl_->terminated;
}
void Batch::copy_observations(std::span<const std::pair<size_t, std::byte*>> to) {
  const Busy busy(impl_->busy);
  const size_t agents = impl_->task->agents.size();
  impl_->pool.run(
      impl_->options.num_envs,
      [&](int begin, int end, int) {
        for (const auto& [key, out] : to) {
          const ObservationBuffer& from = impl_->observations.at(key);
          const size_t first = static_cast<size_t>(begin) * agents * from.row_bytes(),
                       last = static_cast<size_t>(end) * agents * from.row_bytes();
          std::memcpy(out + first, from.row(0) + first, last - first);
        }
      },
      [] {});
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
std::span<uint8_t> Batch::alive() {
  return impl_->alive;
}
const std::vector<InfoColumn>& Batch::infos() const {
  return impl_->infos.columns();
}
bool Batch::has_infos() const {
  return impl_->infos.any();
}

void Batch::report_cut(int env) {
  const Busy busy(impl_->busy);
  impl_->check_env(env);
  const EnvState& state = impl_->envs[static_cast<size_t>(env)];
  if (state.finished) return;
  for (size_t a = 0; a < state.agents.size(); ++a)
    if (state.agents[a].end == EpisodeEnd::kNone)
      impl_->infos.set_cut(impl_->task_of(env), state, a, impl_->row_of(env, a));
}

const Simulation& Batch::simulation(int env) const {
  return impl_->envs.at(static_cast<size_t>(env)).simulation;
}
std::shared_ptr<const Model> Batch::model(int env) const {
  return impl_->tasks.at(static_cast<size_t>(env))->models[impl_->envs[static_cast<size_t>(env)].variant];
}
const std::vector<std::shared_ptr<const Model>>& Batch::models(int env) const {
  return impl_->tasks.at(static_cast<size_t>(env))->models;
}
std::vector<Vec2> Batch::path(int env, size_t agent, double spacing, size_t most) const {
  const AgentState& state = impl_->envs.at(static_cast<size_t>(env)).agents.at(agent);
  Vec2 at{state.now.pose.x, state.now.pose.y};
  if (!state.field || !state.field->reaches(at)) return {};
  std::vector<Vec2> points{at};
  while (points.size() < most && (at.x != state.goal.x || at.y != state.goal.y)) {
    const Vec2 next = state.field->point_ahead(at, spacing);
    if (next.x == at.x && next.y == at.y) break;
    points.push_back(at = next);
  }
  return points;
}
size_t Batch::vehicle(size_t agent) const {
  return impl_->task->agents.at(agent).vehicle;
}
double Batch::goal_radius(size_t agent) const {
  return impl_->task->agents.at(agent).goal_radius;
}
std::optional<Vec2> Batch::goal(int env, size_t agent) const {
  if (!impl_->task->agents.at(agent).start_and_goal.has_goal()) return std::nullopt;
  return impl_->envs.at(static_cast<size_t>(env)).agents[agent].goal;
}
uint32_t Batch::episode(int env) const {
  return impl_->envs.at(static_cast<size_t>(env)).simulation.state().episode;
}

}  // namespace mvsim
