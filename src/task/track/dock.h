// The tracker of docking (<dock>): the pose of a point of the robot or of its trailer relative to a dock.
// Immutable, any thread.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "task/terms.h"
#include "task/track/tracker.h"

namespace mvsim {

// All doubles.
struct DockState {
  Pose2 place;          // of the point in the frame of the dock; m, rad in [-pi, pi)
  double drives = 0;    // 1 forwards, -1 backwards, 0 not yet: the last way in which the robot moved
  double pull_ups = 0;  // how often it began to drive forwards
};

struct DockSettings {
  Pose2 pose;                     // of the dock: x points into the yard
  Vec2 point;                     // frame of the body that docks
  bool of_trailer = false;        // the body is the robot's trailer
  double line = 0;                // m, x of the dock's line
  double lateral = 0, angle = 0;  // m, rad: limits of a success
};

class DockTracker final : public TrackerOf<DockState> {
 public:
  // `bodies` has the body that docks, by vehicle of the robot.
  DockTracker(const DockSettings& settings, std::vector<size_t> bodies)
      : settings_(settings), bodies_(std::move(bodies)) {}

  const DockSettings& settings() const { return settings_; }
  const Pose2& place(const AgentState& agent) const { return state(agent).place; }
  // Whether the point has come to the line of the dock.
  bool is_at_line(const AgentState& agent) const { return place(agent).x < settings_.line; }
  // Whether it is there within the limits.
  bool is_docked(const AgentState& agent) const {
    return is_at_line(agent) && std::fabs(place(agent).y) < settings_.lateral &&
           std::fabs(place(agent).yaw) < settings_.angle;
  }

  void start(const TrackerView& view) const override;
  void measure(const TrackerView& view) const override;
  void moved(const TrackerView& view) const override { look(view); }
  void hash(ArchiveHasher& hasher) const override;
  std::vector<std::string> infos() const override { return {"dock_lateral", "dock_angle", "pull_ups"}; }
  size_t write_infos(const EnvState& env, const AgentState& agent, double* out) const override;
  std::unique_ptr<Tracker> for_estimates() const override {
    return std::make_unique<DockTracker>(settings_, bodies_);
  }

 private:
  void look(const TrackerView& view) const;

  DockSettings settings_;
  std::vector<size_t> bodies_;
};

}  // namespace mvsim
