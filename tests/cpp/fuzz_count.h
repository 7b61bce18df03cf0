// How many damaged inputs a slow test tries: `usual` in CI, FACTOR times as many by `./dev fuzz FACTOR`.
#pragma once

#include <algorithm>
#include <cstdlib>

inline int fuzz_count(int usual) {
  const char* const factor = std::getenv("MVSIM_FUZZ");
  return usual * std::max(1, factor ? std::atoi(factor) : 1);
}
