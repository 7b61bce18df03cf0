// How far a robot is from the centreline: an observation (track_error), a reward (track_offset) and a
// termination (off_track). Offsets are positive to the left of the line.
#include <cmath>

#include "task/make_term.h"
#include "task/track/localization.h"
#include "task/track/race.h"

namespace mvsim {
namespace {

// The place on the line of an agent at a position, and its distance from there.
struct TrackPlace {
  Pose2 on;
  double offset = 0;  // m, to the left
};

TrackPlace track_place(const RaceTracker& race, const EnvState& env, const AgentState& agent, Vec2 position) {
  const Pose2 on = race.line(env).at(race.state(agent).along);
  const Vec2 off = Rotation2(on.yaw).unrotate(position - Vec2{on.x, on.y});
  return {on, std::copysign(norm(off), off.y)};
}

double true_offset(const RaceTracker& race, const EnvState& env, const AgentState& agent) {
  return track_place(race, env, agent, {agent.now.pose.x, agent.now.pose.y}).offset;
}

}  // namespace

// Offset (m), heading relative to the line (rad), and the mean curvatures (1/m, positive to the left) of the
// next `points` stretches of `spacing` metres. The mean curvature is the turn of the line over its length.
template <>
std::unique_ptr<const Observation> term<class TrackErrorObservation>(TermReader& reader,
                                                                     TaskContext& context) {
  const RaceTracker& race = need_seen_race(reader, context);
  const SeenPose seen(context);
  const double max_offset = reader.number("max_offset", 5, kPositive);
  const int points = reader.integer("points", 3, 0, 1000);
  const double spacing = reader.number("spacing", 0.5, kPositive);
  std::vector<Interval> bounds(2 + static_cast<size_t>(points), symmetric(kPi / spacing));
  bounds[0] = symmetric(max_offset);
  bounds[1] = symmetric(kPi);
  return observation(bounds, [&race, seen, points, spacing](EnvState& env, AgentState& agent, float* out) {
    const SeenPose::At here = seen.of(agent);
    const TrackPlace place = track_place(race, env, agent, here.position);
    *out++ = static_cast<float>(place.offset);
    *out++ = static_cast<float>(std::remainder(here.yaw - place.on.yaw, 2 * kPi));
    double yaw = place.on.yaw;
    for (int i = 1; i <= points; ++i) {
      const double next = race.line(env).at(race.state(agent).along + i * spacing).yaw;
      *out++ = static_cast<float>(std::remainder(next - yaw, 2 * kPi) / spacing);
      yaw = next;
    }
  });
}

// Distance from the centreline, m, or its square.
template <>
std::unique_ptr<const Reward> term<class TrackOffsetReward>(TermReader& reader, TaskContext& context) {
  const RaceTracker& race = need_race(reader, context);
  const bool squared = reader.boolean("squared", false);
  return reward([&race, squared](const EnvState& env, const AgentState& agent) {
    const double offset = true_offset(race, env, agent);
    return squared ? offset * offset : std::fabs(offset);
  });
}

// Ends where the offset is outside of `offset`.
template <>
std::unique_ptr<const Termination> term<class OffTrackTermination>(TermReader& reader, TaskContext& context) {
  const RaceTracker& race = need_race(reader, context);
  const std::optional<Interval> given = reader.interval("offset", {-1e6, 1e6});
  if (!given) reader.fail("offset", "expected the attribute offset='low high', m to the left of the line");
  if (!(given->low < 0 && given->high > 0))
    reader.fail("offset", "expected a number below 0 and one above 0, m to the left of the line");
  return failure([&race, allowed = *given](const EnvState& env, const AgentState& agent) {
    const double offset = true_offset(race, env, agent);
    return offset < allowed.low || offset > allowed.high;
  });
}

}  // namespace mvsim
