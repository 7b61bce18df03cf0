// <line_up> of a <reset>: all agents start one behind the other along the centreline or the path through the
// crop rows. They start anywhere on it or on a part of it, with the same speed.
#pragma once

#include <vector>

#include "task/env_state.h"
#include "task/terms.h"

namespace mvsim {

class LineUp {
 public:
  LineUp(TermReader& reader, const TaskContext& context);

  // Places all agents of an env at the start of its episode in a random order; EnvState::given has the poses
  // of some. Throws Error or WorldFileError if there is no room. `poll` is called before each try and may
  // throw.
  void place_all(EnvState& env, const Poll& poll) const;
  // Places an agent that starts again while others drive.
  void place_one(EnvState& env, size_t agent, const Poll& poll) const;

 private:
  void place(const Pose2& pose, double speed, EnvState& env, size_t agent) const;
  const CourseLine& line_of(const EnvState& env) const { return lines_[lines_.size() > 1 ? env.variant : 0]; }
  double draw_along(const CourseLine& line, RandomStream& random) const;
  Pose2 draw_pose(const CourseLine& line, double along, RandomStream& random) const;
  bool is_free(const EnvState& env, size_t agent) const;
  bool are_free(const EnvState& env) const;
  [[noreturn]] void fail() const;

  TermSpec term_;                  // for messages
  std::vector<CourseLine> lines_;  // lines of the first tracker that has any
  std::vector<size_t> vehicles_;   // of all agents
  double lateral_, yaw_, clearance_;
  Interval speed_, gap_;
  std::vector<Interval> along_;  // m along the line, of the rearmost agent, equally likely; empty: anywhere
};

}  // namespace mvsim
