#include "env/worker_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <thread>
#include <vector>

#include "base/error.h"

namespace mvsim {
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
}  // namespace mvsim
