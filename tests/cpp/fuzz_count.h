// How many damaged inputs a slow test tries: `usual`, a quarter of them in CI, FACTOR times as many by `./dev
// fuzz FACTOR`; and which: `./dev fuzz FACTOR SEED` tries others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

inline int fuzz_count(int usual) {
  const char* const factor = std::getenv("MVSIM_FUZZ");
  if (!factor && std::getenv("CI")) return std::max(1, usual / 4);
  return usual * std::max(1, factor ? std::atoi(factor) : 1);
}

inline uint64_t fuzz_seed() {
  const char* const seed = std::getenv("MVSIM_FUZZ_SEED");
  return seed ? std::strtoull(seed, nullptr, 10) : 17;
}
