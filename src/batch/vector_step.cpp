// A vector step, phase by phase:
//
// - advance runs a control period of every env, and computes rewards and ends.
// - sense final makes the observations at the end of the period. With SAME_STEP those of ended episodes go to
//   `final_observations`.
// - between calls the caller's callback, if there is one, for further rewards and ends.
// - reset starts the next episode of envs that have ended (with NEXT_STEP: in the step before), and of agents
//   that do not wait for the others of their env.
// - sense fresh makes the observations of their start.
//
// A phase of an env needs no other env. The phases only record pictures. They are drawn between the phases,
// first those of the ends, then those of the starts.
#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "batch/batch.h"
#include "episode/episode.h"
#include "render/gl/cuda_device.h"

namespace mvsim {

void Batch::step(std::span<const float> actions, const ShouldStop& should_stop, const Between& between) {
  const Busy busy(busy_);
  check_actions(actions);
  begin_writing();
  EnvLoop loop = make_loop(should_stop);
  std::exception_ptr error;  // of the caller's callback; the step is completed before it is thrown
  if (!task_->has_pictures && !between) {  // env by env, so that its state stays in the cache
    loop.run([&](int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
      advance(i, actions, keep_going);
      sense_final(i, keep_going, scratch);
      reset_env(i, keep_going);
      sense_fresh(i, scratch);
      note_alive(i);
    });
  } else {
    loop.run([&](int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
      advance(i, actions, keep_going);
      sense_final(i, keep_going, scratch);
      note_rest(i);
    });
    draw_pictures(loop);
    if (between && !loop.stopped()) error = take_turn(between);
    reset_due(loop);
  }
  finish(loop);
  if (error) std::rethrow_exception(error);
}

void Batch::reset(std::span<const uint8_t> mask, const ShouldStop& should_stop,
                  std::span<const GivenStart> starts) {
  const Busy busy(busy_);
  if (!mask.empty() && mask.size() != envs_.size())
    throw Error("reset mask: found " + std::to_string(mask.size()) + " values, expected " +
                std::to_string(envs_.size()));
  check_starts(mask, starts);
  begin_writing();
  infos_.clear();
  std::fill(was_reset_.begin(), was_reset_.end(), uint8_t{0});
  const size_t agents = task_->agents.size();
  std::vector<GivenStart> given(starts.begin(), starts.end());
  for (size_t k = 0; k < given.size(); ++k) given[k].vehicle = task_->agents[k % agents].vehicle;
  EnvLoop loop = make_loop(should_stop);
  loop.run([&](int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
    if (!mask.empty() && mask[static_cast<size_t>(i)] == 0) return;
    clear_results(i);
    EnvState& env = envs_[static_cast<size_t>(i)];
    env.due = Due::kReset;
    if (!given.empty()) env.given = std::span(given).subspan(static_cast<size_t>(i) * agents, agents);
    reset_env(i, keep_going);
    sense_fresh(i, scratch);
    note_alive(i);
  });
  draw_pictures(loop);
  finish(loop);
}

EnvLoop Batch::make_loop(const ShouldStop& should_stop) {
  return {pool_, options_.num_envs, scratches_, should_stop, [this](int i) {
            EnvState& env = envs_[static_cast<size_t>(i)];
            env.finished = true;
            env.given = {};
            env.due = Due::kNothing;
            note_alive(i);
          }};
}

// Notes whether an env has work left after it has advanced, so that the others are not visited again.
void Batch::note_rest(int i) {
  update(has_rest_[static_cast<size_t>(i)], envs_[static_cast<size_t>(i)].due != Due::kNothing);
  note_alive(i);
}

void Batch::reset_due(EnvLoop& loop) {
  if (std::find(has_rest_.begin(), has_rest_.end(), 1) == has_rest_.end()) return;
  loop.run([&](int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
    if (has_rest_[static_cast<size_t>(i)] == 0) return;
    reset_env(i, keep_going);
    sense_fresh(i, scratch);
    note_alive(i);
  });
  draw_pictures(loop);
}

// Throws the first error. If an episode cannot start, it names the keyword that causes it.
void Batch::finish(EnvLoop& loop) const {
  loop.finish([this](int i, const WorldFileError& error, const Poll& poll) {
    const EnvState& env = envs_[static_cast<size_t>(i)];
    EnvLoadOptions load = options_.load;
    load.poll = poll;
    return explain_start(task_of(i).spec, load, env.key, env.next_episode - 1, error);
  });
}

void Batch::advance(int i, std::span<const float> actions, const EnvLoop::KeepGoing& keep_going) {
  EnvState& env = envs_[static_cast<size_t>(i)];
  clear_results(i);
  if (env.finished) {  // its action is ignored
    env.due = Due::kReset;
    return;
  }
  env.due = Due::kNothing;
  read_actions(i, actions);
  const std::span<double> paid(rewards_.data() + row_of(i, 0), env.agents.size());
  const bool whole = step_period(task_of(i), env, keep_going, paid);
  if (!logs_.empty()) logs_[static_cast<size_t>(i)]->flush();
  if (whole) env.due = Due::kFinalSense;
}

void Batch::sense_final(int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch) {
  EnvState& env = envs_[static_cast<size_t>(i)];
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
bool Batch::is_to_respawn(int i, const AgentState& agent) const {
  return agent.end != EpisodeEnd::kNone && !envs_[static_cast<size_t>(i)].finished && respawns(*task_) &&
         (agent.waits || options_.autoreset == AutoresetMode::kSameStep);
}

Due Batch::after_end(int i) const {
  const EnvState& env = envs_[static_cast<size_t>(i)];
  if (env.finished) return options_.autoreset == AutoresetMode::kSameStep ? Due::kReset : Due::kNothing;
  const bool any = std::any_of(env.agents.begin(), env.agents.end(),
                               [&](const AgentState& agent) { return is_to_respawn(i, agent); });
  return any ? Due::kRespawn : Due::kNothing;
}

void Batch::reset_env(int i, const EnvLoop::KeepGoing& keep_going) {
  const auto env_index = static_cast<size_t>(i);
  EnvState& env = envs_[env_index];
  if (env.due != Due::kReset && env.due != Due::kRespawn) return;
  const Poll poll = [&] {
    if (!keep_going()) throw Stopped();
  };
  const auto first_flag = was_reset_.begin() + static_cast<std::ptrdiff_t>(row_of(i, 0));
  if (env.due == Due::kRespawn) {
    for (size_t a = 0; a < env.agents.size(); ++a) {
      if (!is_to_respawn(i, env.agents[a])) continue;
      respawn(*tasks_[env_index], env, a, poll);
      first_flag[static_cast<std::ptrdiff_t>(a)] = 1;
    }
  } else {
    if (tasks_[env_index] != next_tasks_[env_index]) {
      tasks_[env_index] = next_tasks_[env_index];
      env.variant = 0;
    }
    start_episode(*tasks_[env_index], env, poll);
    env.given = {};
    std::fill_n(first_flag, task_->agents.size(), uint8_t{1});
  }
  env.due = Due::kFreshSense;
}

void Batch::sense_fresh(int i, Scratch& scratch) {
  EnvState& env = envs_[static_cast<size_t>(i)];
  if (env.due != Due::kFreshSense) return;
  for (size_t a = 0; a < task_->agents.size(); ++a)
    if (was_reset_[row_of(i, a)] != 0) sense(i, a, DueDrawing::kFirst, scratch);
  env.due = Due::kNothing;
}

// Writes the observations of an agent into its row, and records its pictures.
void Batch::sense(int i, size_t a, DueDrawing which, Scratch& scratch) {
  EnvState& env = envs_[static_cast<size_t>(i)];
  std::vector<ObservationBuffer>& into = which == DueDrawing::kFinal ? final_observations_ : observations_;
  const std::vector<ObservationSlot>& slots = task_of(i).agents[a].observations;
  for (size_t k = 0; k < slots.size(); ++k) {
    const ObservationRow row{&env, &env.agents[a], which == DueDrawing::kFirst, into[k].row(row_of(i, a))};
    if (slots[k].is_picture())
      record_picture(slots[k], row);
    else
      write_observation(slots[k], row, scratch);
  }
  if (task_->has_pictures) due_drawings_[row_of(i, a)] = which;
}

void Batch::draw_pictures(EnvLoop& loop) {
  if (!task_->has_pictures) return;
  // cleared first, so that nothing is due after an exception of a renderer
  const auto due_now = std::exchange(due_drawings_, std::vector(due_drawings_.size(), DueDrawing::kNothing));
  if (draws_by_egl(*task_->models.front())) draw_together(due_now);
  if (!on_device_.leaves_pictures) return;
  loop.run([&](int i, const EnvLoop::KeepGoing&, Scratch&) {
    for (size_t a = 0; a < task_->agents.size(); ++a)
      if (const DueDrawing due = due_now[row_of(i, a)]; due != DueDrawing::kNothing)
        mvsim::draw_pictures(task_of(i).agents[a].observations, picture_rows(i, a, due));
  });
}

// Returns a row for each slot of an agent.
std::vector<ObservationRow> Batch::picture_rows(int i, size_t a, DueDrawing due) {
  EnvState& env = envs_[static_cast<size_t>(i)];
  std::vector<ObservationBuffer>& into = due == DueDrawing::kFinal ? final_observations_ : observations_;
  std::vector<ObservationRow> rows;
  rows.reserve(into.size());
  for (size_t k = 0; k < into.size(); ++k)
    rows.push_back(
        {&env, &env.agents[a], due == DueDrawing::kFirst, into[k].row(row_of(i, a)), on_device_.image(k)});
  return rows;
}

// Draws all OpenGL views in one call.
void Batch::draw_together(std::span<const DueDrawing> due) {
  std::vector<ViewDrawing> views;
  for (int i = 0; i < options_.num_envs; ++i)
    for (size_t a = 0; a < task_->agents.size(); ++a)
      if (due[row_of(i, a)] != DueDrawing::kNothing)
        collect_views(task_of(i).agents[a].observations, picture_rows(i, a, due[row_of(i, a)]), views);
  draw_egl_views(views);
}

// Calls the caller's callback and returns its exception.
std::exception_ptr Batch::take_turn(const Between& between) {
  for (size_t row = 0; row < live_.size(); ++row) {
    const EnvState& env = envs_[row / task_->agents.size()];
    const bool waits = env.agents[row % task_->agents.size()].waits;
    live_[row] = (!env.finished || finished_[row] != 0) && !env.diverged && !waits;
  }
  between_thread_ = std::this_thread::get_id();
  std::exception_ptr error;
  try {
    end_by_caller(between());
  } catch (...) {
    error = std::current_exception();
  }
  between_thread_ = std::thread::id();
  return error;
}

// Ends the episodes that the caller ends in this step. One that only a time limit ended is terminated
// instead.
void Batch::end_by_caller(std::span<const uint8_t> rows) {
  for (int i = 0; i < options_.num_envs && !rows.empty(); ++i) {
    EnvState& env = envs_[static_cast<size_t>(i)];
    if (env.diverged) continue;
    bool any = false;
    for (size_t a = 0; a < env.agents.size(); ++a) {
      const size_t row = row_of(i, a);
      AgentState& agent = env.agents[a];
      if (rows[row] == 0 || agent.waits || (agent.end != EpisodeEnd::kNone && truncated_[row] == 0)) continue;
      agent.end = EpisodeEnd::kTerminated;
      any = true;
    }
    if (!any) continue;
    end_episode(task_of(i), env);
    for (size_t a = 0; a < env.agents.size(); ++a) {
      const size_t row = row_of(i, a);
      if (!is_new_end(env.agents[a]) || finished_[row] != 0 || !ends_at_once(env.agents[a])) continue;
      copy_to_final(row);
      if (!env.finished) clear_observations(row);  // the next observations belong to another episode
    }
    report_end(i, [] { return true; });
    env.due = after_end(i);
    note_rest(i);
  }
}

// Copies the latest observations of a row to the final observations.
void Batch::copy_to_final(size_t row) {
  for (size_t k = 0; k < observations_.size(); ++k)
    final_observations_[k].copy_row(row, observations_[k], row);
}

void Batch::clear_observations(size_t row) {
  for (ObservationBuffer& o : observations_) o.clear_row(row);
}

// Marks arrays on a GPU that were handed out as out of date.
void Batch::begin_writing() const {
  if (!on_device_.device) return;
  on_device_.device->begin_writing();
  ++*device_moment_;
}

void Batch::note_alive(int i) {
  const EnvState& env = envs_[static_cast<size_t>(i)];
  const bool runs = env.started && !env.finished;
  for (size_t a = 0; a < env.agents.size(); ++a)
    update(alive_[row_of(i, a)], runs && env.agents[a].end == EpisodeEnd::kNone);
}

// Takes over actions clipped to [-1, 1]. If a component is not finite, the whole action becomes zero.
void Batch::read_actions(int i, std::span<const float> actions) {
  EnvState& env = envs_[static_cast<size_t>(i)];
  for (size_t a = 0; a < env.agents.size(); ++a) {
    AgentState& agent = env.agents[a];
    if (agent.end != EpisodeEnd::kNone) continue;
    std::swap(agent.previous_action, agent.action);
    const size_t n = agent.action.size(), index = row_of(i, a);
    if (!take_action(agent, actions.data() + index * n)) infos_.set_bad_actions(index, ++agent.bad_actions);
  }
}

// Writes the infos of the agents that ended in this step.
void Batch::report_end(int i, const EnvLoop::KeepGoing& keep_going) {
  const EnvState& env = envs_[static_cast<size_t>(i)];
  for (size_t a = 0; a < env.agents.size(); ++a) {
    if (!is_new_end(env.agents[a])) continue;
    const size_t row = row_of(i, a);
    finished_[row] = 1;
    terminated_[row] = env.agents[a].end == EpisodeEnd::kTerminated;
    truncated_[row] = env.agents[a].end == EpisodeEnd::kTruncated;
    infos_.set_end(task_of(i), env, a, row, [&] {
      if (!keep_going()) throw Stopped();
    });
  }
}

void Batch::clear_results(int i) {
  for (size_t a = 0; a < task_->agents.size(); ++a) {
    const size_t row = row_of(i, a);
    rewards_[row] = 0;
    for (auto* flags : {&terminated_, &truncated_, &finished_, &was_reset_}) update((*flags)[row], false);
    infos_.clear(row);
  }
}

void Batch::check_actions(std::span<const float> actions) const {
  const size_t n = action_low_.size();
  const size_t rows = envs_.size() * task_->agents.size();
  if (actions.size() != n * rows)
    throw Error("actions: found " + std::to_string(actions.size()) + " values, expected " +
                std::to_string(rows) + " x " + std::to_string(n));
  for (size_t i = 0; i < envs_.size(); ++i) {
    if (!envs_[i].started) throw Error("environment " + std::to_string(i) + ": step() before reset()");
    if (envs_[i].finished && options_.autoreset == AutoresetMode::kDisabled)
      throw Error("environment " + std::to_string(i) +
                  ": its episode has ended, expected a reset before the next step");
  }
  if (!options_.strict_actions) return;
  for (size_t i = 0; i < actions.size(); ++i)
    if (!std::isfinite(actions[i]))
      throw Error("environment " + std::to_string(i / (n * task_->agents.size())) +
                  ": the action is not finite");
}

}  // namespace mvsim
