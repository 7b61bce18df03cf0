// <spawn of="trailer">: starts where the place of the trailer is drawn, and the robot stands ahead of it at
// an angle of the hitch that is drawn too. Immutable, any thread.
#pragma once

#include "sim/simulation.h"
#include "task/terms.h"

namespace mvsim {

class RigStart {
 public:
  // Reads `point` and `hitch`. Fails if the robot does not pull one trailer by one revolute joint.
  RigStart(TermReader& reader, const TaskContext& context);

  double draw_hitch(RandomStream& random) const { return random.uniform(hitch_.low, hitch_.high); }
  // Places both at rest: the trailer's point at a pose that has the trailer's heading, and the robot so that
  // the trailer's heading relative to it is `hitch` (rad). The anchors of the joint meet.
  void place(Simulation& simulation, const Pose2& point, double hitch) const;

 private:
  size_t vehicle_, trailer_;
  Vec2 anchor_, trailer_anchor_;  // of the joint, body frames
  Vec2 point_;                    // trailer's frame
  Interval hitch_;                // rad
};

}  // namespace mvsim
