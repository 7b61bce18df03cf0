// Hills, regions and what lies on the ground, as shapes of a picture.
#pragma once

#include "render/draw_scene.h"
#include "sim/simulation.h"

namespace mvsim {

void draw_height_maps(const Model& model, StaticScene& scene);
// Regions where they lie now.
void draw_regions(const Simulation& simulation, DrawScene& scene);
// A ring on the ground, which may be hilly.
void draw_ring(const Model& model, Vec2 center, double inner_radius, double outer_radius, Color color,
               DrawScene& scene);

}  // namespace mvsim
