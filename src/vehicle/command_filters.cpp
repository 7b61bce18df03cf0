#include "vehicle/command_filters.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mvsim {
namespace {

// Limits may cross when they are randomised: then the lower one counts.
double within(double value, double low, double high) {
  return std::min(std::max(value, low), high);
}

// Only an acceleration that grows is limited in its jerk: one that ended slowly would pass the speed that is
// asked for.
double with_jerk(const double* p, double wanted, const LimitedCommand& made, double dt) {
  const double change = wanted - made.last, change_before = made.last - made.before_last;
  if (!((change - change_before) * change > 0)) return wanted;
  const double square = dt * dt;
  return made.last + change_before +
         within(change - change_before, p[kMinJerk] * square, p[kMaxJerk] * square);
}

double with_acceleration(const double* p, double wanted, double last, double dt) {
  const double down = last > 0 ? p[kMaxDeceleration] : p[kMaxAccelerationReverse];
  const double up = last < 0 ? p[kMaxDecelerationReverse] : p[kMaxAcceleration];
  return last + within(wanted - last, down * dt, up * dt);
}

}  // namespace

double limited_command(const double* p, double wanted, const LimitedCommand& made, double dt) {
  const double smooth = with_jerk(p, wanted, made, dt);
  return within(with_acceleration(p, smooth, made.last, dt), p[kMinVelocity], p[kMaxVelocity]);
}

namespace {

// A line begins with the number of steps sent so far (kHead). Then comes a ring with an entry for each step:
// its duration (s) and its values.
constexpr size_t kHead = 1;
constexpr double kRounding = 1e-9;  // share of a step; a smaller part counts as zero

size_t places_for(double timestep) {
  return static_cast<size_t>(std::ceil(longest_delay(timestep) / timestep)) + 2;
}

}  // namespace

double longest_delay(double timestep) {
  return std::min(kLongestCommandDelay, kMostStepsOfDelay * timestep);
}

size_t delay_line_size(double timestep, size_t values) {
  return kHead + places_for(timestep) * (1 + values);
}

void pass_delay_line(std::span<double> line, double delay, double dt, const double* command,
                     const double* initial, std::span<double> arriving) {
  const size_t values = arriving.size(), length = 1 + values;
  const size_t places = static_cast<uint32_t>(line.size() - kHead) / static_cast<uint32_t>(length);
  // a forged snapshot may have any number here
  const uint64_t sent = 1 + (line[0] >= 0 && line[0] < 1e15 ? static_cast<uint64_t>(line[0]) : 0);
  line[0] = static_cast<double>(sent);
  double* const ring = line.data() + kHead;
  size_t place = static_cast<size_t>((sent - 1) % places);
  double* const now = ring + place * length;
  now[0] = dt;
  std::copy_n(command, values, now + 1);

  // backward from the end of this step: an entry covers [start, start + its duration]
  const size_t known = std::min(static_cast<size_t>(sent), places);
  double start = 0, left = dt;
  // The mean is formed of differences to the first command, so a constant command arrives without rounding.
  const double* first = nullptr;
  const auto add = [&](const double* from, double part) {
    if (!first) std::copy_n(first = from, values, arriving.begin());
    for (size_t i = 0; i < values; ++i) arriving[i] += part / dt * (from[i] - first[i]);
    left -= part;
  };
  for (size_t back = 0; back < known && left > kRounding * dt; ++back) {
    const double* const from = ring + place * length;
    place = (place == 0 ? places : place) - 1;
    const double end = start + from[0];
    const double part = std::min(end, delay + dt) - std::max(start, delay);
    start = end;
    if (part > kRounding * dt) add(from + 1, std::min(part, left));
  }
  if (left > kRounding * dt) add(initial, left);
}

}  // namespace mvsim
