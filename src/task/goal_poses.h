// Poses among which the goals of episodes are drawn. A goal is a point (AgentState::goal); its heading is
// that of the nearest of these poses, so it follows from the point alone, also where a caller sets the goal.
#pragma once

#include <vector>

#include "base/geometry.h"

namespace mvsim {

class GoalPoses {
 public:
  explicit GoalPoses(std::vector<Pose2> poses);  // at least one

  const std::vector<Pose2>& poses() const { return poses_; }
  // Yaw of the pose that is nearest to the goal, rad; the first one of several.
  double heading(Vec2 goal) const;

 private:
  std::vector<Pose2> poses_;
};

}  // namespace mvsim
