// Conversion of a Batch to bytes and back.
#include <algorithm>
#include <cstring>

#include "batch/batch.h"
#include "episode/episode.h"
#include "model/scene_view.h"
#include "sim/snapshot.h"

namespace mvsim {

namespace {

void write_knobs(ArchiveWriter& archive, const Task& task) {
  archive(uint64_t{task.knobs.size()});
  for (const Override& knob : task.knobs) archive(knob.path[0], text_of(knob.value));
}

std::vector<Override> read_knobs(ArchiveReader& archive) {
  uint64_t count = 0;
  archive(count);
  archive.check(count <= kMaxKnobs);
  std::vector<Override> knobs(count);
  for (Override& knob : knobs) {
    std::vector<char> name, text;
    archive(name, text);
    knob.path = {std::string(name.begin(), name.end())};
    knob.value = std::string(text.begin(), text.end());
  }
  return knobs;
}

// Checks the bounds of rows. Rows of an env before its first episode, and of agents that wait, are zero.
bool rows_in_bounds(const EnvState& env, const ObservationSpec& spec, std::span<const uint8_t> rows) {
  for (size_t a = 0; a < env.agents.size(); ++a) {
    const auto row = rows.subspan(a * spec.bytes(), spec.bytes());
    const bool is_zero = std::ranges::all_of(row, [](uint8_t byte) { return byte == 0; });
    if (is_zero && (!env.started || env.agents[a].waits)) continue;
    if (!in_bounds(spec.dtype, row, spec.low, spec.high)) return false;
  }
  return true;
}

}  // namespace

struct Batch::Restored {
  std::shared_ptr<const Task> task, next_task;
  EnvState env;
  std::vector<std::vector<uint8_t>> observations;  // rows of the env, by key; empty for those on a GPU
};

void Batch::check_env(int i) const {
  if (i < 0 || i >= options_.num_envs)
    throw Error("index: found " + std::to_string(i) + ", expected 0 to " +
                std::to_string(options_.num_envs - 1));
}

std::string Batch::state_bytes(int i) const {
  const EnvState& env = envs_[static_cast<size_t>(i)];
  size_t expected = 768 + expected_bytes(env.simulation.model());
  for (const AgentState& agent : env.agents) expected += 512 + agent.frames.size();
  for (const ObservationBuffer& o : observations_) expected += 8 + env.agents.size() * o.row_bytes();
  SnapshotWriter writer(SnapshotKind::kEnvironment, fingerprint_, expected, drawn_by(env.simulation.model()));
  write_knobs(writer.archive(), task_of(i));
  write_knobs(writer.archive(), *next_tasks_[static_cast<size_t>(i)]);
  write_env(writer.archive(), env, task_of(i));
  for (size_t k = 0; k < observations_.size(); ++k)
    if (!task_->is_picture(k))
      writer.archive().raw(observations_[k].row(row_of(i, 0)),
                           env.agents.size() * observations_[k].row_bytes());
  return writer.finish();
}

Batch::Restored Batch::read_state(std::string_view bytes, const EnvState& like) {
  ArchiveReader archive(snapshot_body(bytes, SnapshotKind::kEnvironment, fingerprint_));
  const std::shared_ptr<const Task> of_env = knob_tasks_.get(read_knobs(archive), {});
  const std::shared_ptr<const Task> next = knob_tasks_.get(read_knobs(archive), {});
  Restored out{of_env, next, read_env(archive, *of_env, like), {}};
  for (size_t k = 0; k < observations_.size(); ++k) {
    const size_t bytes =
        observations_[k].is_on_host() ? task_->agents.size() * observations_[k].row_bytes() : 0;
    std::vector<uint8_t>& rows = out.observations.emplace_back(bytes);
    if (task_->is_picture(k)) continue;
    read_values(archive, observations_[k].dtype(), rows);
    archive.check(rows_in_bounds(out.env, task_->observation_specs[k], rows));
  }
  archive.check(archive.left() == 0);
  redraw(out);
  return out;
}

// Draws the pictures of a state that has been read. Those of an env that was never reset stay zero.
void Batch::redraw(Restored& restored) const {
  EnvState& env = restored.env;
  if (!env.started) return;
  for (size_t a = 0; a < env.agents.size(); ++a)
    for (size_t k = 0; k < observations_.size(); ++k) {
      if (!task_->is_picture(k) || !observations_[k].is_on_host() || env.agents[a].waits) continue;
      std::byte* const rows = reinterpret_cast<std::byte*>(restored.observations[k].data());
      const ObservationRow row{&env, &env.agents[a], false, rows + a * observations_[k].row_bytes()};
      redraw_pictures(restored.task->agents[a].observations[k], {&row, 1});
    }
}

// The same for pictures on a GPU, drawn into the rows of the envs `which`. `restored` has one state for each
// env, or one for all.
void Batch::redraw_on_device(std::span<const int> which, std::span<Restored> restored) {
  if (!on_device_.device) return;
  begin_writing();
  std::vector<ViewDrawing> views;
  for (size_t e = 0; e < which.size(); ++e) {
    Restored& own = restored[restored.size() > 1 ? e : 0];
    for (size_t a = 0; a < own.env.agents.size(); ++a) {
      const size_t row = row_of(which[e], a);
      if (!own.env.started || own.env.agents[a].waits) {
        for (ObservationBuffer& o : observations_)
          if (!o.is_on_host()) o.clear_row(row);
        continue;
      }
      std::vector<ObservationRow> rows;
      for (size_t k = 0; k < observations_.size(); ++k)
        rows.push_back({&own.env, &own.env.agents[a], false, observations_[k].row(row), on_device_.image(k)});
      collect_views(own.task->agents[a].observations, rows, views);
    }
  }
  std::erase_if(views, [](const ViewDrawing& view) { return !view.frame.on_device; });
  draw_egl_views(views);
}

// Puts a state into an env and clears its last results, which belong to another episode.
void Batch::put_state(int i, const Restored& restored) {
  EnvState copy = restored.env;  // may throw std::bad_alloc, before anything has changed
  envs_[static_cast<size_t>(i)] = std::move(copy);
  tasks_[static_cast<size_t>(i)] = restored.task;
  next_tasks_[static_cast<size_t>(i)] = restored.next_task;
  clear_results(i);
  note_alive(i);
  for (size_t k = 0; k < observations_.size(); ++k)
    if (observations_[k].is_on_host())
      std::memcpy(observations_[k].row(row_of(i, 0)), restored.observations[k].data(),
                  restored.observations[k].size());
}

std::string Batch::state(int env) const {
  const Busy busy(busy_);
  check_env(env);
  return state_bytes(env);
}

void Batch::set_state(std::span<const int> envs, std::span<const std::string_view> states) {
  const Busy busy(busy_);
  if (states.size() != envs.size() && states.size() != 1)
    throw Error("states: found " + std::to_string(states.size()) + ", expected " +
                std::to_string(envs.size()) + ", one for each env, or 1 for all");
  for (const int env : envs) check_env(env);
  if (envs.empty()) return;
  std::vector<Restored> restored;
  restored.reserve(states.size());
  for (size_t s = 0; s < states.size(); ++s) {
    const EnvState& like = s > 0 ? restored.back().env : envs_[static_cast<size_t>(envs[0])];
    restored.push_back(read_state(states[s], like));
  }
  redraw_on_device(envs, restored);
  // no call below can fail
  for (size_t k = 0; k < envs.size(); ++k) put_state(envs[k], restored[states.size() > 1 ? k : 0]);
}

std::unique_ptr<Batch> Batch::clone() const {
  const Busy busy(busy_);
  auto out = std::make_unique<Batch>(task_, options_);
  out->envs_ = envs_;
  out->tasks_ = tasks_;
  out->next_tasks_ = next_tasks_;
  out->observations_ = observations_;
  out->final_observations_ = final_observations_;
  out->rewards_ = rewards_;
  out->terminated_ = terminated_;
  out->truncated_ = truncated_;
  out->finished_ = finished_;
  out->was_reset_ = was_reset_;
  out->alive_ = alive_;
  out->infos_.copy(infos_);
  return out;
}

bool Batch::started(int env) const {
  check_env(env);
  return envs_[static_cast<size_t>(env)].started;
}

bool Batch::ended(int env) const {
  check_env(env);
  return envs_[static_cast<size_t>(env)].finished;
}

}  // namespace mvsim
