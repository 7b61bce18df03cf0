// Poses by time, between which things move evenly and start again at the last one's time.
#pragma once

#include <vector>

#include "base/geometry.h"

namespace mvsim {

struct Keyframe {
  double time = 0;  // s, ascending
  Pose3 pose;       // with respect to where the thing started
};

// Of a thing that started at `start`, `time` seconds later: turned on the shortest way. Before the first
// frame it stands where the frames leave it, at the beginning at `start`.
Pose3 pose_at(const std::vector<Keyframe>& frames, const Pose3& start, double time);

}  // namespace mvsim
