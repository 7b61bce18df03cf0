#include "batch/worker_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <thread>
#include <vector>

#include "base/error.h"

namespace mvsim::worker_pool_test {
namespace {

TEST(WorkerPool, CoversEveryIndexOnceInEveryRun) {
  for (int threads : {1, 2, 5}) {
    WorkerPool pool(threads);
    for (int count : {0, 1, 2, 7, 64, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      for (int repeat = 0; repeat < 50; ++repeat)
        pool.run(
            count,
            [&](int begin, int end, int) {
              for (int i = begin; i < end; ++i) ++seen[i];
            },
            [] {});
      for (const auto& n : seen) ASSERT_EQ(n, 50);
    }
  }
}

TEST(WorkerPool, EveryThreadHasANumberOfItsOwn) {
  constexpr int kThreads = 6;
  WorkerPool pool(kThreads);
  std::vector<std::atomic<int>> inside(kThreads);
  std::atomic<int> clashes{0};
  pool.run(
      200,
      [&](int, int, int worker) {
        clashes += inside.at(static_cast<size_t>(worker)).fetch_add(1) != 0;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        --inside[static_cast<size_t>(worker)];
      },
      [] {});
  EXPECT_EQ(clashes, 0);
}

TEST(WorkerPool, CallsBackWhileItWaits) {
  WorkerPool pool(2);
  std::atomic<bool> release{false};
  int polls = 0;
  pool.run(
      2,
      [&](int, int, int worker) {
        // the worker's chunk lasts until the caller has been asked three times
        while (worker != 0 && !release) std::this_thread::yield();
        if (worker == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      },
      [&] { release = ++polls >= 3; });
  // unless the caller was quick enough to take both
  EXPECT_TRUE(polls == 0 || polls >= 3);
}

TEST(WorkerPool, WorksInThePlainFloatMode) {
  std::fesetround(FE_UPWARD);
  WorkerPool pool(2);
  std::atomic<int> others{0};
  pool.run(
      64, [&](int, int, int) { others += std::fegetround() != FE_TONEAREST; }, [] {});
  EXPECT_EQ(others, 0);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
}

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// How many processors a worker may use while it works.
int processors_of_worker(WorkerPool& pool) {
  std::atomic<int> found{0};
  pool.run(
      2,
      [&](int, int, int worker) {
        if (worker != 0) found = usable_processors();
        // the caller leaves the second index to the worker
        while (found == 0) std::this_thread::yield();
      },
      [] {});
  return found;
}

TEST(WorkerPool, PinnedWorkersHaveOneProcessorAndTheCallerAll) {
  const int usable = usable_processors();
  if (usable < 2) GTEST_SKIP() << "one processor";
  WorkerPool pinned(2, true), loose(2, false);
  EXPECT_EQ(processors_of_worker(pinned), 1);
  EXPECT_EQ(processors_of_worker(loose), usable);
  EXPECT_EQ(usable_processors(), usable);
  EXPECT_THROW(WorkerPool(usable + 1, true), Error);
}

TEST(WorkerPool, DefaultThreadsLeaveRoomAndFeedEach) {
  const int usable = usable_processors();
  EXPECT_EQ(default_threads(1), 1);
  EXPECT_EQ(default_threads(7), 1);
  EXPECT_EQ(default_threads(1 << 20), usable > 2 ? usable - 1 : usable);
  EXPECT_LE(default_threads(8), 2);
}

// A worker that never gets to work does not hold up the call: the caller takes every piece.
TEST(WorkerPool, TheCallerTakesOverWhatNobodyClaims) {
  WorkerPool pool(2);
  std::atomic<bool> caller_done{false};
  std::atomic<int> covered{0};
  pool.run(
      64,
      [&](int begin, int end, int worker) {
        covered += end - begin;
        if (worker == 0) caller_done = covered >= 60;
        // one late piece: until the caller has done all others
        while (worker != 0 && !caller_done) std::this_thread::yield();
      },
      [] {});
  EXPECT_EQ(covered, 64);
}

TEST(WorkerPool, AForkedChildGetsAnErrorAndEnds) {
  WorkerPool pool(3);
  pool.run(
      8, [](int, int, int) {}, [] {});
  const pid_t child = fork();
  if (child == 0) {
    int code = 1;
    try {
      pool.run(
          8, [](int, int, int) {}, [] {});
    } catch (const ForkedProcessError&) {
      code = 0;
    }
    pool.~WorkerPool();
    _exit(code);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  pool.run(
      8, [](int, int, int) {}, [] {});  // the parent goes on
}

}  // namespace
}  // namespace mvsim::worker_pool_test
