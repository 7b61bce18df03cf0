// A robot and its trailer: the vehicle that it pulls, the angle of the hitch between them, and their start.
// Any thread.
#pragma once

#include <optional>
#include <string_view>

#include "model/model.h"
#include "sim/simulation.h"
#include "task/term_reader.h"
#include "task/terms.h"

namespace mvsim {

// Returns the only vehicle that joints hold to `vehicle`, or nothing.
std::optional<size_t> trailer_of(const Model& model, size_t vehicle);
// The same; fails at the attribute if there is none or more than one.
size_t need_trailer(const TermReader& reader, std::string_view attribute, const Model& model, size_t vehicle);

// Heading of the trailer relative to that of the vehicle, rad in [-pi, pi), counter-clockwise.
double hitch_angle(const Simulation& simulation, size_t vehicle, size_t trailer);

// <spawn of="trailer">: starts where the place of the trailer is drawn, and the robot stands ahead of it at
// an angle of the hitch that is drawn too. Immutable, any thread.
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
