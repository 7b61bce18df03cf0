// Limits of a load: its memory, its time, and the clock that it reads.
#pragma once

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace mvsim {

// Limits of a load. A budget of memory is counted before the memory is taken. A poll of the caller, called
// every few microseconds of work, can stop the load.
//
// A guard belongs to one load, or to those of all worlds of an environment; not thread-safe.

inline constexpr uint64_t kDefaultMemoryLimit = 2'000'000'000;  // bytes

// Function that long work calls often. It throws to stop the work.
using Poll = std::function<void()>;

class LoadGuard {
 public:
  explicit LoadGuard(uint64_t memory_limit = kDefaultMemoryLimit, Poll poll = {})
      : memory_limit_(memory_limit), poll_(std::move(poll)) {}

  // Takes `bytes` for `what`. Throws WorldFileError if the sum of the memory taken exceeds the limit.
  void take(double bytes, const SourceLocation& where, std::string_view what);
  // The same, but returns false and takes nothing if the limit would be exceeded.
  bool try_take(double bytes) {
    const bool fits = used_ + bytes <= static_cast<double>(memory_limit_);
    if (fits) used_ += bytes;
    return fits;
  }
  void give_back(double bytes) { used_ -= bytes; }

  void poll() const {
    if (poll_) poll_();
  }

  double used() const { return used_; }  // bytes
  uint64_t memory_limit() const { return memory_limit_; }

 private:
  uint64_t memory_limit_;
  double used_ = 0;  // bytes; sums of hostile sizes do not overflow
  Poll poll_;
};

inline void LoadGuard::take(double bytes, const SourceLocation& where, std::string_view what) {
  if (try_take(bytes)) return;
  char numbers[160];
  std::snprintf(numbers, sizeof numbers,
                " takes %.3g GB of memory, %.3g GB with all before; expected at most memory_limit, %.3g GB",
                bytes / 1e9, (used_ + bytes) / 1e9, static_cast<double>(memory_limit_) / 1e9);
  throw WorldFileError(where, std::string(what) + numbers);
}

// Memory that is given back at the end of a scope.
class TemporaryMemory {
 public:
  TemporaryMemory(LoadGuard& guard, double bytes, const SourceLocation& where, std::string_view what)
      : guard_(guard), bytes_(bytes) {
    guard.take(bytes, where, what);
  }
  ~TemporaryMemory() { guard_.give_back(bytes_); }
  TemporaryMemory(const TemporaryMemory&) = delete;
  TemporaryMemory& operator=(const TemporaryMemory&) = delete;

 private:
  LoadGuard& guard_;
  double bytes_;
};

// Clock with the resolution of the system's tick, some ms. It costs a quarter of std::chrono's clocks, so a
// loop can read it at every turn.

// Since an arbitrary moment; never goes back.
inline int64_t coarse_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace mvsim
