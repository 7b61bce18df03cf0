// Keyframes: poses by time with interpolation between them. They repeat after the time of the last one.
#pragma once

#include <vector>

#include "base/geometry.h"

namespace mvsim {

struct Keyframe {
  double time = 0;  // s, ascending
  Pose3 pose;       // with respect to where the thing started
};

// Returns the pose `time` seconds after the start at `start`; rotations take the shortest way. Frames repeat.
// Before the first frame the pose is `start` in the first round, and that of the last frame in later rounds.
Pose3 pose_at(const std::vector<Keyframe>& frames, const Pose3& start, double time);

}  // namespace mvsim
