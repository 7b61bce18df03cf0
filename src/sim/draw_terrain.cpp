#include "sim/draw_terrain.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

constexpr int kMostNodes = 400;  // a side, of what is drawn
constexpr double kLift = 0.02;   // m by which flat things float over the ground, also where it bends

double ground(const Model& model, Vec2 at) {
  return highest_map(model.terrain, at).value_or(0);
}

Color color_of(GroundProperty property) {
  switch (property) {
    case GroundProperty::kMu:
      return {0x4a, 0x9f, 0xe0, 90};
    case GroundProperty::kCRr:
      return {0xd8, 0x9a, 0x3a, 90};
    case GroundProperty::kSurface:
    case GroundProperty::kConeIndex:
      return {0x8a, 0x5a, 0x2b, 90};
  }
  return {};
}

}  // namespace

void draw_height_maps(const Model& model, StaticScene& scene) {
  for (size_t i = 0; i < model.terrain.maps.size(); ++i) {
    const HeightMap& map = model.terrain.maps[i];
    // of a large map every n-th node
    const int stride = (std::max(map.rows(), map.columns()) + kMostNodes - 1) / kMostNodes;
    HeightField field;
    field.rows = (map.rows() - 1) / stride + 1;
    field.columns = (map.columns() - 1) / stride + 1;
    field.corner = map.corner();
    field.step_x = field.step_y = stride * map.resolution();
    field.color = model.map_colors[i];
    for (int row = 0; row < field.rows; ++row)
      for (int column = 0; column < field.columns; ++column)
        field.heights.push_back(map.node(row * stride, column * stride));
    scene.height_fields.push_back(std::move(field));
  }
}

void draw_regions(const Simulation& simulation, DrawScene& scene) {
  constexpr double kStep = 0.25;  // m
  constexpr int kMostSteps = 60;
  const Model& model = simulation.model();
  for (const RegionModel& region : model.regions) {
    const auto box = [&](RegionParam p) { return simulation.param(region.box + p); };
    const double size_x = box(kRegionSizeX), size_y = box(kRegionSizeY);
    if (!(size_x > 0 && size_y > 0)) continue;
    const auto steps = [&](double size) {
      return model.terrain.maps.empty() ? 1
                                        : static_cast<int>(std::clamp(size / kStep, 1.0, double{kMostSteps}));
    };
    HeightField field;
    const int along_x = steps(size_x), along_y = steps(size_y);
    field.rows = along_x + 1;
    field.columns = along_y + 1;
    field.step_x = size_x / along_x;
    field.step_y = size_y / along_y;
    field.corner = {box(kRegionX) - size_x / 2, box(kRegionY) - size_y / 2};
    field.color = color_of(region.property);
    for (int row = 0; row < field.rows; ++row)
      for (int column = 0; column < field.columns; ++column)
        field.heights.push_back(kLift + ground(model, {field.corner.x + row * field.step_x,
                                                       field.corner.y + column * field.step_y}));
    scene.height_fields.push_back(std::move(field));
  }
}

void draw_ring(const Model& model, Vec2 center, double inner_radius, double outer_radius, Color color,
               DrawScene& scene) {
  constexpr int kCorners = 48;
  if (model.terrain.maps.empty()) {
    scene.discs.push_back({{center.x, center.y, 0.01}, inner_radius, outer_radius, color});
    return;
  }
  Polyline ring;
  ring.closed = true;
  ring.color = color;
  ring.width = outer_radius - inner_radius;
  for (int i = 0; i < kCorners; ++i) {
    const Vec2 p = center + Rotation2(2 * kPi * i / kCorners).rotate({(inner_radius + outer_radius) / 2, 0});
    ring.points.push_back({p.x, p.y, kLift + ground(model, p)});
  }
  scene.polylines.push_back(std::move(ring));
}

}  // namespace mvsim
