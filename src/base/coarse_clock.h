// A clock that goes by the system's tick, some ms: a quarter of the price of std::chrono's, for who asks at
// every turn of a loop.
#pragma once

#include <cstdint>
#include <ctime>

namespace mvsim {

// Since an arbitrary moment; never goes back.
inline int64_t coarse_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace mvsim
