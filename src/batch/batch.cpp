// Making a Batch, and access to its results.
#include "batch/batch.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "episode/episode.h"

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

// A lower bound of the bytes of one env: its state and its rows of results.
double bytes_of_env(const Task& task) {
  const Model& m = *task.models.front();
  size_t bytes = sizeof(EnvState);
  bytes += m.params.size() * sizeof(double) + m.memory_size * sizeof(double);
  bytes += m.bodies.size() * (sizeof(BodyState) + sizeof(BodyInertia));
  bytes += m.vehicles.size() * sizeof(VehicleState) + m.wheel_count * sizeof(WheelState);
  bytes += m.blocks.size() * (sizeof(Pose2) + sizeof(double)) + m.sensors.size() * sizeof(SensorState);
  bytes += m.reading_bytes + m.reading_count;
  for (const AgentTask& agent : task.agents)
    bytes +=
        sizeof(AgentState) + agent.frames_size + (agent.recipes_size + agent.memory_size) * sizeof(double);
  for (const ObservationSpec& o : task.observation_specs) bytes += task.agents.size() * o.bytes();
  return static_cast<double>(bytes);
}

std::string gigabytes(double bytes) {
  return short_number(bytes / 1e9, 3) + " GB";
}

// Checks memory before it is allocated. Throws Error if the envs alone would need more than the machine's
// physical memory, or envs and worlds more than `memory_limit` (bytes).
void check_memory(const Task& task, int num_envs, uint64_t memory_limit) {
  const double needed = num_envs * bytes_of_env(task);
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (there > 0 && needed > there)
    throw Error("num_envs: found " + std::to_string(num_envs) + ", which takes more than " +
                gigabytes(needed) + "; this machine has " + gigabytes(there));
  const double limit = static_cast<double>(memory_limit);
  if (task.memory_used + needed > limit)
    throw Error("num_envs: found " + std::to_string(num_envs) + ", which takes " + gigabytes(needed) +
                " beside the worlds' " + gigabytes(task.memory_used) + ", expected at most memory_limit, " +
                gigabytes(limit));
}

const Task& checked(const Task& task, const BatchOptions& options) {
  check_memory(task, options.num_envs, options.load.memory_limit);
  return task;
}

// The task of an environment, whose options are checked before it is compiled.
std::unique_ptr<Task> compile(const EnvSpec& spec, const BatchOptions& options) {
  const int count = options.num_rows != 0 ? options.num_rows : options.num_envs;
  if (count < 1) throw Error("num_envs: found " + std::to_string(count) + ", expected at least 1");
  if (options.num_threads < 0)
    throw Error("num_threads: found " + std::to_string(options.num_threads) + ", expected at least 0");
  return compile_task(spec, with_backend(options).load);
}

}  // namespace

Batch::Batch(std::shared_ptr<const Task> task, const BatchOptions& options)
    : task_(std::move(task)),
      knob_tasks_(task_, options.load),
      options_(with_envs(options, *task_)),
      fingerprint_(mvsim::fingerprint(*task_)),
      infos_(checked(*task_, options_), static_cast<size_t>(options_.num_envs) * task_->agents.size(),
             options_.spl),
      pool_(options_.num_threads > 0 ? std::min(options_.num_threads, options_.num_envs)
                                     : default_threads(options_.num_envs),
            options_.pin) {
  const auto n = static_cast<size_t>(options_.num_envs), rows = n * task_->agents.size();
  tasks_.assign(n, task_);
  next_tasks_ = tasks_;
  scratches_.resize(static_cast<size_t>(pool_.threads()));
  envs_.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    if (options_.load.poll) options_.load.poll();
    envs_.push_back(make_env(*task_, i));
  }
  options_.load.poll = {};  // not used after the load
  has_rest_.assign(n, 0);
  due_drawings_.assign(rows, DueDrawing::kNothing);
  for (const ActionComponent& c : task_->agents.front().action_components) {
    action_low_.push_back(c.low);
    action_high_.push_back(c.high);
    action_names_.push_back(c.name);
  }
  on_device_ = device_observations(*task_, options_.device);
  for (size_t k = 0; k < task_->observation_specs.size(); ++k) {
    const ObservationSpec& spec = task_->observation_specs[k];
    CudaDevice* const device = on_device_.image(k) ? on_device_.device.get() : nullptr;
    observations_.emplace_back(spec, rows, device);
    final_observations_.emplace_back(spec, options_.autoreset == AutoresetMode::kSameStep ? rows : 0, device);
  }
  rewards_.assign(rows, 0.0);
  for (auto* flags : {&terminated_, &truncated_, &finished_, &was_reset_, &live_, &alive_})
    flags->assign(rows, 0);
  if (respawns(*task_) && options_.autoreset == AutoresetMode::kDisabled)
    throw Error(
        "on_end: 'respawn' resets agents by itself, expected the autoreset mode NextStep or SameStep");
  warnings_ = task_->warnings;
  for (const auto& model : task_->models)
    for (const std::string& w : model->warnings)
      if (std::find(warnings_.begin(), warnings_.end(), w) == warnings_.end()) warnings_.push_back(w);
}

Batch::Batch(const EnvSpec& spec, const BatchOptions& options)
    : Batch(compile(spec, options), with_backend(options)) {}

Batch::~Batch() = default;

void Batch::seed_env(int env, uint64_t key) {
  EnvState& e = envs_.at(static_cast<size_t>(env));
  e.key = key;
  e.next_episode = 0;
}

void Batch::log_to(const std::string& folder) {
  const Busy busy(busy_);
  logs_.clear();
  for (size_t i = 0; i < envs_.size(); ++i) {
    const std::string own = envs_.size() == 1 ? folder : join_path(folder, "env_" + std::to_string(i));
    logs_.push_back(std::make_unique<VehicleLog>(envs_[i].simulation, own));
  }
}

void Batch::stop_threads() {
  if (busy_.test_and_set()) return;
  pool_.stop();
  busy_.clear();
}

void Batch::copy_observations(std::span<const std::pair<size_t, std::byte*>> to) {
  const Busy busy(busy_);
  const size_t agents = task_->agents.size();
  pool_.run(
      options_.num_envs,
      [&](int begin, int end, int) {
        for (const auto& [key, out] : to) {
          const ObservationBuffer& from = observations_.at(key);
          const size_t first = static_cast<size_t>(begin) * agents * from.row_bytes(),
                       last = static_cast<size_t>(end) * agents * from.row_bytes();
          std::memcpy(out + first, from.row(0) + first, last - first);
        }
      },
      [] {});
}

void Batch::report_cut(int env) {
  const Busy busy(busy_);
  check_env(env);
  const EnvState& state = envs_[static_cast<size_t>(env)];
  if (state.finished) return;
  for (size_t a = 0; a < state.agents.size(); ++a)
    if (state.agents[a].end == EpisodeEnd::kNone) infos_.set_cut(task_of(env), state, a, row_of(env, a));
}

std::vector<Vec2> Batch::path(int env, size_t agent, double spacing, size_t most) const {
  const AgentState& state = envs_.at(static_cast<size_t>(env)).agents.at(agent);
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
std::optional<Vec2> Batch::goal(int env, size_t agent) const {
  if (!task_->agents.at(agent).start_and_goal.has_goal()) return std::nullopt;
  return envs_.at(static_cast<size_t>(env)).agents[agent].goal;
}

}  // namespace mvsim
