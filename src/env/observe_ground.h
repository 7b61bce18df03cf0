// The observation `height_scan`: how high the ground around the robot lies.
#pragma once

#include <memory>

#include "env/terms.h"

namespace mvsim {

std::unique_ptr<const Observation> make_height_scan(TermReader& reader, TaskContext& context);

}  // namespace mvsim
