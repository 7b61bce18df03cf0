// The tracker of crop rows: the progress of an agent through the rows of its task. Immutable, any thread.
#pragma once

#include <vector>

#include "task/terms.h"
#include "task/track/tracker.h"

namespace mvsim {

// Places in m along the path through the rows. All doubles.
struct CropState {
  double along = 0, before = 0;  // now, and at the start of the period
  double farthest = 0;
  double start = 0;                  // at the start of its episode
  double done = 0, done_before = 0;  // alleys
};

class CropTracker final : public TrackerOf<CropState> {
 public:
  explicit CropTracker(std::vector<CropPath> paths) : paths_(std::move(paths)) {}
  const std::vector<CropPath>& paths() const { return paths_; }  // by variant
  const CropPath& path(const EnvState& env) const { return paths_[env.variant]; }

  void start(const TrackerView& view) const override;
  void begin_period(const TrackerView& view) const override;
  void measure(const TrackerView& view) const override;
  // Alleys before the new place do not count as done.
  void moved(const TrackerView& view) const override;
  void hash(ArchiveHasher& hasher) const override;
  std::unique_ptr<Tracker> for_estimates() const override { return std::make_unique<CropTracker>(paths_); }
  std::vector<CourseLine> lines() const override;
  std::optional<double> way(const AgentState& agent) const override {
    return state(agent).along - state(agent).start;
  }

 private:
  std::vector<CropPath> paths_;
};

}  // namespace mvsim
