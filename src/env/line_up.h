// <line_up> of a <reset>: all agents stand one behind the other along the centreline or the path through the
// crop rows, anywhere on it or on a part of it, and roll at one speed.
#pragma once

#include <variant>
#include <vector>

#include "env/env_state.h"
#include "env/plan/centreline.h"
#include "env/plan/crop_path.h"
#include "env/terms.h"

namespace mvsim {

class LineUp {
 public:
  // What they stand along; a centreline is closed, a path through crop rows is not.
  using Line = std::variant<const Centreline*, const CropPath*>;

  LineUp(TermReader& reader, const TaskContext& context);

  // Places all agents of an env at the start of its episode (EnvState::given says where some of them stand),
  // in an order that is drawn. Throws Error or WorldFileError if there is no room. `poll` is called before
  // each try and may throw.
  void place_all(const Line& line, EnvState& env, const Poll& poll) const;
  // One that begins anew while others drive.
  void place_one(const Line& line, EnvState& env, size_t agent, const Poll& poll) const;

 private:
  void place(const Pose2& pose, double speed, EnvState& env, size_t agent) const;
  double draw_along(const Line& line, RandomStream& random) const;
  Pose2 draw_pose(const Line& line, double along, RandomStream& random) const;
  bool is_free(const EnvState& env, size_t agent) const;
  bool are_free(const EnvState& env) const;
  [[noreturn]] void fail() const;

  TermSpec term_;                 // for messages
  std::vector<size_t> vehicles_;  // of all agents
  double lateral_, yaw_, clearance_;
  Interval speed_, gap_;
  std::vector<Interval> along_;  // of the rearmost, m along the line, each as likely; none: anywhere
};

}  // namespace mvsim
