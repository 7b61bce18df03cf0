// Goals with a heading: the poses, an observation (goal_heading) and a reward (pose_progress).
#include "task/terms.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "task/make_term.h"
#include "task/track/localization.h"
#include "task/track/tracker.h"

namespace mvsim {
namespace {

std::shared_ptr<const GoalPoses> need_poses(const TermReader& reader, const TaskContext& context) {
  if (!context.goal_poses) reader.fail("class", "expected a <goal> with the attribute 'poses' in <reset>");
  return context.goal_poses;
}

// The distance to a goal with a heading, in one number: d + angle_weight |a| exp(-d / near), where d is the
// distance (m) and `a` the angle between the two headings (rad). The angle counts near the goal only.
struct PosePotential {
  std::shared_ptr<const GoalPoses> poses;
  double angle_weight, near;  // m/rad, m

  double at(const AgentState& agent) const {
    const double d = agent.now.goal_distance;
    const double angle = wrap_to_pi(agent.now.pose.yaw - poses->heading(agent.goal));
    return d + angle_weight * std::fabs(angle) * math::exp(-d / near);
  }
};

struct Potentials {
  double before = 0, now = 0;  // at the start of the control period and at its end, m
};

// Follows the potential, for differences over a control period.
class PoseTracker final : public TrackerOf<Potentials> {
 public:
  explicit PoseTracker(PosePotential potential) : potential_(std::move(potential)) {}
  void start(const TrackerView& view) const override { moved(view); }
  void begin_period(const TrackerView& view) const override {
    Potentials& p = state(view.agent);
    p.before = p.now;
  }
  void measure(const TrackerView& view) const override { state(view.agent).now = potential_.at(view.agent); }
  void moved(const TrackerView& view) const override {
    const double now = potential_.at(view.agent);
    state(view.agent) = {now, now};
  }
  void hash(ArchiveHasher&) const override {}
  std::optional<double> way(const AgentState& agent) const override { return -state(agent).now; }

 private:
  PosePotential potential_;
};

}  // namespace

GoalPoses::GoalPoses(std::vector<Pose2> poses) : poses_(std::move(poses)) {}

double GoalPoses::heading(Vec2 goal) const {
  double best = std::numeric_limits<double>::infinity(), yaw = 0;
  for (const Pose2& pose : poses_) {
    const double x = pose.x - goal.x, y = pose.y - goal.y;
    if (x * x + y * y >= best) continue;
    best = x * x + y * y;
    yaw = pose.yaw;
  }
  return yaw;
}

// The goal's heading in the robot's frame: (cos, sin).
template <>
std::unique_ptr<const Observation> term<class GoalHeadingObservation>(TermReader& reader,
                                                                      TaskContext& context) {
  const SeenPose seen(context);
  const std::shared_ptr<const GoalPoses> poses = need_poses(reader, context);
  const std::vector<Interval> bounds{symmetric(1), symmetric(1)};
  return observation(bounds, [seen, poses](EnvState&, AgentState& agent, float* out) {
    const Rotation2 r(poses->heading(agent.goal) - seen.of(agent).yaw);
    out[0] = static_cast<float>(r.c);
    out[1] = static_cast<float>(r.s);
  });
}

// The decrease of PosePotential, m. The sum over an episode is that at its start minus that at its end.
template <>
std::unique_ptr<const Reward> term<class PoseProgressReward>(TermReader& reader, TaskContext& context) {
  const auto& progress = context.needs.track<PoseTracker>(
      PosePotential{need_poses(reader, context), reader.number("angle_weight", 1.5, kNotNegative),
                    reader.number("near", 6, kPositive)});
  return reward([&progress](const EnvState&, const AgentState& agent) {
    return progress.state(agent).before - progress.state(agent).now;
  });
}

}  // namespace mvsim
