// N copies of one environment stepped by a pool of threads: actions in, arrays of observations, rewards and
// flags out. They have a row for each agent of each env, row = env * num_agents + agent.
//
// All arrays belong to the batch, keep their address, and are rewritten by reset(), step() and set_state().
// One thread at a time calls a batch (a second one gets an Error); different batches are independent. The
// episodes of env k depend on its key, its episode count and its actions alone, and not on num_envs, threads,
// other envs or history.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/geometry.h"
#include "batch/batch_options.h"
#include "batch/device_array.h"
#include "batch/env_loop.h"
#include "batch/row_infos.h"
#include "batch/worker_pool.h"
#include "episode/observe.h"
#include "record/vehicle_log.h"
#include "task/task.h"

namespace mvsim {

class Batch {
 public:
  // Polled on the calling thread at least every 50 ms; true makes the call throw Interrupted after the
  // running substeps. May throw.
  using ShouldStop = std::function<bool()>;
  // The caller's callback within a step. It runs after all envs have been advanced and sensed, and before any
  // is reset. It may change rewards() and returns a flag for each row whose episode it ends as a failure, or
  // an empty span. If it throws, step() throws the same exception when its work is complete.
  using Between = std::function<std::span<const uint8_t>()>;

  Batch(const EnvSpec& spec, const BatchOptions& options);
  Batch(std::shared_ptr<const Task> task, const BatchOptions& options);  // from a compiled task
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  const EnvSpec& spec() const { return task_->spec; }
  const std::vector<std::string>& warnings() const { return warnings_; }  // of the world, each once
  int num_envs() const { return options_.num_envs; }
  int num_agents() const { return static_cast<int>(task_->agents.size()); }  // agents of an env
  int num_threads() const { return pool_.threads(); }
  double control_period() const { return task_->control_period; }  // s
  size_t action_size() const { return action_low_.size(); }        // an action is Box[-1, 1]^action_size
  // Physical values of -1 and 1, such as {0, -2} and {0.22, 2}, and the names of the components.
  const std::vector<double>& action_low() const { return action_low_; }
  const std::vector<double>& action_high() const { return action_high_; }
  const std::vector<std::string>& action_names() const { return action_names_; }

  // Sets env i's key; its next reset starts episode 0. Unseeded envs have key i.
  void seed_env(int env, uint64_t key);

  // Starts a new episode in every env, or in those whose mask is not 0. Clears rewards and flags of those.
  // `starts`: empty, or one for each row, with the start and the goal of the agent's episode.
  void reset(std::span<const uint8_t> mask = {}, const ShouldStop& should_stop = {},
             std::span<const GivenStart> starts = {});
  // actions: rows x action_size, row-major; clipped to [-1, 1].
  void step(std::span<const float> actions, const ShouldStop& should_stop = {}, const Between& between = {});

  // Ends the worker threads; the calling thread steps alone from then on. Does nothing while another thread
  // is in a call.
  void stop_threads();

  // -- snapshots (sim/snapshot.h)
  // Returns one env's state, its episode and its observations as bytes. A batch with the same layout of
  // worlds, observations, actions and rewards continues from them bit for bit.
  std::string state(int env) const;
  // Restores such states: one for each env, or one for all. Clears the rewards and flags of these envs.
  // Throws Error, and changes nothing, if a state is not valid.
  void set_state(std::span<const int> envs, std::span<const std::string_view> states);
  // Returns a batch that continues like this one. The two share the immutable parts.
  std::unique_ptr<Batch> clone() const;
  bool started(int env) const;  // reset at least once
  bool ended(int env) const;    // must be reset before it can step

  // -- changes from outside, between steps. On an Error nothing is changed.
  // Values of a name (episode/quantities.h) in some envs, ordered by env and item; `shape` is that of one
  // env.
  struct Reading {
    std::vector<double> values;
    std::vector<size_t> shape;
  };
  std::vector<std::string> names(int env) const;
  // A body that a policy of the environment moves: its name, the name of its element, and its policy.
  struct MovedBody {
    std::string name, group, policy;
  };
  std::vector<MovedBody> bodies() const;
  Reading read(std::span<const int> envs, const std::string& name) const;
  // The same for each row. Goals and actions are those of the row's agent; all else is that of its env.
  Reading read_rows(const std::string& name) const;
  // Takes as many values as read() returns. Parameters keep them until the end of the episode.
  void write(std::span<const int> envs, const std::string& name, std::span<const double> values);
  // Sets the parameters that a pattern matches, one value an env, now and at the start of every coming
  // episode.
  void hold(std::span<const int> envs, const std::string& pattern, std::span<const double> values);
  // Releases held parameters. From the next episode on they have the values of the file or of a
  // randomisation.
  void release(std::span<const int> envs);
  // Sets the <knob>s for the envs from their next episode on, like keywords; empty: those of the constructor.
  // `poll` is called often while a world is compiled, and may throw.
  void set_knobs(std::span<const int> envs, const std::vector<Override>& knobs,
                 const std::function<void()>& poll = {});
  const std::vector<Override>& knobs(int env) const;
  // Returns the value of a name of a parameter that is a choice.
  double choice_value(const std::string& pattern, const std::string& name) const;

  // -- in the caller's callback of a step (Between), or between steps
  // Adds a value for each row to its reward and to `sums`, except for rows that took no step or diverged.
  // Throws Error if a value is not finite, and then adds nothing.
  void add_rewards(std::span<const double> values, std::span<double> sums);
  // Flags of the rows that took a step before the latest call of Between and did not diverge.
  std::span<uint8_t> live();
  // Flags of the rows whose agent ended in an earlier step and waits for the others of its env.
  std::vector<uint8_t> waiting() const;
  // `count` random numbers a row: uniform in [0, 1), or normal. They depend on the row's key, episode and
  // step and on `stream` alone.
  std::vector<double> draw(uint32_t stream, size_t count, bool normal) const;

  // -- results
  const std::vector<ObservationSpec>& observations() const { return task_->observation_specs; }
  ObservationBuffer& observation_buffer(size_t key) { return observations_.at(key); }
  // Last observations of the rows with finished() set, in kSameStep; in other modes it has no rows.
  ObservationBuffer& final_observation_buffer(size_t key) { return final_observations_.at(key); }
  // Counter of the calls that rewrite observations on a GPU (BatchOptions::device). An array on the GPU
  // compares it to know whether its values are still those of its step. It is shared, so it outlives the
  // batch.
  std::shared_ptr<const std::atomic<uint64_t>> device_moment() const { return device_moment_; }
  // The elements of an observation, rows x size. Throws Error if they are not float32.
  std::span<float> observation(size_t key) { return observation_buffer(key).values<float>(); }
  std::span<float> final_observation(size_t key) { return final_observation_buffer(key).values<float>(); }
  // Copies the observations of all rows to `to`, arrays of the same layout. Each thread copies its own rows,
  // which are in its cache. A pair is a key and its array.
  void copy_observations(std::span<const std::pair<size_t, std::byte*>> to);
  std::span<double> rewards() { return rewards_; }
  std::span<uint8_t> terminated() { return terminated_; }
  std::span<uint8_t> truncated() { return truncated_; }
  std::span<uint8_t> finished() { return finished_; }    // episode ended in this step
  std::span<uint8_t> was_reset() { return was_reset_; }  // a new episode began in this call
  // Rows whose agent has a running episode, so that its next action counts. Where agents wait for each other,
  // the observations of the waiting agents are zero until their env is reset.
  std::span<uint8_t> alive() { return alive_; }
  // Fixed set of keys. At an episode's end: success, collision, timeout, diverged, time, path_length,
  // min_clearance, bad_action, reward/<term>..., and with spl also spl and (only on success) optimal_length;
  // bad_action also in any step whose action was bad. In kSameStep they belong to final_info.
  const std::vector<InfoColumn>& infos() const { return infos_.columns(); }
  // Whether any env has an info: false in most steps.
  bool has_infos() const { return infos_.any(); }

  // Fills env's infos as if a time limit had ended its episode in this step: for an episode that is cut short
  // from outside. They last until the next reset or step, which are not affected.
  void report_cut(int env);

  // Writes CSV files of all vehicles from now on (record/vehicle_log.h). For one env they are in `folder`,
  // for several in its subfolders env_0, env_1... A session is an episode. Throws Error.
  void log_to(const std::string& folder);

  // -- one env, for drawing and tests
  const Simulation& simulation(int env) const { return envs_.at(static_cast<size_t>(env)).simulation; }
  std::shared_ptr<const Model> model(int env) const {
    return tasks_.at(static_cast<size_t>(env))->models[envs_[static_cast<size_t>(env)].variant];
  }
  // The worlds of the env's episodes, including model(env).
  const std::vector<std::shared_ptr<const Model>>& models(int env) const {
    return tasks_.at(static_cast<size_t>(env))->models;
  }
  // Points on the shortest path that an agent's terms measure, from its position to its goal, `spacing` m
  // apart, at most `most`. Empty if no term needs a path, or if there is none.
  std::vector<Vec2> path(int env, size_t agent, double spacing, size_t most) const;
  // Returns the index of the agent's vehicle in the model.
  size_t vehicle(size_t agent = 0) const { return task_->agents.at(agent).vehicle; }
  std::optional<Vec2> goal(int env, size_t agent = 0) const;
  double goal_radius(size_t agent = 0) const { return task_->agents.at(agent).goal_radius; }  // m
  uint32_t episode(int env) const { return envs_.at(static_cast<size_t>(env)).simulation.state().episode; }

 private:
  // The observation of a row that is drawn when all workers are done.
  enum class DueDrawing : uint8_t { kNothing, kFinal, kLatest, kFirst };

  size_t row_of(int env, size_t agent) const {
    return static_cast<size_t>(env) * task_->agents.size() + agent;
  }
  // The task of an env: that of the batch, or one with other knobs.
  const Task& task_of(int i) const { return *tasks_[static_cast<size_t>(i)]; }
  EnvLoop make_loop(const ShouldStop& should_stop);
  void finish(EnvLoop& loop) const;

  // -- the phases (vector_step.cpp)
  void check_actions(std::span<const float> actions) const;
  void advance(int i, std::span<const float> actions, const EnvLoop::KeepGoing& keep_going);
  void sense_final(int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch);
  void reset_env(int i, const EnvLoop::KeepGoing& keep_going);
  void sense_fresh(int i, Scratch& scratch);
  void begin_writing() const;
  void draw_pictures(EnvLoop& loop);
  std::vector<ObservationRow> picture_rows(int i, size_t agent, DueDrawing due);
  void draw_together(std::span<const DueDrawing> due);
  void note_rest(int i);
  void reset_due(EnvLoop& loop);
  // Reads a name for the first `agents` agents of each env, a row each.
  Reading read_agents(std::span<const int> which, const std::string& name, size_t agents) const;
  bool is_callers_turn() const { return between_thread_.load() == std::this_thread::get_id(); }
  std::exception_ptr take_turn(const Between& between);
  void end_by_caller(std::span<const uint8_t> rows);
  void copy_to_final(size_t row);
  void clear_observations(size_t row);
  bool is_new_end(const AgentState& agent) const { return agent.end != EpisodeEnd::kNone && !agent.waits; }
  bool ends_at_once(const AgentState& agent) const {
    return agent.end != EpisodeEnd::kNone && options_.autoreset == AutoresetMode::kSameStep;
  }
  bool is_to_respawn(int i, const AgentState& agent) const;
  Due after_end(int i) const;
  void note_alive(int i);
  void read_actions(int i, std::span<const float> actions);
  void sense(int i, size_t agent, DueDrawing which, Scratch& scratch);
  void report_end(int i, const EnvLoop::KeepGoing& keep_going);
  void clear_results(int i);

  // -- states (batch_state.cpp)
  struct Restored;
  std::string state_bytes(int i) const;
  Restored read_state(std::string_view bytes, const EnvState& like);
  void redraw(Restored& restored) const;
  void redraw_on_device(std::span<const int> which, std::span<Restored> restored);
  void put_state(int i, const Restored& restored);
  void check_env(int i) const;

  // -- changes from outside (batch_control.cpp)
  void check_running(int i) const;
  void check_starts(std::span<const uint8_t> mask, std::span<const GivenStart> starts) const;

  std::shared_ptr<const Task> task_;                             // shared with clones
  std::vector<std::shared_ptr<const Task>> tasks_, next_tasks_;  // by env: of this and the next episode
  KnobTasks knob_tasks_;
  BatchOptions options_;
  uint64_t fingerprint_;  // see episode/episode.h
  std::vector<EnvState> envs_;
  std::vector<uint8_t> has_rest_;                  // by env: result of note_rest()
  std::vector<DueDrawing> due_drawings_;           // by row
  std::vector<std::unique_ptr<VehicleLog>> logs_;  // by env; empty if nothing is logged
  std::vector<double> action_low_, action_high_;
  std::vector<std::string> action_names_, warnings_;

  DeviceObservations on_device_;
  std::shared_ptr<std::atomic<uint64_t>> device_moment_ = std::make_shared<std::atomic<uint64_t>>(0);
  std::vector<ObservationBuffer> observations_, final_observations_;
  std::vector<double> rewards_;
  std::vector<uint8_t> terminated_, truncated_, finished_, was_reset_, alive_;
  std::vector<uint8_t> live_;  // by row: took a step and did not diverge
  RowInfos infos_;

  std::vector<Scratch> scratches_;  // by worker
  mutable std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  // The thread whose caller has its turn within a step: it may read meanwhile.
  std::atomic<std::thread::id> between_thread_{};
  WorkerPool pool_;  // last member, so that its threads stop before the other members are destroyed
};

}  // namespace mvsim
