// Docking: the tracker, its observation (dock), its rewards (dock_progress, docked, dock_error) and its
// terminations (docked, dock_missed).
#include "task/track/dock.h"

#include "base/archive.h"
#include "task/make_term.h"
#include "task/plan/planning_grid.h"
#include "task/track/localization.h"
#include "task/trailer.h"

namespace mvsim {
namespace {

constexpr double kMoves = 0.05;  // m/s, above which the robot drives forwards or backwards

// The pose in the frame of `base`.
Pose2 relative(const Pose2& base, const Pose2& pose) {
  const Vec2 p = transform_back(base, {pose.x, pose.y});
  return {p.x, p.y, pose.yaw - base.yaw};
}

void check_dock(const TermReader& reader, const TaskContext& context, const DockTracker& dock) {
  if (dock.settings().of_trailer) (void)need_trailer(reader, "class", context.model, context.vehicle);
}

const DockTracker& need_dock(const TermReader& reader, const TaskContext& context) {
  const auto* const dock = find_tracker<DockTracker>(context.trackers);
  if (!dock) reader.fail("class", "expected a <dock> in <mvsim_env>");
  check_dock(reader, context, *dock);
  return *dock;
}

// Returns the dock by the poses that observations see.
const DockTracker& need_seen_dock(const TermReader& reader, const TaskContext& context) {
  need_dock(reader, context);
  return *find_seen_tracker<DockTracker>(context);
}

// The way that is left to the dock, in one number.
struct DockPotential {
  const DockTracker& dock;
  double along, lateral, angle;  // weights of m, m, rad

  double at(const AgentState& agent) const {
    const Pose2& p = dock.place(agent);
    return along * std::fabs(p.x) + lateral * std::fabs(p.y) + angle * std::fabs(p.yaw);
  }
};

// Values at the start of the episode, at the start of the control period, and at its end.
struct DockPotentials {
  double start = 0, before = 0, now = 0;
};

// Follows the potential, for differences over a control period. It runs after the tracker of the dock, which
// is one of the task.
class DockProgressTracker final : public TrackerOf<DockPotentials> {
 public:
  explicit DockProgressTracker(const DockPotential& potential) : potential_(potential) {}
  void start(const TrackerView& view) const override {
    const double now = potential_.at(view.agent);
    state(view.agent) = {now, now, now};
  }
  void begin_period(const TrackerView& view) const override {
    state(view.agent).before = state(view.agent).now;
  }
  void measure(const TrackerView& view) const override { state(view.agent).now = potential_.at(view.agent); }
  void moved(const TrackerView& view) const override {
    DockPotentials& p = state(view.agent);
    const double was = p.now;
    p.now = p.before = potential_.at(view.agent);
    p.start += p.now - was;
  }
  void hash(ArchiveHasher&) const override {}
  std::optional<double> way(const AgentState& agent) const override {
    return state(agent).start - state(agent).now;
  }

 private:
  DockPotential potential_;
};

}  // namespace

template <>
std::unique_ptr<Tracker> tracker<DockTracker>(const TrackerContext& context) {
  TermReader reader(*context.element);
  DockSettings settings;
  static constexpr Range kPose[] = {kPlace, kPlace, kAngle};
  if (const auto p = reader.numbers("pose", kPose, "three numbers, x y yaw_deg"))
    settings.pose = {(*p)[0], (*p)[1], (*p)[2] * kDegree};
  static constexpr Range kPoint[] = {kPlace, kPlace};
  if (const auto p = reader.numbers("point", kPoint, "two numbers, x y")) settings.point = {(*p)[0], (*p)[1]};
  settings.of_trailer = reader.choice("of", {"robot", "trailer"}) == 1;
  settings.line = reader.number("line", 0.15);
  settings.lateral = reader.number("lateral", 0.25, kPositive);
  settings.angle = kDegree * reader.number("angle", 5.73, {kPositive.min, 180});
  reader.finish();
  for (const auto& model : context.models)
    check_inside(reader, "pose", *model, {settings.pose.x, settings.pose.y});
  const Model& m = *context.models.front();
  std::vector<size_t> bodies;
  for (size_t v = 0; v < m.vehicles.size(); ++v)
    bodies.push_back(m.vehicles[settings.of_trailer ? trailer_of(m, v).value_or(v) : v].body);
  return std::make_unique<DockTracker>(settings, std::move(bodies));
}

void DockTracker::look(const TrackerView& view) const {
  const Simulation& s = view.env.simulation;
  const size_t own = s.model().vehicles[view.vehicle].body, body = bodies_[view.vehicle];
  // the robot is where the view says, and the trailer where it is relative to the robot
  Pose2 here = view.pose;
  if (body != own) here = compose(here, relative(body_pose(s, own), body_pose(s, body)));
  const Pose2 point = compose(here, {settings_.point.x, settings_.point.y, 0});
  Pose2& place = state(view.agent).place;
  place = relative(settings_.pose, point);
  place.yaw = wrap_to_pi(place.yaw);
}

void DockTracker::start(const TrackerView& view) const {
  state(view.agent) = {};
  look(view);
}

void DockTracker::measure(const TrackerView& view) const {
  look(view);
  DockState& dock = state(view.agent);
  const double speed = view.agent.now.twist.vx;
  if (std::fabs(speed) <= kMoves) return;
  const double drives = speed > 0 ? 1 : -1;
  if (drives > 0 && dock.drives <= 0) ++dock.pull_ups;
  dock.drives = drives;
}

void DockTracker::hash(ArchiveHasher& hasher) const {
  hasher(settings_.pose.x), hasher(settings_.pose.y), hasher(settings_.pose.yaw);
  hasher(settings_.point);
  hasher(settings_.of_trailer);
  hasher(settings_.line), hasher(settings_.lateral), hasher(settings_.angle);
}

size_t DockTracker::write_infos(const EnvState&, const AgentState& agent, double* out) const {
  out[0] = std::fabs(place(agent).y);
  out[1] = std::fabs(place(agent).yaw);
  out[2] = state(agent).pull_ups;
  return 3;
}

// (x, y) of the point in the frame of the dock, each within `max_distance`, and the cosine and sine of the
// heading.
template <>
std::unique_ptr<const Observation> term<class DockObservation>(TermReader& reader, TaskContext& context) {
  const DockTracker& dock = need_seen_dock(reader, context);
  std::vector<Interval> bounds(2, symmetric(reader.number("max_distance", 15, kPositive)));
  const bool heading = reader.boolean("heading", true);
  if (heading) bounds.resize(4, symmetric(1));
  return observation(bounds, [&dock, heading](EnvState&, AgentState& agent, float* out) {
    const Pose2& place = dock.place(agent);
    out[0] = static_cast<float>(place.x);
    out[1] = static_cast<float>(place.y);
    if (!heading) return;
    const Rotation2 r(place.yaw);
    out[2] = static_cast<float>(r.c);
    out[3] = static_cast<float>(r.s);
  });
}

// The decrease of `along` |x| + `lateral` |y| + `angle` |yaw|. The sum over an episode is that at its start
// minus that at its end.
template <>
std::unique_ptr<const Reward> term<class DockProgressReward>(TermReader& reader, TaskContext& context) {
  const auto& progress = context.needs.track<DockProgressTracker>(
      DockPotential{need_dock(reader, context), reader.number("along", 0.6, kNotNegative),
                    reader.number("lateral", 1, kNotNegative), reader.number("angle", 2, kNotNegative)});
  return reward([&progress](const EnvState&, const AgentState& agent) {
    return progress.state(agent).before - progress.state(agent).now;
  });
}

// 1 when the episode ends in success at the dock.
template <>
std::unique_ptr<const Reward> term<class DockedReward>(TermReader& reader, TaskContext& context) {
  return reward([&dock = need_dock(reader, context)](const EnvState&, const AgentState& agent) {
    return agent.success && dock.is_docked(agent) ? 1 : 0;
  });
}

// `base` + `lateral` |y| + `angle` |yaw| beyond the line without having docked.
template <>
std::unique_ptr<const Reward> term<class DockErrorReward>(TermReader& reader, TaskContext& context) {
  const DockTracker& dock = need_dock(reader, context);
  const double base = reader.number("base", 0, kNotNegative);
  const double lateral = reader.number("lateral", 4, kNotNegative);
  const double angle = reader.number("angle", 6, kNotNegative);
  return reward([&dock, base, lateral, angle](const EnvState&, const AgentState& agent) -> double {
    if (!dock.is_at_line(agent) || dock.is_docked(agent)) return 0;
    const Pose2& p = dock.place(agent);
    return base + lateral * std::fabs(p.y) + angle * std::fabs(p.yaw);
  });
}

template <>
std::unique_ptr<const Termination> term<class DockedTermination>(TermReader& reader, TaskContext& context) {
  const DockTracker& dock = need_dock(reader, context);
  return termination(Verdict::kSuccess,
                     [&dock](const EnvState&, const AgentState& agent) { return dock.is_docked(agent); });
}

// Ends beyond the line without having docked.
template <>
std::unique_ptr<const Termination> term<class DockMissedTermination>(TermReader& reader,
                                                                     TaskContext& context) {
  return failure([&dock = need_dock(reader, context)](const EnvState&, const AgentState& agent) {
    return dock.is_at_line(agent) && !dock.is_docked(agent);
  });
}

}  // namespace mvsim
