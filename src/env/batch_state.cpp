// Conversion of a Batch to bytes and back.
#include <algorithm>
#include <cstring>

#include "env/batch_impl.h"
#include "env/env_archive.h"
#include "model/view_drawer.h"
#include "sim/snapshot.h"
#include "sim/state_archive.h"

namespace mvsim {

namespace {

void write_knobs(ArchiveWriter& archive, const Task& task) {
  archive(uint64_t{task.knobs.size()});
  for (const Override& knob : task.knobs) archive(knob.path[0], *knob.text);
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
    knob.text = std::string(text.begin(), text.end());
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

struct Batch::Impl::Restored {
  std::shared_ptr<const Task> task, next_task;
  EnvState env;
  std::vector<std::vector<uint8_t>> observations;  // rows of the env, by key; empty for those on a GPU
};

void Batch::Impl::check_env(int i) const {
  if (i < 0 || i >= options.num_envs)
    throw Error("index: found " + std::to_string(i) + ", expected 0 to " +
                std::to_string(options.num_envs - 1));
}

std::string Batch::Impl::state(int i) const {
  const EnvState& env = envs[static_cast<size_t>(i)];
  size_t expected = 768 + expected_bytes(env.simulation.model());
  for (const AgentState& agent : env.agents) expected += 512 + agent.frames.size();
  for (const ObservationBuffer& o : observations) expected += 8 + env.agents.size() * o.row_bytes();
  SnapshotWriter writer(SnapshotKind::kEnvironment, fingerprint, expected, drawn_by(env.simulation.model()));
  write_knobs(writer.archive(), task_of(i));
  write_knobs(writer.archive(), *next_tasks[static_cast<size_t>(i)]);
  write_env(writer.archive(), env, task_of(i));
  for (size_t k = 0; k < observations.size(); ++k)
    if (!task->is_picture(k))
      writer.archive().raw(observations[k].row(row_of(i, 0)),
                           env.agents.size() * observations[k].row_bytes());
  return writer.finish();
}

Batch::Impl::Restored Batch::Impl::read_state(std::string_view bytes, const EnvState& like) {
  ArchiveReader archive(snapshot_body(bytes, SnapshotKind::kEnvironment, fingerprint));
  const std::shared_ptr<const Task> of_env = knob_tasks.get(read_knobs(archive), {});
  const std::shared_ptr<const Task> next = knob_tasks.get(read_knobs(archive), {});
  Restored out{of_env, next, read_env(archive, *of_env, like), {}};
  for (size_t k = 0; k < observations.size(); ++k) {
    const size_t bytes = observations[k].is_on_host() ? task->agents.size() * observations[k].row_bytes() : 0;
    std::vector<uint8_t>& rows = out.observations.emplace_back(bytes);
    if (task->is_picture(k)) continue;
    read_values(archive, observations[k].dtype(), rows);
    archive.check(rows_in_bounds(out.env, task->observation_specs[k], rows));
  }
  archive.check(archive.left() == 0);
  redraw(out);
  return out;
}

// Draws the pictures of a state that has been read. Those of an env that was never reset stay zero.
void Batch::Impl::redraw(Restored& restored) const {
  EnvState& env = restored.env;
  if (!env.started) return;
  for (size_t a = 0; a < env.agents.size(); ++a)
    for (size_t k = 0; k < observations.size(); ++k) {
      if (!task->is_picture(k) || !observations[k].is_on_host() || env.agents[a].waits) continue;
      std::byte* const rows = reinterpret_cast<std::byte*>(restored.observations[k].data());
      const ObservationRow row{&env, &env.agents[a], false, rows + a * observations[k].row_bytes()};
      redraw_pictures(restored.task->agents[a].observations[k], {&row, 1});
    }
}

// The same for pictures on a GPU, drawn into the rows of the envs `which`. `restored` has one state for each
// env, or one for all.
void Batch::Impl::redraw_on_device(std::span<const int> which, std::span<Restored> restored) {
  if (!on_device.device) return;
  begin_writing();
  std::vector<ViewDrawing> views;
  for (size_t e = 0; e < which.size(); ++e) {
    Restored& own = restored[restored.size() > 1 ? e : 0];
    for (size_t a = 0; a < own.env.agents.size(); ++a) {
      const size_t row = row_of(which[e], a);
      if (!own.env.started || own.env.agents[a].waits) {
        for (ObservationBuffer& o : observations)
          if (!o.is_on_host()) o.clear_row(row);
        continue;
      }
      std::vector<ObservationRow> rows;
      for (size_t k = 0; k < observations.size(); ++k)
        rows.push_back({&own.env, &own.env.agents[a], false, observations[k].row(row), on_device.image(k)});
      collect_views(own.task->agents[a].observations, rows, views);
    }
  }
  std::erase_if(views, [](const ViewDrawing& view) { return !view.frame.on_device; });
  draw_egl_views(views);
}

// Puts a state into an env and clears its last results, which belong to another episode.
void Batch::Impl::put_state(int i, const Restored& restored) {
  EnvState copy = restored.env;  // may throw std::bad_alloc, before anything has changed
  envs[static_cast<size_t>(i)] = std::move(copy);
  tasks[static_cast<size_t>(i)] = restored.task;
  next_tasks[static_cast<size_t>(i)] = restored.next_task;
  clear_results(i);
  note_alive(i);
  for (size_t k = 0; k < observations.size(); ++k)
    if (observations[k].is_on_host())
      std::memcpy(observations[k].row(row_of(i, 0)), restored.observations[k].data(),
                  restored.observations[k].size());
}

std::string Batch::state(int env) const {
  const Busy busy(impl_->busy);
  impl_->check_env(env);
  return impl_->state(env);
}

void Batch::set_state(std::span<const int> envs, std::span<const std::string_view> states) {
  const Busy busy(impl_->busy);
  Impl& m = *impl_;
  if (states.size() != envs.size() && states.size() != 1)
    throw Error("states: found " + std::to_string(states.size()) + ", expected " +
                std::to_string(envs.size()) + ", one for each env, or 1 for all");
  for (const int env : envs) m.check_env(env);
  if (envs.empty()) return;
  std::vector<Impl::Restored> restored;
  restored.reserve(states.size());
  for (size_t s = 0; s < states.size(); ++s) {
    const EnvState& like = s > 0 ? restored.back().env : m.envs[static_cast<size_t>(envs[0])];
    restored.push_back(m.read_state(states[s], like));
  }
  m.redraw_on_device(envs, restored);
  // no call below can fail
  for (size_t k = 0; k < envs.size(); ++k) m.put_state(envs[k], restored[states.size() > 1 ? k : 0]);
}

std::unique_ptr<Batch> Batch::clone() const {
  const Busy busy(impl_->busy);
  const Impl& from = *impl_;
  auto out = std::make_unique<Batch>(from.task, from.options);
  Impl& to = *out->impl_;
  to.envs = from.envs;
  to.tasks = from.tasks;
  to.next_tasks = from.next_tasks;
  to.observations = from.observations;
  to.final_observations = from.final_observations;
  to.rewards = from.rewards;
  to.terminated = from.terminated;
  to.truncated = from.truncated;
  to.finished = from.finished;
  to.was_reset = from.was_reset;
  to.alive = from.alive;
  to.infos.copy(from.infos);
  return out;
}

bool Batch::started(int env) const {
  impl_->check_env(env);
  return impl_->envs[static_cast<size_t>(env)].started;
}

bool Batch::ended(int env) const {
  impl_->check_env(env);
  return impl_->envs[static_cast<size_t>(env)].finished;
}

}  // namespace mvsim
