// What a Batch is made of, for the files that implement it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/batch.h"
#include "env/task.h"
#include "env/worker_pool.h"
#include "sim/vehicle_log.h"

namespace mvsim {

// One call at a time.
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
  Impl(std::shared_ptr<const Task> compiled, const BatchOptions& batch_options);

  void start(int i, const std::function<bool()>& keep_going, Scratch& scratch);
  void advance(int i, const float* actions, const std::function<bool()>& keep_going, Scratch& scratch);
  void finish(int i);
  void observe(int i, bool first, Scratch& scratch);
  bool read_action(int i, const float* actions);
  void clear_results(int i);
  void set_info(size_t column, int i, double value);
  struct Restored;
  std::string state(int i) const;
  Restored read_state(std::string_view bytes, const EnvState& like) const;
  void put_state(int i, const Restored& restored);
  void check_env(int i) const;
  void check_actions(std::span<const float> actions) const;
  void for_envs(const ShouldStop& should_stop,
                const std::function<void(int, const std::function<bool()>&, Scratch&)>& work);

  std::shared_ptr<const Task> task;  // clones share it
  BatchOptions options;
  uint64_t fingerprint;  // env_archive.h
  std::vector<EnvState> envs;
  std::vector<std::unique_ptr<VehicleLog>> logs;  // by env, or none
  std::vector<double> action_low, action_high;
  std::vector<std::string> action_names, warnings;

  std::vector<std::vector<float>> observations, final_observations;
  std::vector<double> rewards;
  std::vector<uint8_t> terminated, truncated, finished, was_reset;
  std::vector<InfoColumn> infos;
  size_t termination_column = 0;  // one for each
  size_t spl_column = 0;          // spl, then optimal_length

  std::vector<Scratch> scratches;  // by worker
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  WorkerPool pool;  // last: its threads stop before anything else goes
};

}  // namespace mvsim
