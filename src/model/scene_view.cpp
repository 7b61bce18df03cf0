#include "model/scene_view.h"

#include <algorithm>

#include "base/math.h"

namespace mvsim {
namespace {

constexpr int kMaxGridLines = 10000;
constexpr size_t kMaxGrids = 20;
constexpr double kUsualAmbient = 0.5;  // that of a world that says nothing
constexpr double kLineWidth = 0.02;    // m, of a pixel of MVSim's lines

void set_lights(const LightsSpec& lights, Scene& scene) {
  const SinCos azimuth = sin_cos(lights.azimuth), elevation = sin_cos(lights.elevation);
  scene.sun.to_sun = {azimuth.cos * elevation.cos, azimuth.sin * elevation.cos, elevation.sin};
  const uint8_t channels[] = {lights.color.r, lights.color.g, lights.color.b};
  for (size_t k = 0; k < 3; ++k) {
    const float share = static_cast<float>(channels[k]) / 255;
    scene.sun.color[k] *= share * share;  // as colours of surfaces: near linear light
  }
  scene.sun.ambient = static_cast<float>(lights.ambient / kUsualAmbient);
  scene.has_shadows = lights.has_shadows;
}

void set_skybox(const SkyboxSpec& box, SceneMeshes& meshes, Scene& scene) {
  std::array<int, kSkySides>& textures = scene.sky.box.emplace();
  std::transform(box.begin(), box.end(), textures.begin(),
                 [&](const std::shared_ptr<const ColorImage>& side) { return meshes.texture_of(side); });
}

// The frame of the vehicle that a grid follows.
uint32_t frame_of_focus(const GroundGridSpec& grid, Model& model) {
  std::vector<std::string> names;
  for (const VehicleModel& vehicle : model.vehicles) names.push_back(vehicle.name);
  const auto wanted = grid.focus.empty() ? std::min_element(names.begin(), names.end())
                                         : std::find(names.begin(), names.end(), grid.focus);
  if (wanted != names.end())
    return frame_of_body(model.vehicles[static_cast<size_t>(wanted - names.begin())].body);
  if (!grid.focus.empty())
    model.warnings.push_back(grid.focus_where.text() + ": <floating_focus>: found '" + shortened(grid.focus) +
                             "', expected the name of a vehicle" + did_you_mean(grid.focus, names));
  return kWorldFrame;
}

void add_ground_grid(const GroundGridSpec& grid, Model& model, Scene& scene) {
  check_range({.name = "interval", .min = 0, .open_min = true}, grid.interval, grid.where);
  const double size = std::max(grid.extent.x_max - grid.extent.x_min, grid.extent.y_max - grid.extent.y_min);
  if (!(size / grid.interval <= kMaxGridLines))
    throw WorldFileError(grid.where, "<interval>: found more than " + std::to_string(kMaxGridLines) +
                                         " grid lines a side, expected fewer");
  if (scene.ground_grids.size() == kMaxGrids)
    throw WorldFileError(grid.where, "<element>: found more than " + std::to_string(kMaxGrids) +
                                         " elements of class ground_grid, expected fewer");
  scene.ground_grids.push_back({.extent = grid.extent,
                                .interval = grid.interval,
                                .width = kLineWidth * grid.line_width,
                                .color = grid.color,
                                .frame = grid.floating ? frame_of_focus(grid, model) : kWorldFrame});
}

}  // namespace

void add_view(const WorldSpec& spec, SceneMeshes& meshes, Model& model, Scene& scene) {
  if (spec.lights) set_lights(*spec.lights, scene);
  if (spec.skybox) set_skybox(*spec.skybox, meshes, scene);
  for (const GroundGridSpec& grid : spec.ground_grids) add_ground_grid(grid, model, scene);
  for (const MarkerSpec& marker : spec.markers) scene.markers.push_back({marker.points, marker.color});
}

}  // namespace mvsim
