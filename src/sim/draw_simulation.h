// What a picture of a running world shows: metres and radians, world frame. Pure functions of their
// arguments.
#pragma once

#include <memory>
#include <optional>

#include "render/camera.h"
#include "render/draw_scene.h"
#include "sim/simulation.h"

namespace mvsim {

// What never moves: ground, grids, static blocks that no environment places.
std::shared_ptr<const StaticScene> static_scene(const Model& model);

struct Goal {
  Vec2 center;
  double radius = 0.25;  // m
};

// Everything in a simulation as it stands now, with what its lidars would see now.
DrawScene draw_simulation(const Simulation& simulation, std::shared_ptr<const StaticScene> fixed,
                          const std::optional<Goal>& goal = {});

enum class View { kAbove, kBehind };

// All of the world from above, or `vehicle` from behind.
Camera camera_of(const Simulation& simulation, View view, size_t vehicle, double aspect);

}  // namespace mvsim
