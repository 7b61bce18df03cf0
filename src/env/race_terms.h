// Rewards and terminations of races along a centreline, for the registries in rewards.cpp and
// terminations.cpp.
#pragma once

#include <memory>

#include "env/terms.h"

namespace mvsim {

std::unique_ptr<const Reward> make_track_progress(TermReader& reader, TaskContext& context);
std::unique_ptr<const Reward> make_rivals_progress(TermReader& reader, TaskContext& context);
std::unique_ptr<const Reward> make_lap(TermReader& reader, TaskContext& context);
std::unique_ptr<const Reward> make_overtake(TermReader& reader, TaskContext& context);
std::unique_ptr<const Reward> make_rear_contact(TermReader& reader, TaskContext& context);
std::unique_ptr<const Reward> make_steer_rate(TermReader& reader, TaskContext& context);

std::unique_ptr<const Termination> make_laps(TermReader& reader, TaskContext& context);
std::unique_ptr<const Termination> make_backwards(TermReader& reader, TaskContext& context);

// Fails where the task has no centreline, or (of rivals) a lone agent.
const std::shared_ptr<const Centreline>& need_centreline(const TermReader& reader,
                                                         const TaskContext& context);
void need_rivals(const TermReader& reader, const TaskContext& context);

}  // namespace mvsim
