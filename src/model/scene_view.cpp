#include "model/scene_view.h"

#include <algorithm>
#include <limits>

#include "base/math.h"
#include "model/mesh_outline.h"
#include "sensor/view_sensor.h"

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
  const std::vector<std::string> names = names_in(model.vehicles);
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
  check_range({.name = "interval", .min = 0, .is_min_excluded = true}, grid.interval, grid.where);
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

SceneLabels::SceneLabels(const WorldSpec& spec) {
  std::vector<std::pair<int, std::string>> things;
  // A thing without a name of its own is labelled by its kind.
  const auto collect = [&](const auto& all, const char* kind) {
    for (const auto& thing : all) {
      if constexpr (requires { thing.is_person; })
        if (thing.is_person) continue;  // its actor has the name
      if constexpr (requires { thing.name; })
        things.emplace_back(thing.order, thing.name);
      else
        things.emplace_back(thing.order, kind);
    }
  };
  collect(spec.vehicles, "");
  collect(spec.blocks, "");
  collect(spec.grids, "occupancy_grid");
  collect(spec.elevation_maps, "elevation_map");
  collect(spec.planes, "horizontal_plane");
  collect(spec.actors, "");
  collect(spec.panels, "vertical_plane");
  collect(spec.point_clouds, "pointcloud");
  std::ranges::stable_sort(things, {}, &std::pair<int, std::string>::first);
  for (auto& [order, name] : things) {
    orders_.push_back(order);
    names_.push_back(std::move(name));
  }
  if (!spec.sensors.empty()) names_.emplace_back("sensor");  // all devices that stand in the world
}

uint16_t SceneLabels::of(int order) const {
  const auto place = std::lower_bound(orders_.begin(), orders_.end(), order) - orders_.begin() + 1;
  return static_cast<uint16_t>(std::min<std::ptrdiff_t>(place, std::numeric_limits<uint16_t>::max()));
}

static constexpr size_t kMaxInstances = 1'000'000;

bool SceneMeshes::add(std::span<const VisualSpec> visuals, uint32_t frame, const Frame3& T_frame_object,
                      uint16_t label) {
  bool any = false;
  for (const VisualSpec& visual : visuals) {
    if (!visual.mesh) continue;
    any = true;
    add_parts(visual, frame, compose(T_frame_object, visual_frame(visual)), label);
  }
  return any;
}

void SceneMeshes::add_parts(const VisualSpec& visual, uint32_t frame, const Frame3& T_frame_mesh,
                            uint16_t label) {
  if (scene_.instances.size() + visual.mesh->parts.size() > kMaxInstances)
    throw WorldFileError(visual.where, "<visual>: the meshes of the world have more than " +
                                           std::to_string(kMaxInstances) +
                                           " parts (one a material, counted each time that it is shown)");
  for (const MeshPart& part : visual.mesh->parts)
    scene_.instances.push_back({shape_of(part), material_of(part, visual), frame, T_frame_mesh, label});
}

uint32_t SceneMeshes::shape_of(const MeshPart& part) {
  const auto [known, is_new] = shapes_.emplace(part.mesh.get(), static_cast<uint32_t>(scene_.shapes.size()));
  if (is_new) scene_.shapes.emplace_back(part.mesh);
  return known->second;
}

uint32_t SceneMeshes::material_of(const MeshPart& part, const VisualSpec& visual) {
  const Color& c = visual.color;
  const std::tuple key{part.mesh.get(), std::array{c.r, c.g, c.b, c.a}, visual.cull};
  const auto [known, is_new] = materials_.emplace(key, static_cast<uint32_t>(scene_.materials.size()));
  if (is_new)
    scene_.materials.push_back(
        {.color = c == Color{} ? part.color : c, .texture = texture_of(part.texture), .cull = visual.cull});
  return known->second;
}

int SceneMeshes::texture_of(const std::shared_ptr<const ColorImage>& image) {
  if (!image) return Material::kNoTexture;
  const auto [known, is_new] = textures_.emplace(image.get(), static_cast<int>(scene_.textures.size()));
  if (is_new) scene_.textures.push_back(image);
  return known->second;
}

const ViewDrawer& drawer_of(const Model& model) {
  if (!model.drawer) throw Error(model.path + ": compiled without a drawer, which its sensors need to see");
  return *model.drawer;
}

CameraBackend drawn_by(const Model& model) {
  const bool has_cameras = std::ranges::any_of(model.sensors, [](const SensorModel& s) {
    const ViewSensor* const view = as_view_sensor(*s.sensor);
    return view && view->images().front().view.is_pinhole();
  });
  return has_cameras && model.drawer ? model.drawer->known_backend() : CameraBackend::kAuto;
}

}  // namespace mvsim
