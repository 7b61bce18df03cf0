// A robot and its trailer: the vehicle that it pulls, and the angle of the hitch between them. Any thread.
#pragma once

#include <optional>
#include <string_view>

#include "model/model.h"
#include "sim/simulation.h"
#include "task/term_reader.h"

namespace mvsim {

// Returns the only vehicle that joints hold to `vehicle`, or nothing.
std::optional<size_t> trailer_of(const Model& model, size_t vehicle);
// The same; fails at the attribute if there is none or more than one.
size_t need_trailer(const TermReader& reader, std::string_view attribute, const Model& model, size_t vehicle);

// Heading of the trailer relative to that of the vehicle, rad in [-pi, pi), counter-clockwise.
double hitch_angle(const Simulation& simulation, size_t vehicle, size_t trailer);

}  // namespace mvsim
