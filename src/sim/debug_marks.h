// Marks of a simulation for viewers: headings, joints, regions and the rays of lidars.
#pragma once

#include <optional>

#include "scene/marks.h"
#include "sim/simulation.h"

namespace mvsim {

struct Goal {
  Vec2 center;
  double radius = 0.25;  // m
};

// As the simulation stands now. Takes fresh readings of all lidars, from a copy: looking changes nothing.
Marks debug_marks(const Simulation& simulation, const std::optional<Goal>& goal = {});

}  // namespace mvsim
