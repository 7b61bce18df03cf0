// Threads that share the work of one call: the caller works too, and a late worker holds up nobody.
//
// run() cuts [0, count) into contiguous parts. Each thread works through its own, the same one every time, in
// pieces that become smaller, then steals what others have not begun. Workers spin briefly for the next call,
// then sleep. One run() at a time. After a fork the child has no workers: run() throws ForkedProcessError
// there and the destructor frees nothing.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

namespace mvsim {

class WorkerPool {
 public:
  // `threads` >= 1, the caller included. `pin` ties each worker to a processor of its own, the last ones that
  // this process may use; the caller goes where it likes. Throws Error if there are fewer processors than
  // threads.
  explicit WorkerPool(int threads, bool pin = false);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return threads_; }
  // Ends the workers; from then on the caller works alone.
  void stop();

  // Calls work(begin, end, worker) for all pieces, worker 0 being the calling thread. Neither function may
  // throw; `while_waiting` is called on the calling thread about every 10 ms while others finish
  // theirs.
  using Work = std::function<void(int begin, int end, int worker)>;
  void run(int count, const Work& work, const std::function<void()>& while_waiting);

 private:
  struct Shared;

  int threads_;
  pid_t owner_;
  std::unique_ptr<Shared> shared_;
};

// How many threads a batch takes if nobody says: the processors that this process may use, of more than two
// one fewer, so that the learner's own helpers find one free; and at least four envs to a thread.
int default_threads(int num_envs);

}  // namespace mvsim
