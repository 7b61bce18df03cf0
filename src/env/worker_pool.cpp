#include "env/worker_pool.h"

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

constexpr int kSpins = 2000;  // some 30 us: longer than a learner-free loop needs, shorter than a time slice
constexpr int kChunksPerThread = 8;  // small enough for balance, large enough that claiming costs nothing
constexpr auto kPoll = std::chrono::milliseconds(10);

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Processors that this process may use, ascending; at least one.
std::vector<int> processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) found.push_back(i);
  return found.empty() ? std::vector<int>{0} : found;
}

// The calling thread runs there only, from now on. A refusal by the system changes speed, not results.
void pin_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  static_cast<void>(sched_setaffinity(0, sizeof set, &set));
}

// Flush-to-zero and rounding bits belong to a thread, and other libraries change them: results must not.
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

// The state of a run in one word, so that a worker which wakes up late cannot claim a chunk of the wrong run.
struct Claim {
  uint32_t run;
  uint16_t chunks, next;

  static Claim unpack(uint64_t word) {
    return {static_cast<uint32_t>(word >> 32), static_cast<uint16_t>(word >> 16),
            static_cast<uint16_t>(word)};
  }
  uint64_t pack() const {
    return static_cast<uint64_t>(run) << 32 | static_cast<uint64_t>(chunks) << 16 | next;
  }
};

}  // namespace

struct WorkerPool::Shared {
  std::atomic<uint64_t> claim{0};
  std::atomic<uint32_t> run{0};  // workers wait for this to change
  std::atomic<uint32_t> finished{0};
  std::atomic<bool> stop{false}, caller_sleeps{false};
  // of the present run; a claimed chunk keeps them valid
  const Work* work = nullptr;
  int count = 0;
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

  void work_on(uint32_t number, int id) {
    for (;;) {
      uint64_t word = claim.load(std::memory_order_acquire);
      const Claim c = Claim::unpack(word);
      if (c.run != number || c.next >= c.chunks) return;
      if (!claim.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel)) continue;
      const auto bound = [&](int chunk) {
        return static_cast<int>(static_cast<int64_t>(count) * chunk / c.chunks);
      };
      (*work)(bound(c.next), bound(c.next + 1), id);
      const uint32_t done = finished.fetch_add(1) + 1;
      if (done == c.chunks && caller_sleeps.load()) {
        const std::lock_guard lock(mutex);
        all_finished.notify_one();
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
    : threads_(threads), owner_(getpid()), shared_(std::make_unique<Shared>()) {
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
    // the threads are not ours to join, and what they held is not ours to free
    static_cast<void>(shared_.release());
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
  const auto chunks = static_cast<uint16_t>(std::min({count, threads_ * kChunksPerThread, 65535}));
  s.work = &work;
  s.count = count;
  s.finished = 0;
  s.claim.store(Claim{number, chunks, 0}.pack(), std::memory_order_release);
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
