// What a robot between crop rows is paid for, sees and ends by, for the registries in rewards.cpp,
// observations.cpp and terminations.cpp.
#pragma once

#include <memory>

#include "env/terms.h"

namespace mvsim {

std::unique_ptr<const Reward> make_row_progress(TermReader& reader, TaskContext& context);
std::unique_ptr<const Reward> make_row_end(TermReader& reader, TaskContext& context);
std::unique_ptr<const Reward> make_row_offset(TermReader& reader, TaskContext& context);
std::unique_ptr<const Termination> make_rows(TermReader& reader, TaskContext& context);
std::unique_ptr<const Observation> make_row_index(TermReader& reader, TaskContext& context);
std::unique_ptr<const Observation> make_row_parity(TermReader& reader, TaskContext& context);

}  // namespace mvsim
