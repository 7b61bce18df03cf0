// What a load may spend and how it is stopped: a budget of memory, counted before it is spent, and a question
// to the caller, asked every few microseconds of work, whether to go on.
//
// A guard belongs to one load, or to those of all worlds of an environment; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/error.h"

namespace mvsim {

inline constexpr uint64_t kDefaultMemoryLimit = 2'000'000'000;  // bytes

// Called often; throws to stop what is being done.
using Poll = std::function<void()>;

class LoadGuard {
 public:
  explicit LoadGuard(uint64_t memory_limit = kDefaultMemoryLimit, Poll poll = {});

  // Throws WorldFileError when what was taken so far and `bytes` more exceed the limit; `what` needs them.
  void take(double bytes, const SourceLocation& where, std::string_view what);
  // False, and nothing is taken, where it does not fit.
  bool try_take(double bytes);
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

}  // namespace mvsim
