// Threads that share the work of one call. The calling thread works too, so a late worker delays the call
// little.
//
// run() divides [0, count) into contiguous parts. Each thread works through its own part, the same one every
// time, in pieces that become smaller. It then steals unstarted pieces of other threads. Workers spin briefly
// for the next call and then sleep. One run() at a time. After a fork the child has no workers: run() throws
// ForkedProcessError there, and the destructor frees nothing.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

namespace mvsim {

class WorkerPool {
 public:
  // `threads` >= 1 includes the calling thread. `pin` binds each worker to a processor of its own, the last
  // ones that this process may use; the calling thread is not bound. Throws Error if there are fewer
  // processors than threads.
  explicit WorkerPool(int threads, bool pin = false);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return threads_; }
  // Ends the workers; the calling thread then works alone.
  void stop();

  // Calls work(begin, end, worker) for all pieces; worker 0 is the calling thread. Neither function may
  // throw. `while_waiting` is called on the calling thread about every 10 ms while other threads finish their
  // pieces.
  using Work = std::function<void(int begin, int end, int worker)>;
  void run(int count, const Work& work, const std::function<void()>& while_waiting);

 private:
  struct Shared;

  int threads_;
  pid_t owner_;
  std::unique_ptr<Shared> shared_;
};

// Returns the default number of threads of a batch: the processors that this process may use, minus one if
// there are more than two, for the learner's own threads; and at most one for four envs.
int default_threads(int num_envs);

}  // namespace mvsim
