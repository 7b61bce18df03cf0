// Common parts of the C++ benchmarks: clocks, medians, and a JSON row a line.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace mvsim::benchmark {

// Processor time of a thread makes other work on the machine count less; wall time is what a user waits.
inline double seconds(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// `share` 0.5: the median.
inline double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

// Seconds of a call of work(), after one that warms up.
template <typename Work>
double median_seconds(int repetitions, Work work, clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  std::vector<double> times;
  work();
  for (int i = 0; i < repetitions; ++i) {
    const double start = seconds(clock);
    work();
    times.push_back(seconds(clock) - start);
  }
  return quantile(std::move(times), 0.5);
}

inline void print_row(const std::string& name, double value, const char* unit) {
  std::printf("{\"name\": \"%s\", \"value\": %.4g, \"unit\": \"%s\"}\n", name.c_str(), value, unit);
}

}  // namespace mvsim::benchmark
