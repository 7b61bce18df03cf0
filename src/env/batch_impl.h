// The parts of a Batch, for the files that implement it.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "env/batch.h"
#include "env/device_observations.h"
#include "env/env_loop.h"
#include "env/knob_tasks.h"
#include "env/observe.h"
#include "env/row_infos.h"
#include "env/task.h"
#include "env/worker_pool.h"
#include "record/vehicle_log.h"

namespace mvsim {

// Guard that allows one call at a time.
class Busy {
 public:
  explicit Busy(std::atomic_flag& flag) : flag_(flag) {
    if (flag_.test_and_set())
      throw Error("the batch is being used by another thread, expected one call at a time");
  }
  ~Busy() { flag_.clear(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic_flag& flag_;
};

struct Batch::Impl {
  // The observation of a row that is drawn when all workers are done.
  enum class DueDrawing : uint8_t { kNothing, kFinal, kLatest, kFirst };

  Impl(std::shared_ptr<const Task> compiled, const BatchOptions& batch_options);

  size_t row_of(int env, size_t agent) const {
    return static_cast<size_t>(env) * task->agents.size() + agent;
  }
  // The task of an env: that of the batch, or one with other knobs.
  const Task& task_of(int i) const { return *tasks[static_cast<size_t>(i)]; }
  EnvLoop loop(const ShouldStop& should_stop);
  void finish(EnvLoop& loop) const;

  // -- the phases (vector_step.cpp)
  void check_actions(std::span<const float> actions) const;
  void advance(int i, std::span<const float> actions, const EnvLoop::KeepGoing& keep_going);
  void sense_final(int i, const EnvLoop::KeepGoing& keep_going, Scratch& scratch);
  void reset(int i, const EnvLoop::KeepGoing& keep_going);
  void sense_fresh(int i, Scratch& scratch);
  void begin_writing() const;
  void draw_pictures(EnvLoop& loop);
  std::vector<ObservationRow> picture_rows(int i, size_t agent, DueDrawing due);
  void draw_together(std::span<const DueDrawing> due);
  void note_rest(int i);
  void reset_due(EnvLoop& loop);
  // Reads a name for the first `agents` agents of each env, a row each.
  Reading read(std::span<const int> which, const std::string& name, size_t agents) const;
  bool is_callers_turn() const { return between_thread.load() == std::this_thread::get_id(); }
  std::exception_ptr take_turn(const Between& between);
  void end_by_caller(std::span<const uint8_t> rows);
  void copy_to_final(size_t row);
  void clear_observations(size_t row);
  bool is_new_end(const AgentState& agent) const { return agent.end != EpisodeEnd::kNone && !agent.waits; }
  bool ends_at_once(const AgentState& agent) const {
    return agent.end != EpisodeEnd::kNone && options.autoreset == AutoresetMode::kSameStep;
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
  std::string state(int i) const;
  Restored read_state(std::string_view bytes, const EnvState& like);
  void redraw(Restored& restored) const;
  void redraw_on_device(std::span<const int> which, std::span<Restored> restored);
  void put_state(int i, const Restored& restored);
  void check_env(int i) const;

  // -- changes from outside (batch_control.cpp)
  void check_running(int i) const;
  void check_starts(std::span<const uint8_t> mask, std::span<const GivenStart> starts) const;

  std::shared_ptr<const Task> task;                            // shared with clones
  std::vector<std::shared_ptr<const Task>> tasks, next_tasks;  // by env: of this and the next episode
  KnobTasks knob_tasks;
  BatchOptions options;
  uint64_t fingerprint;  // see env_archive.h
  std::vector<EnvState> envs;
  std::vector<uint8_t> has_rest;                  // by env: result of note_rest()
  std::vector<DueDrawing> due_drawings;           // by row
  std::vector<std::unique_ptr<VehicleLog>> logs;  // by env; empty if nothing is logged
  std::vector<double> action_low, action_high;
  std::vector<std::string> action_names, warnings;

  DeviceObservations on_device;
  std::shared_ptr<std::atomic<uint64_t>> device_moment = std::make_shared<std::atomic<uint64_t>>(0);
  std::vector<ObservationBuffer> observations, final_observations;
  std::vector<double> rewards;
  std::vector<uint8_t> terminated, truncated, finished, was_reset, alive;
  std::vector<uint8_t> live;  // by row: took a step and did not diverge
  RowInfos infos;

  std::vector<Scratch> scratches;  // by worker
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  // The thread that runs the caller's callback within a step. It may read meanwhile.
  std::atomic<std::thread::id> between_thread{};
  WorkerPool pool;  // last member, so that its threads stop before the other members are destroyed
};

}  // namespace mvsim
