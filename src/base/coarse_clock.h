// Clock with the resolution of the system's tick, some ms. It costs a quarter of std::chrono's clocks, so a
// loop can read it at every turn.
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
