// A vector step, phase by phase:
//
//   advance      runs a control period of every env, and checks rewards and ends
//   sense final  makes the observations at its end (SAME_STEP: those of ended episodes go to
//   `final_observations`) between      calls the caller's callback, if there is one, for further rewards and
//   ends reset        starts the next episode of envs that have ended (NEXT_STEP: that ended in the step
//   before), and of agents
//                that do not wait for the others of their env
//   sense fresh  makes the observations of their start
//
// A phase of an env needs that env alone. Pictures are recorded in the phases and drawn between them, those
// of the ends before those of the starts.
#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "env/batch_impl.h"
#include "env/episode.h"
#include "render/gl/cuda_device.h"

namespace mvsim {

void Batch::step(std::span<const float> actions, const ShouldStop& should_stop, const Between& between) {
  const Busy busy(impl_->busy);
  Impl& m = *impl_;
  m.check_actions(actions);
  m.begin_writing();
  EnvLoop loop = m.loop(should_stop);
  std::exception_ptr error;  // of the caller's callback; the step is completed before it is thrown
  if (!m.task->has_pictures && !between) {  // env by env, so that its state stays in the cache
    loop.run([&](int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
      m.advance(i, actions, keep_going);
      m.sense_final(i, keep_going, scratch);
      m.reset(i, keep_going);
      m.sense_fresh(i, scratch);
      m.note_alive(i);
    });
  } else {
    loop.run([&](int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
      m.advance(i, actions, keep_going);
      m.sense_final(i, keep_going, scratch);
      m.note_rest(i);
    });
    m.draw_pictures(loop);
    if (between && !loop.stopped()) error = m.take_turn(between);
    m.reset_due(loop);
  }
  m.finish(loop);
  if (error) std::rethrow_exception(error);
}

void Batch::reset(std::span<const uint8_t> mask, const ShouldStop& should_stop,
                  std::span<const GivenStart> starts) {
  const Busy busy(impl_->busy);
  Impl& m = *impl_;
  if (!mask.empty() && mask.size() != m.envs.size())
    throw Error("reset mask: found " + std::to_string(mask.size()) + " values, expected " +
                std::to_string(m.envs.size()));
  m.check_starts(mask, starts);
  m.begin_writing();
  m.infos.clear();
  std::fill(m.was_reset.begin(), m.was_reset.end(), uint8_t{0});
  const size_t agents = m.task->agents.size();
  std::vector<GivenStart> given(starts.begin(), starts.end());
  for (size_t k = 0; k < given.size(); ++k) given[k].vehicle = m.task->agents[k % agents].vehicle;
  EnvLoop loop = m.loop(should_stop);
  loop.run([&](int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
    if (!mask.empty() && mask[static_cast<size_t>(i)] == 0) return;
    m.clear_results(i);
    EnvState& env = m.envs[static_cast<size_t>(i)];
    env.due = Due::kReset;
    if (!given.empty()) env.given = std::span(given).subspan(static_cast<size_t>(i) * agents, agents);
    m.reset(i, keep_going);
    m.sense_fresh(i, scratch);
    m.note_alive(i);
  });
  m.draw_pictures(loop);
  m.finish(loop);
}

EnvLoop Batch::Impl::loop(const ShouldStop& should_stop) {
  return {pool, options.num_envs, scratches, should_stop, [this](int i) {
            EnvState& env = envs[static_cast<size_t>(i)];
            env.finished = true;
            env.given = {};
            env.due = Due::kNothing;
            note_alive(i);
          }};
}

// Notes whether an env has work left after it has advanced, so that the others are not visited again.
void Batch::Impl::note_rest(int i) {
  update(has_rest[static_cast<size_t>(i)], envs[static_cast<size_t>(i)].due != Due::kNothing);
  note_alive(i);
}

void Batch::Impl::reset_due(EnvLoop& loop) {
  if (std::find(has_rest.begin(), has_rest.end(), 1) == has_rest.end()) return;
  loop.run([&](int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
    if (has_rest[static_cast<size_t>(i)] == 0) return;
    reset(i, keep_going);
    sense_fresh(i, scratch);
    note_alive(i);
  });
  draw_pictures(loop);
}

// Throws the first error. If an episode cannot start, it names the keyword that causes it.
void Batch::Impl::finish(EnvLoop& loop) const {
  loop.finish([this](int i, const WorldFileError& error, const Poll& poll) {
    const EnvState& env = envs[static_cast<size_t>(i)];
    EnvLoadOptions load = options.load;
    load.poll = poll;
    return explain_start(task_of(i).spec, load, env.key, env.next_episode - 1, error);
  });
}

void Batch::Impl::advance(int i, std::span<const float> actions, const EnvLoop::KeepGoing& keep_going) {
  EnvState& env = envs[static_cast<size_t>(i)];
  clear_results(i);
  if (env.finished) {  // its action is ignored
    env.due = Due::kReset;
    return;
  }
  env.due = Due::kNothing;
  read_actions(i, actions);
  const std::span<double> paid(rewards.data() + row_of(i, 0), env.agents.size());
  const bool whole = step_period(task_of(i), env, keep_going, paid);
  if (!logs.empty()) logs[static_cast<size_t>(i)]->flush();
  if (whole) env.due = Due::kFinalSense;
}

void Batch::Impl::sense_final(int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
  EnvState& env = envs[static_cast<size_t>(i)];
  if (env.due != Due::kFinalSense) return;
  for (size_t a = 0; a < env.agents.size(); ++a) {
    const AgentState& agent = env.agents[a];
    const bool to_final = ends_at_once(agent);
    if (!agent.waits && !env.diverged) {
      sense(i, a, to_final ? DueDrawing::kFinal : DueDrawing::kLatest, scratch);
    } else if (!agent.waits && to_final) {  // the last valid ones
      copy_to_final(row_of(i, a));
    }
    // the next observations belong to another episode
    if (agent.waits || (to_final && !env.finished)) clear_observations(row_of(i, a));
  }
  report_end(i, keep_going);
  env.due = after_end(i);
}

// Whether an agent starts again: it ended in this step, or (NEXT_STEP) in the one before, while others go on.
bool Batch::Impl::is_to_respawn(int i, const AgentState& agent) const {
  return agent.end != EpisodeEnd::kNone && !envs[static_cast<size_t>(i)].finished && respawns(*task) &&
         (agent.waits || options.autoreset == AutoresetMode::kSameStep);
}

Due Batch::Impl::after_end(int i) const {
  const EnvState& env = envs[static_cast<size_t>(i)];
  if (env.finished) return options.autoreset == AutoresetMode::kSameStep ? Due::kReset : Due::kNothing;
  const bool any = std::any_of(env.agents.begin(), env.agents.end(),
                               [&](const AgentState& agent) { return is_to_respawn(i, agent); });
  return any ? Due::kRespawn : Due::kNothing;
}

void Batch::Impl::reset(int i, const EnvLoop::KeepGoing& keep_going) {
  const auto env_index = static_cast<size_t>(i);
  EnvState& env = envs[env_index];
  if (env.due != Due::kReset && env.due != Due::kRespawn) return;
  const Poll poll = [&] {
    if (!keep_going()) throw Stopped();
  };
  const auto first_flag = was_reset.begin() + static_cast<std::ptrdiff_t>(row_of(i, 0));
  if (env.due == Due::kRespawn) {
    for (size_t a = 0; a < env.agents.size(); ++a) {
      if (!is_to_respawn(i, env.agents[a])) continue;
      respawn(*tasks[env_index], env, a, poll);
      first_flag[static_cast<std::ptrdiff_t>(a)] = 1;
    }
  } else {
    if (tasks[env_index] != next_tasks[env_index]) {
      tasks[env_index] = next_tasks[env_index];
      env.variant = 0;
    }
    start_episode(*tasks[env_index], env, poll);
    env.given = {};
    std::fill_n(first_flag, task->agents.size(), uint8_t{1});
  }
  env.due = Due::kFreshSense;
}

void Batch::Impl::sense_fresh(int i, Scratch& scratch) {
  EnvState& env = envs[static_cast<size_t>(i)];
  if (env.due != Due::kFreshSense) return;
  for (size_t a = 0; a < task->agents.size(); ++a)
    if (was_reset[row_of(i, a)] != 0) sense(i, a, DueDrawing::kFirst, scratch);
  env.due = Due::kNothing;
}

// Writes the observations of an agent into its row, and records its pictures.
void Batch::Impl::sense(int i, size_t a, DueDrawing which, Scratch& scratch) {
  EnvState& env = envs[static_cast<size_t>(i)];
  std::vector<ObservationBuffer>& into = which == DueDrawing::kFinal ? final_observations : observations;
  const std::vector<ObservationSlot>& slots = task_of(i).agents[a].observations;
  for (size_t k = 0; k < slots.size(); ++k) {
    const ObservationRow row{&env, &env.agents[a], which == DueDrawing::kFirst, into[k].row(row_of(i, a))};
    if (slots[k].is_picture())
      record_picture(slots[k], row);
    else
      write_observation(slots[k], row, scratch);
  }
  if (task->has_pictures) due_drawings[row_of(i, a)] = which;
}

void Batch::Impl::draw_pictures(EnvLoop& loop) {
  if (!task->has_pictures) return;
  // cleared first, so that nothing is due after an exception of a renderer
  const auto due_now = std::exchange(due_drawings, std::vector(due_drawings.size(), DueDrawing::kNothing));
  if (draws_by_egl(*task->models.front())) draw_together(due_now);
  if (!on_device.leaves_pictures) return;
  loop.run([&](int i, const EnvLoop::KeepGoing&, Scratch&) {
    for (size_t a = 0; a < task->agents.size(); ++a)
      if (const DueDrawing due = due_now[row_of(i, a)]; due != DueDrawing::kNothing)
        mvsim::draw_pictures(task_of(i).agents[a].observations, picture_rows(i, a, due));
  });
}

// Returns a row for each slot of an agent.
std::vector<ObservationRow> Batch::Impl::picture_rows(int i, size_t a, DueDrawing due) {
  EnvState& env = envs[static_cast<size_t>(i)];
  std::vector<ObservationBuffer>& into = due == DueDrawing::kFinal ? final_observations : observations;
  std::vector<ObservationRow> rows;
  rows.reserve(into.size());
  for (size_t k = 0; k < into.size(); ++k)
    rows.push_back(
        {&env, &env.agents[a], due == DueDrawing::kFirst, into[k].row(row_of(i, a)), on_device.image(k)});
  return rows;
}

// Draws all OpenGL views in one call.
void Batch::Impl::draw_together(std::span<const DueDrawing> due) {
  std::vector<ViewDrawing> views;
  for (int i = 0; i < options.num_envs; ++i)
    for (size_t a = 0; a < task->agents.size(); ++a)
      if (due[row_of(i, a)] != DueDrawing::kNothing)
        collect_views(task_of(i).agents[a].observations, picture_rows(i, a, due[row_of(i, a)]), views);
  draw_egl_views(views);
}

// Calls the caller's callback and returns its exception.
std::exception_ptr Batch::Impl::take_turn(const Between& between) {
  for (size_t row = 0; row < live.size(); ++row) {
    const EnvState& env = envs[row / task->agents.size()];
    const bool waits = env.agents[row % task->agents.size()].waits;
    live[row] = (!env.finished || finished[row] != 0) && !env.diverged && !waits;
  }
  between_thread = std::this_thread::get_id();
  std::exception_ptr error;
  try {
    end_by_caller(between());
  } catch (...) {
    error = std::current_exception();
  }
  between_thread = std::thread::id();
  return error;
}

// Ends the episodes that the caller ends in this step. One that only a time limit ended is terminated
// instead.
void Batch::Impl::end_by_caller(std::span<const uint8_t> rows) {
  for (int i = 0; i < options.num_envs && !rows.empty(); ++i) {
    EnvState& env = envs[static_cast<size_t>(i)];
    if (env.diverged) continue;
    bool any = false;
    for (size_t a = 0; a < env.agents.size(); ++a) {
      const size_t row = row_of(i, a);
      AgentState& agent = env.agents[a];
      if (rows[row] == 0 || agent.waits || (agent.end != EpisodeEnd::kNone && truncated[row] == 0)) continue;
      agent.end = EpisodeEnd::kTerminated;
      any = true;
    }
    if (!any) continue;
    end_episode(task_of(i), env);
    for (size_t a = 0; a < env.agents.size(); ++a) {
      const size_t row = row_of(i, a);
      if (!is_new_end(env.agents[a]) || finished[row] != 0 || !ends_at_once(env.agents[a])) continue;
      copy_to_final(row);
      if (!env.finished) clear_observations(row);  // the next observations belong to another episode
    }
    report_end(i, [] { return true; });
    env.due = after_end(i);
    note_rest(i);
  }
}

// Copies the latest observations of a row to the final observations.
void Batch::Impl::copy_to_final(size_t row) {
  for (size_t k = 0; k < observations.size(); ++k) final_observations[k].copy_row(row, observations[k], row);
}

void Batch::Impl::clear_observations(size_t row) {
  for (ObservationBuffer& o : observations) o.clear_row(row);
}

// Marks arrays on a GPU that were handed out as out of date.
void Batch::Impl::begin_writing() const {
  if (!on_device.device) return;
  on_device.device->begin_writing();
  ++*device_moment;
}

void Batch::Impl::note_alive(int i) {
  const EnvState& env = envs[static_cast<size_t>(i)];
  const bool runs = env.started && !env.finished;
  for (size_t a = 0; a < env.agents.size(); ++a)
    update(alive[row_of(i, a)], runs && env.agents[a].end == EpisodeEnd::kNone);
}

// Takes over actions clipped to [-1, 1]. If a component is not finite, the whole action becomes zero.
void Batch::Impl::read_actions(int i, std::span<const float> actions) {
  EnvState& env = envs[static_cast<size_t>(i)];
  for (size_t a = 0; a < env.agents.size(); ++a) {
    AgentState& agent = env.agents[a];
    if (agent.end != EpisodeEnd::kNone) continue;
    std::swap(agent.previous_action, agent.action);
    const size_t n = agent.action.size(), index = row_of(i, a);
    if (!take_action(agent, actions.data() + index * n)) infos.set_bad_actions(index, ++agent.bad_actions);
  }
}

// Writes the infos of the agents that ended in this step.
void Batch::Impl::report_end(int i, const EnvLoop::KeepGoing& keep_going) {
  const EnvState& env = envs[static_cast<size_t>(i)];
  for (size_t a = 0; a < env.agents.size(); ++a) {
    if (!is_new_end(env.agents[a])) continue;
    const size_t row = row_of(i, a);
    finished[row] = 1;
    terminated[row] = env.agents[a].end == EpisodeEnd::kTerminated;
    truncated[row] = env.agents[a].end == EpisodeEnd::kTruncated;
    infos.set_end(task_of(i), env, a, row, [&] {
      if (!keep_going()) throw Stopped();
    });
  }
}

void Batch::Impl::clear_results(int i) {
  for (size_t a = 0; a < task->agents.size(); ++a) {
    const size_t row = row_of(i, a);
    rewards[row] = 0;
    for (auto* flags : {&terminated, &truncated, &finished, &was_reset}) update((*flags)[row], false);
    infos.clear(row);
  }
}

void Batch::Impl::check_actions(std::span<const float> actions) const {
  const size_t n = action_low.size();
  const size_t rows = envs.size() * task->agents.size();
  if (actions.size() != n * rows)
    throw Error("actions: found " + std::to_string(actions.size()) + " values, expected " +
                std::to_string(rows) + " x " + std::to_string(n));
  for (size_t i = 0; i < envs.size(); ++i) {
    if (!envs[i].started) throw Error("environment " + std::to_string(i) + ": step() before reset()");
    if (envs[i].finished && options.autoreset == AutoresetMode::kDisabled)
      throw Error("environment " + std::to_string(i) +
                  ": its episode has ended, expected a reset before the next step");
  }
  if (!options.strict_actions) return;
  for (size_t i = 0; i < actions.size(); ++i)
    if (!std::isfinite(actions[i]))
      throw Error("environment " + std::to_string(i / (n * task->agents.size())) +
                  ": the action is not finite");
}

}  // namespace mvsim
