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
  const Vec2 p = Rotation2(base.yaw).unrotate({pose.x - base.x, pose.y - base.y});
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
class DockObservation final : public ObservationOf<float> {
 public:
  DockObservation(TermReader& reader, TaskContext& context)
      : dock_(need_seen_dock(reader, context)),
        max_(reader.number("max_distance", 15, kPositive)),
        heading_(reader.boolean("heading", true)) {}
  std::vector<Interval> bounds() const override {
    std::vector<Interval> out(2, symmetric(max_));
    if (heading_) out.resize(4, symmetric(1));
    return out;
  }
  void write(EnvState&, AgentState& agent, Scratch&, float* out) const override {
    const Pose2& place = dock_.place(agent);
    out[0] = static_cast<float>(place.x);
    out[1] = static_cast<float>(place.y);
    if (!heading_) return;
    const Rotation2 r(place.yaw);
    out[2] = static_cast<float>(r.c);
    out[3] = static_cast<float>(r.s);
  }

 private:
  const DockTracker& dock_;
  double max_;
  bool heading_;
};
template std::unique_ptr<const Observation> term<DockObservation>(TermReader&, TaskContext&);

// The decrease of `along` |x| + `lateral` |y| + `angle` |yaw|. The sum over an episode is that at its start
// minus that at its end.
class DockProgressReward final : public Reward {
 public:
  DockProgressReward(TermReader& reader, TaskContext& context)
      : tracker_(context.needs.track<DockProgressTracker>(DockPotential{
            need_dock(reader, context), reader.number("along", 0.6, kNotNegative),
            reader.number("lateral", 1, kNotNegative), reader.number("angle", 2, kNotNegative)})) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return tracker_.state(agent).before - tracker_.state(agent).now;
  }

 private:
  const DockProgressTracker& tracker_;
};
template std::unique_ptr<const Reward> term<DockProgressReward>(TermReader&, TaskContext&);

// 1 when the episode ends in success at the dock.
class DockedReward final : public Reward {
 public:
  DockedReward(const TermReader& reader, const TaskContext& context) : dock_(need_dock(reader, context)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return agent.success && dock_.is_docked(agent) ? 1 : 0;
  }

 private:
  const DockTracker& dock_;
};
template std::unique_ptr<const Reward> term<DockedReward>(TermReader&, TaskContext&);

// `base` + `lateral` |y| + `angle` |yaw| beyond the line without having docked.
class DockErrorReward final : public Reward {
 public:
  DockErrorReward(TermReader& reader, TaskContext& context)
      : dock_(need_dock(reader, context)),
        base_(reader.number("base", 0, kNotNegative)),
        lateral_(reader.number("lateral", 4, kNotNegative)),
        angle_(reader.number("angle", 6, kNotNegative)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    if (!dock_.is_at_line(agent) || dock_.is_docked(agent)) return 0;
    const Pose2& p = dock_.place(agent);
    return base_ + lateral_ * std::fabs(p.y) + angle_ * std::fabs(p.yaw);
  }

 private:
  const DockTracker& dock_;
  double base_, lateral_, angle_;
};
template std::unique_ptr<const Reward> term<DockErrorReward>(TermReader&, TaskContext&);

class DockedTermination final : public Termination {
 public:
  DockedTermination(const TermReader& reader, const TaskContext& context)
      : dock_(need_dock(reader, context)) {}
  bool holds(const EnvState&, const AgentState& agent) const override { return dock_.is_docked(agent); }
  Verdict verdict() const override { return Verdict::kSuccess; }

 private:
  const DockTracker& dock_;
};
template std::unique_ptr<const Termination> term<DockedTermination>(TermReader&, TaskContext&);

// Ends beyond the line without having docked.
class DockMissedTermination final : public Termination {
 public:
  DockMissedTermination(const TermReader& reader, const TaskContext& context)
      : dock_(need_dock(reader, context)) {}
  bool holds(const EnvState&, const AgentState& agent) const override {
    return dock_.is_at_line(agent) && !dock_.is_docked(agent);
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  const DockTracker& dock_;
};
template std::unique_ptr<const Termination> term<DockMissedTermination>(TermReader&, TaskContext&);

}  // namespace mvsim
