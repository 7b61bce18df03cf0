// Choice of the instruction set of the vector kernels. Every set gives the same bits; they differ only in
// speed.
//
// The choice is made once per process from the CPU. Functions here are safe from any thread; ScopedSimdTarget
// is for tests and benchmarks that run no other kernel at the same time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mvsim {

// Names of the instruction sets that this binary holds and this CPU runs, best first ("AVX3", "AVX2",
// "SSE4"...).
std::vector<std::string> simd_targets();

// Name of the one in use.
const char* simd_level();

// Runs the kernels on the named instruction set until destroyed; std::invalid_argument if it is not one of
// simd_targets().
class ScopedSimdTarget {
 public:
  explicit ScopedSimdTarget(std::string_view name);
  ~ScopedSimdTarget();
  ScopedSimdTarget(const ScopedSimdTarget&) = delete;
  ScopedSimdTarget& operator=(const ScopedSimdTarget&) = delete;
};

}  // namespace mvsim
