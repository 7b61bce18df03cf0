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
  // a steady command is within its limits of acceleration and jerk
  if (wanted == made.last && made.last == made.before_last)
    return within(wanted, p[kMinVelocity], p[kMaxVelocity]);
  const double smooth = with_jerk(p, wanted, made, dt);
  return within(with_acceleration(p, smooth, made.last, dt), p[kMinVelocity], p[kMaxVelocity]);
}

namespace {

// A line begins with the number of steps sent so far (kHead); beyond twice the places of the ring it counts
// round. Then comes the ring with an entry for each step: its duration (s) and its values.
constexpr size_t kHead = 1;
constexpr double kRounding = 1e-9;  // share of a step; a smaller part counts as zero

// Most commands have two values, for which a call would take longer than the copy.
void copy_command(const double* from, size_t count, double* to) {
  if (count == 2) {
    to[0] = from[0];
    to[1] = from[1];
  } else {
    std::copy_n(from, count, to);
  }
}

}  // namespace

double longest_delay(double timestep) {
  return std::min(kLongestCommandDelay, kMostStepsOfDelay * timestep);
}

size_t delay_line_places(double timestep) {
  return static_cast<size_t>(std::ceil(longest_delay(timestep) / timestep)) + 2;
}

size_t delay_line_size(size_t places, size_t values) {
  return kHead + places * (1 + values);
}

MissingCommand pass_delay_line(double* line, size_t places, double delay, double dt, const double* command,
                               std::span<double> arriving) {
  const size_t values = arriving.size(), length = 1 + values;
  // a forged snapshot may have any number here
  const auto most = static_cast<int64_t>(2 * places);
  const bool is_sound = line[0] >= 0 && line[0] <= static_cast<double>(most);
  auto sent = is_sound ? static_cast<size_t>(static_cast<int64_t>(line[0])) : 0;
  if (sent == 2 * places) sent = places;
  double* const ring = line + kHead;
  size_t place = sent < places ? sent : sent - places;
  line[0] = static_cast<double>(static_cast<int64_t>(++sent));
  double* const now = ring + place * length;
  now[0] = dt;
  copy_command(command, values, now + 1);

  // backward from the end of this step: an entry covers [start, start + its duration]
  const size_t known = std::min(sent, places);
  double start = 0, left = dt;
  // The mean is formed of differences to the first command, so a constant command arrives without rounding.
  const double* first = nullptr;
  for (size_t back = 0; back < known && left > kRounding * dt; ++back) {
    const double* const from = ring + place * length;
    place = (place == 0 ? places : place) - 1;
    const double end = start + from[0];
    double part = std::min(end, delay + dt) - std::max(start, delay);
    start = end;
    if (!(part > kRounding * dt)) continue;
    part = std::min(part, left);
    left -= part;
    if (!first)
      copy_command(first = from + 1, values, arriving.data());
    else
      for (size_t i = 0; i < values; ++i) arriving[i] += part / dt * (from[1 + i] - first[i]);
  }
  return {left > kRounding * dt ? left / dt : 0, first};
}

void fill_missing(const MissingCommand& missing, const double* initial, std::span<double> arriving) {
  for (size_t i = 0; i < arriving.size(); ++i)
    arriving[i] =
        missing.arrived ? arriving[i] + missing.share * (initial[i] - missing.arrived[i]) : initial[i];
}

}  // namespace mvsim
