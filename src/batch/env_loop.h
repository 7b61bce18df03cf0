// Work on all envs by the threads of a pool: whoever waits is asked whether to stop, and of the errors of the
// envs one is thrown on the calling thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/coarse_clock.h"
#include "batch/worker_pool.h"
#include "task/terms.h"

namespace mvsim {

// Marks a batch as in use while it lives: one call at a time.
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

// Thrown within the work of an env where the caller asked to stop: the env then needs a reset.
struct Stopped {};

// Asks the caller now and then whether to stop, on the caller's thread only.
class StopSignal {
 public:
  explicit StopSignal(const std::function<bool()>& should_stop) : should_stop_(should_stop) {}

  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  void poll();  // on the caller's thread
  // Throws what the caller threw, or Interrupted.
  void rethrow() const;

 private:
  const std::function<bool()>& should_stop_;
  int64_t last_ = coarse_ms();
  // asked by all threads: in a cache line that nobody writes to
  alignas(64) std::atomic<bool> stopped_{false};
  std::exception_ptr error_;
};

// What an env's mistake in its files is said to be: asked on the calling thread, for the error that is
// thrown.
using Explain = std::function<WorldFileError(int env, const WorldFileError& error, const Poll& poll)>;

// The error of the env with the smallest index: the same one whatever the threads do.
class FirstError {
 public:
  void add(int env, std::exception_ptr error);
  void rethrow(const Explain& explain, const Poll& poll) const;

 private:
  std::mutex mutex_;
  int env_ = -1;
  std::exception_ptr error_;
};

// The phases of one call of a batch, one run() each.
class EnvLoop {
 public:
  // Asked between substeps: false where the call is to stop.
  using KeepGoing = std::function<bool()>;
  using Work = std::function<void(int env, const KeepGoing& keep_going, Scratch& scratch)>;
  // Of an env whose work threw.
  using OnError = std::function<void(int env)>;

  // `scratches`: one for each thread of the pool.
  EnvLoop(WorkerPool& pool, int num_envs, std::vector<Scratch>& scratches,
          const std::function<bool()>& should_stop, OnError on_error)
      : pool_(pool),
        num_envs_(num_envs),
        scratches_(scratches),
        stop_(should_stop),
        on_error_(std::move(on_error)) {}

  // Calls work for every env, in any order and on any thread, until the caller stops it. An exception stops
  // nothing: finish() throws it.
  void run(const Work& work);
  bool stopped() const { return stop_.stopped(); }
  // Throws the first error of the phases so far.
  void finish(const Explain& explain);

 private:
  WorkerPool& pool_;
  int num_envs_;
  std::vector<Scratch>& scratches_;
  StopSignal stop_;
  FirstError error_;
  OnError on_error_;
};

}  // namespace mvsim
