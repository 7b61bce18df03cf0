#include "batch/worker_pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"

namespace mvsim {
namespace {

constexpr int kSpins = 2000;  // some 30 us: longer than the pause between steps, shorter than a time slice
constexpr int kMaxChunks = 65535;
constexpr int kShare =
    4;  // a claim takes 1 / kShare of the rest of a queue: few claims, and small ones at the end
constexpr size_t kCacheLine = 64;
constexpr auto kPoll = std::chrono::milliseconds(10);

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns the processors that this process may use, ascending; at least one.
std::vector<int> processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) found.push_back(i);
  return found.empty() ? std::vector<int>{0} : found;
}

// Binds the calling thread to a processor. If the system refuses, only the speed changes.
void pin_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  static_cast<void>(sched_setaffinity(0, sizeof set, &set));
}

// Sets the default floating-point environment. Flush-to-zero and rounding mode belong to a thread, and other
// libraries change them, but results must not depend on them.
class PlainFloatMode {
 public:
  PlainFloatMode() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PlainFloatMode() { std::fesetenv(&saved_); }
  PlainFloatMode(const PlainFloatMode&) = delete;
  PlainFloatMode& operator=(const PlainFloatMode&) = delete;

 private:
  std::fenv_t saved_{};
};

// Returns the begin of part `i` of `parts` equal parts of [0, count).
int share(int count, int i, int parts) {
  return static_cast<int>(static_cast<int64_t>(count) * i / parts);
}

struct Claim {
  int begin = 0, end = 0;
};

// The remaining chunks of one thread and the number of the run in one word, so that a worker that wakes up
// late cannot claim a chunk of the wrong run. It has a cache line of its own, since others read it only to
// steal.
struct alignas(kCacheLine) Queue {
  std::atomic<uint64_t> word{0};

  void fill(uint32_t run, int begin, int end) {
    word.store(pack(run, static_cast<uint16_t>(begin), static_cast<uint16_t>(end)),
               std::memory_order_release);
  }
  // Claims the next chunks of this run, from the front for the owner and from the back for thieves; none if
  // the queue is empty.
  Claim claim(uint32_t run, bool front) {
    uint64_t seen = word.load(std::memory_order_acquire);
    for (;;) {
      const auto begin = static_cast<uint16_t>(seen >> 16), end = static_cast<uint16_t>(seen);
      if (static_cast<uint32_t>(seen >> 32) != run || begin >= end) return {};
      const int taken = std::max((end - begin) / kShare, 1);
      const int first = front ? begin : end - taken;
      const uint64_t rest = front ? pack(run, static_cast<uint16_t>(begin + taken), end)
                                  : pack(run, begin, static_cast<uint16_t>(first));
      if (word.compare_exchange_weak(seen, rest, std::memory_order_acq_rel, std::memory_order_acquire))
        return {first, first + taken};
    }
  }

 private:
  static uint64_t pack(uint32_t run, uint16_t begin, uint16_t end) {
    return static_cast<uint64_t>(run) << 32 | static_cast<uint64_t>(begin) << 16 | end;
  }
};

}  // namespace

struct WorkerPool::Shared {
  explicit Shared(int threads) : queues(static_cast<size_t>(threads)) {}

  std::vector<Queue> queues;                         // by thread
  alignas(kCacheLine) std::atomic<uint32_t> run{0};  // workers wait for this to change
  std::atomic<bool> stop{false};
  // of the current run; they stay valid while a claimed chunk is unfinished
  const Work* work = nullptr;
  int count = 0, chunks = 0;
  alignas(kCacheLine) std::atomic<int> finished{0};
  std::atomic<bool> caller_sleeps{false};
  std::mutex mutex;
  std::condition_variable all_finished;
  std::vector<std::thread> workers;

  void stop_workers() {
    stop = true;
    ++run;
    run.notify_all();
    for (std::thread& t : workers) t.join();
    workers.clear();
  }

  // Works on the chunks of this thread, which are the same in every run, so that their data stay in its
  // cache. Then steals chunks of other threads.
  void work_on(uint32_t number, int id) {
    for (size_t i = 0; i < queues.size(); ++i) {
      Queue& queue = queues[(static_cast<size_t>(id) + i) % queues.size()];
      for (Claim c = queue.claim(number, i == 0); c.end > c.begin; c = queue.claim(number, i == 0)) {
        const int all = chunks, claimed = c.end - c.begin;  // read before the next run can begin
        (*work)(share(count, c.begin, all), share(count, c.end, all), id);
        if (finished.fetch_add(claimed) + claimed == all && caller_sleeps.load()) {
          const std::lock_guard lock(mutex);
          all_finished.notify_one();
        }
      }
    }
  }

  // `processor`: -1 for any.
  void worker(int id, int processor) {
    const PlainFloatMode plain;
    if (processor >= 0) pin_to(processor);
    uint32_t seen = 0;
    for (;;) {
      for (int i = 0; i < kSpins && run.load(std::memory_order_relaxed) == seen; ++i) pause();
      run.wait(seen);
      seen = run.load();
      if (stop.load()) return;
      work_on(seen, id);
    }
  }
};

WorkerPool::WorkerPool(int threads, bool pin)
    : threads_(threads), owner_(getpid()), shared_(std::make_unique<Shared>(threads)) {
  const std::vector<int> usable = processors();
  if (pin && threads > static_cast<int>(usable.size()))
    throw Error("pin: found " + std::to_string(threads) + " threads, expected at most the " +
                std::to_string(usable.size()) + " processors of this process");
  for (int i = 1; i < threads; ++i) {
    const int processor = pin ? *(usable.end() - i) : -1;
    try {
      shared_->workers.emplace_back([s = shared_.get(), i, processor] { s->worker(i, processor); });
    } catch (const std::system_error& e) {
      shared_->stop_workers();
      throw Error("num_threads: the system refused thread " + std::to_string(i + 1) + " of " +
                  std::to_string(threads) + ": " + e.what());
    }
  }
}

WorkerPool::~WorkerPool() {
  if (getpid() != owner_) {
    // the threads do not exist in this process, and their memory cannot be freed safely
    [[maybe_unused]] const Shared* const left = shared_.release();
    return;
  }
  shared_->stop_workers();
}

void WorkerPool::stop() {
  if (getpid() == owner_) shared_->stop_workers();
}

void WorkerPool::run(int count, const Work& work, const std::function<void()>& while_waiting) {
  if (getpid() != owner_)
    throw ForkedProcessError(
        "the environment was made before this process was forked: create it in the child, or use "
        "the start method 'spawn'");
  const PlainFloatMode plain;
  if (count <= 0) return;
  Shared& s = *shared_;
  if (s.workers.empty()) {
    work(0, count, 0);
    return;
  }
  const uint32_t number = s.run.load() + 1;
  const int chunks = std::min(count, kMaxChunks);
  s.work = &work;
  s.count = count;
  s.chunks = chunks;
  s.finished = 0;
  for (int i = 0; i < threads_; ++i)
    s.queues[static_cast<size_t>(i)].fill(number, share(chunks, i, threads_), share(chunks, i + 1, threads_));
  s.run.store(number);
  s.run.notify_all();
  s.work_on(number, 0);

  for (int i = 0; i < kSpins && s.finished.load() != chunks; ++i) pause();
  if (s.finished.load() == chunks) return;
  std::unique_lock lock(s.mutex);
  s.caller_sleeps = true;
  while (s.finished.load() != chunks) {
    s.all_finished.wait_until(lock, std::chrono::system_clock::now() + kPoll);
    lock.unlock();
    while_waiting();
    lock.lock();
  }
  s.caller_sleeps = false;
}

int default_threads(int num_envs) {
  const int usable = static_cast<int>(processors().size());
  return std::clamp(num_envs / 4, 1, usable > 2 ? usable - 1 : usable);
}

}  // namespace mvsim
