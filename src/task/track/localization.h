// The localization of agents (<localization>): where a robot believes to be in the map, with drift, jumps and
// latency. Observations that need a pose start from it; rewards and terminations keep the true pose.
// Immutable, any thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "task/randomize.h"
#include "task/terms.h"
#include "task/track/tracker.h"

namespace mvsim {

// As in REP 105 the estimate is map -> odom -> robot. The odometry of the vehicle (sensor/sensor.h) is the
// second part. The first part, the correction, is constant but for jumps: then the estimate is the true pose
// plus a random error. All doubles.
struct LocalizationState {
  Pose2 seen;        // the estimate that observations get, map frame
  Pose2 T_map_odom;  // correction
  Pose2 truth;       // the true pose of the last measurement
  // drawn at the start of an episode
  double jump_probability = 0;                // in a control period
  double jump_sigma = 0, jump_sigma_yaw = 0;  // m, rad
  double latency = 0;                         // control periods
};

inline constexpr std::string_view kLocalizationTag = "localization";

class LocalizationTracker final : public Tracker {
 public:
  LocalizationTracker(TermReader& reader, const TrackerContext& context);

  // Behind the state there is a ring of the estimates of the latest control periods.
  size_t memory_size() const override { return sizeof(LocalizationState) / sizeof(double) + 3 * places_; }
  void start(const TrackerView& view) const override;
  void measure(const TrackerView& view) const override;
  // The error stays as it is in the robot's frame.
  void moved(const TrackerView& view) const override;
  void hash(ArchiveHasher& hasher) const override;

  const Pose2& seen(const AgentState& agent) const { return state(agent).seen; }
  // Standard deviation of the scale errors of the odometry, if the element or its level names one.
  std::optional<double> drift() const { return drift_; }
  const SourceLocation& where() const { return where_; }

 private:
  LocalizationState& state(AgentState& agent) const {
    return *reinterpret_cast<LocalizationState*>(agent.memory.data() + first_);
  }
  const LocalizationState& state(const AgentState& agent) const {
    return *reinterpret_cast<const LocalizationState*>(agent.memory.data() + first_);
  }
  Pose2* ring(AgentState& agent) const {
    return reinterpret_cast<Pose2*>(agent.memory.data() + first_ +
                                    sizeof(LocalizationState) / sizeof(double));
  }
  void fill(const TrackerView& view) const;
  void look_back(const TrackerView& view) const;

  SourceLocation where_;
  Distribution jump_rate_, jump_sigma_, jump_sigma_yaw_, latency_;
  std::optional<double> drift_;
  size_t places_ = 1;  // of the ring
};

// Runs another tracker on the estimates instead of the true poses, for observations.
class EstimatedTracker final : public Tracker {
 public:
  EstimatedTracker(std::unique_ptr<Tracker> inner, const LocalizationTracker& localization)
      : inner_(std::move(inner)), localization_(localization) {}

  const Tracker& inner() const { return *inner_; }
  size_t memory_size() const override { return inner_->memory_size(); }
  void set_first(size_t first) override { inner_->set_first(first); }
  void start(const TrackerView& view) const override { inner_->start(of_estimate(view)); }
  void measure(const TrackerView& view) const override { inner_->measure(of_estimate(view)); }
  void moved(const TrackerView& view) const override { inner_->moved(of_estimate(view)); }
  void hash(ArchiveHasher& hasher) const override { inner_->hash(hasher); }

 private:
  TrackerView of_estimate(const TrackerView& view) const {
    return {view.env, view.agent, view.vehicle, view.period, localization_.seen(view.agent)};
  }

  std::unique_ptr<Tracker> inner_;
  const LocalizationTracker& localization_;
};

// Returns the tracker of class T for observations: that of the estimates if there is one, else that of the
// true poses, or null.
template <class T>
const T* find_seen_tracker(const TaskContext& context) {
  for (const auto& t : context.trackers) {
    const auto* const estimated = dynamic_cast<const EstimatedTracker*>(t.get());
    if (!estimated) continue;
    const auto* const found = dynamic_cast<const T*>(&estimated->inner());
    if (!found) continue;
    context.needs.localization = true;
    return found;
  }
  return find_tracker<T>(context.trackers);
}

// The pose from which the observations of an agent start: the estimate, or the true pose without
// <localization>.
class SeenPose {
 public:
  explicit SeenPose(const TaskContext& context);

  struct At {
    Vec2 position;
    double yaw;
    Rotation2 heading;
  };
  At of(const AgentState& agent) const {
    if (!localization_) return {{agent.now.pose.x, agent.now.pose.y}, agent.now.pose.yaw, agent.now.heading};
    const Pose2& seen = localization_->seen(agent);
    return {{seen.x, seen.y}, seen.yaw, Rotation2(seen.yaw)};
  }
  bool is_true() const { return !localization_; }

 private:
  const LocalizationTracker* localization_;
};

}  // namespace mvsim
