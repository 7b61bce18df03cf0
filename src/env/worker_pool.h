// Threads that share the work of one call: the caller works too, and a late worker holds up nobody.
//
// run() cuts [0, count) into contiguous chunks that the caller and the workers claim until none is left.
// Workers spin briefly for the next call, then sleep. One run() at a time. After a fork the child has no
// workers: run() throws ForkedProcessError there and the destructor frees nothing.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

namespace mvsim {

class WorkerPool {
 public:
  // `threads` >= 1, the caller included.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return threads_; }

  // Calls work(begin, end, worker) for all chunks, worker 0 being the calling thread. Neither function may
  // throw; `while_waiting` is called on the calling thread about every 10 ms while others finish their
  // chunks.
  using Work = std::function<void(int begin, int end, int worker)>;
  void run(int count, const Work& work, const std::function<void()>& while_waiting);

 private:
  struct Shared;

  int threads_;
  pid_t owner_;
  std::unique_ptr<Shared> shared_;
};

// How many threads a batch takes if nobody says: the processors that this process may use, but at least four
// envs to a thread.
int default_threads(int num_envs);

}  // namespace mvsim
