// Rewards among people, for the registry in rewards.cpp.
#pragma once

#include <memory>

#include "env/terms.h"

namespace mvsim {

std::unique_ptr<const Reward> make_discomfort(TermReader& reader, TaskContext& context);

}  // namespace mvsim
