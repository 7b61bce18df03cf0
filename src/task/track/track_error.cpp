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
class TrackErrorObservation final : public ObservationOf<float> {
 public:
  TrackErrorObservation(TermReader& reader, const TaskContext& context)
      : race_(need_seen_race(reader, context)),
        seen_(context),
        max_offset_(reader.number("max_offset", 5, kPositive)),
        points_(reader.integer("points", 3, 0, 1000)),
        spacing_(reader.number("spacing", 0.5, kPositive)) {}
  std::vector<Interval> bounds() const override {
    std::vector<Interval> out(2 + static_cast<size_t>(points_), symmetric(kPi / spacing_));
    out[0] = symmetric(max_offset_);
    out[1] = symmetric(kPi);
    return out;
  }
  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    const SeenPose::At here = seen_.of(agent);
    const TrackPlace place = track_place(race_, env, agent, here.position);
    *out++ = static_cast<float>(place.offset);
    *out++ = static_cast<float>(std::remainder(here.yaw - place.on.yaw, 2 * kPi));
    double yaw = place.on.yaw;
    for (int i = 1; i <= points_; ++i) {
      const double next = race_.line(env).at(race_.state(agent).along + i * spacing_).yaw;
      *out++ = static_cast<float>(std::remainder(next - yaw, 2 * kPi) / spacing_);
      yaw = next;
    }
  }

 private:
  const RaceTracker& race_;
  SeenPose seen_;
  double max_offset_;
  int points_;
  double spacing_;
};
template std::unique_ptr<const Observation> term<TrackErrorObservation>(TermReader&, TaskContext&);

// Distance from the centreline, m, or its square.
class TrackOffsetReward final : public Reward {
 public:
  TrackOffsetReward(TermReader& reader, TaskContext& context)
      : race_(need_race(reader, context)), squared_(reader.boolean("squared", false)) {}
  double value(const EnvState& env, const AgentState& agent) const override {
    const double offset = true_offset(race_, env, agent);
    return squared_ ? offset * offset : std::fabs(offset);
  }

 private:
  const RaceTracker& race_;
  bool squared_;
};
template std::unique_ptr<const Reward> term<TrackOffsetReward>(TermReader&, TaskContext&);

// Ends where the offset is outside of `offset`.
class OffTrackTermination final : public Termination {
 public:
  OffTrackTermination(TermReader& reader, TaskContext& context) : race_(need_race(reader, context)) {
    const std::optional<Interval> offset = reader.interval("offset", {-1e6, 1e6});
    if (!offset) reader.fail("offset", "expected the attribute offset='low high', m to the left of the line");
    if (!(offset->low < 0 && offset->high > 0))
      reader.fail("offset", "expected a number below 0 and one above 0, m to the left of the line");
    offset_ = *offset;
  }
  bool holds(const EnvState& env, const AgentState& agent) const override {
    const double offset = true_offset(race_, env, agent);
    return offset < offset_.low || offset > offset_.high;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  const RaceTracker& race_;
  Interval offset_;
};
template std::unique_ptr<const Termination> term<OffTrackTermination>(TermReader&, TaskContext&);

}  // namespace mvsim
