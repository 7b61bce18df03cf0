#include "model/compile_parts.h"

#include <algorithm>
#include <limits>

#include "base/geometry3.h"
#include "model/scene_view.h"
#include "model/shape.h"
#include "scene/grid_triangles.h"
#include "scene/scene.h"
#include "sensor/sensors.h"

namespace mvsim {
namespace {

constexpr double kGridWallHeight = 0.5;  // m
constexpr Color kGridWallColor{0x6f, 0x7f, 0x96, 255};
constexpr Color kFreeFloorColor{0xe6, 0xe8, 0xea, 255}, kUnknownFloorColor{0xb4, 0xb9, 0xbf, 255};

class SceneCompiler {
 public:
  SceneCompiler(const WorldSpec& spec, LoadGuard& guard, Model& model, Scene& scene)
      : spec_(spec), guard_(guard), model_(model), scene_(scene), labels_(spec), meshes_(scene) {}

  SceneMeshes& meshes() { return meshes_; }

  void add_planes();
  void add_actors();
  void add_panels();
  void add_point_clouds();
  void add_grids();
  void add_height_maps();
  void add_blocks(bool fixed);
  void add_vehicles();
  void add_standalone_sensors();
  void add_element_visuals();
  void set_extent();

 private:
  void add(uint32_t shape, const Material& material, uint32_t frame, const Frame3& T_frame_shape, int order) {
    scene_.instances.push_back({shape, material_index(material), frame, T_frame_shape, labels_.of(order)});
  }
  template <typename T>
  uint32_t shape_index(T&& shape) {
    scene_.shapes.emplace_back(std::forward<T>(shape));
    return static_cast<uint32_t>(scene_.shapes.size() - 1);
  }
  // Equal wheels and chassis of one vehicle after the other are one shape: it is kept once in a driver's
  // memory.
  template <typename T>
  uint32_t shared_shape(const T& shape) {
    constexpr size_t kLookBack = 8;
    const size_t count = scene_.shapes.size();
    for (size_t i = count; i > (count > kLookBack ? count - kLookBack : 0); --i)
      if (const T* known = std::get_if<T>(&scene_.shapes[i - 1]); known && *known == shape)
        return static_cast<uint32_t>(i - 1);
    return shape_index(shape);
  }
  uint32_t material_index(const Material& material) {
    auto& all = scene_.materials;
    if (all.empty() || all.back() != material) all.push_back(material);
    return static_cast<uint32_t>(all.size() - 1);
  }
  // Whether a mesh is there to be drawn.
  bool add_visuals(std::span<const VisualSpec> visuals, uint32_t frame, const Frame3& T_frame_object,
                   int order) {
    return meshes_.add(visuals, frame, T_frame_object, labels_.of(order));
  }
  // The material of a surface; a texture stands in place of its colour.
  Material painted(Color color, const TextureSpec& texture) {
    if (!texture.image) return {.color = color};
    return {.color = {}, .texture = meshes_.texture_of(texture.image)};
  }
  static Tile tile_of(const TextureSpec& texture) {
    return texture.image ? Tile{texture.size_x, texture.size_y} : Tile{};
  }
  void add_linked(const VehicleSpec& spec, VehicleModel& vehicle);
  void add_wheels(const VehicleSpec& spec, const VehicleModel& vehicle);
  void add_sensors(std::span<const SensorSpec> specs, size_t vehicle, uint32_t frame, int order);

  const WorldSpec& spec_;
  LoadGuard& guard_;
  Model& model_;
  Scene& scene_;
  SceneLabels labels_;
  SceneMeshes meshes_;
};

// A visual that turns with a wheel has a frame of its own: at its offset, with the yaw of the wheel.
void SceneCompiler::add_linked(const VehicleSpec& spec, VehicleModel& vehicle) {
  for (size_t w = 0; w < vehicle.wheels.size(); ++w)
    for (const WheelSpec& wheel : spec.wheels) {
      if (wheel.tag != vehicle.wheels[w].tag || wheel.linked_yaw.empty()) continue;
      for (const VisualSpec& visual : spec.visuals) {
        if (visual.name != wheel.linked_yaw || !visual.mesh) continue;
        const uint32_t frame = scene_.frame_count++;
        vehicle.linked_visuals.push_back({frame, w, {visual.x, visual.y, visual.z}, wheel.linked_yaw_offset});
        VisualSpec rest = visual;
        rest.x = rest.y = rest.z = rest.yaw = 0;
        add_visuals({&rest, 1}, frame, {}, spec.order);
      }
    }
}

void SceneCompiler::add_wheels(const VehicleSpec& spec, const VehicleModel& vehicle) {
  for (size_t w = 0; w < vehicle.wheels.size(); ++w) {
    const WheelModel& wheel = vehicle.wheels[w];
    const auto in_file = std::find_if(spec.wheels.begin(), spec.wheels.end(),
                                      [&](const WheelSpec& s) { return s.tag == wheel.tag; });
    static const WheelSpec kAbsent;
    const WheelSpec& given = in_file == spec.wheels.end() ? kAbsent : *in_file;
    const uint32_t frame = frame_of_wheel(model_.bodies.size(), vehicle.first_wheel + w);
    if (!add_visuals(given.visuals, frame, {}, spec.order))
      add(shared_shape(WheelShape{wheel.radius, wheel.width}), {.color = given.color}, frame, {}, spec.order);
  }
}

// The devices of the sensors of one vehicle, or of those that stand in the world.
void SceneCompiler::add_sensors(std::span<const SensorSpec> specs, size_t vehicle, uint32_t frame,
                                int order) {
  for (const SensorSpec& spec : specs)
    for (size_t i = 0; i < model_.sensors.size(); ++i) {
      const SensorModel& sensor = model_.sensors[i];
      if (sensor.vehicle != vehicle || sensor.name != spec.name) continue;
      const size_t before = scene_.instances.size();
      add_visuals(spec.visuals, frame, Frame3(sensor.sensor->mount()), order);
      for (size_t k = before; k < scene_.instances.size(); ++k)
        scene_.instances[k].sensor = static_cast<int>(i);
    }
}

// After all else, with one label.
void SceneCompiler::add_standalone_sensors() {
  add_sensors(spec_.sensors, SensorModel::kNoVehicle, kWorldFrame, std::numeric_limits<int>::max());
}

void SceneCompiler::add_planes() {
  size_t fixed = 0, moving = 0;
  for (const HorizontalPlaneSpec& spec : spec_.planes) {
    const uint32_t shape = shape_index(LevelRect{spec.extent, tile_of(spec.texture)});
    Material material = painted(spec.color, spec.texture);
    material.cull = spec.cull;
    // a ceiling that is not drawn from above lets the sun in
    const bool casts_shadow = spec.casts_shadow && spec.cull != CullFaces::kFront;
    if (spec.animation.empty()) {
      const GroundPlane& plane = model_.terrain.planes[fixed++];
      const Pose3 pose{plane.pose.x, plane.pose.y, plane.pose.z + plane.z, plane.pose.yaw, 0, 0};
      material.casts_shadow = casts_shadow && pose.z > 0;  // a floor has nothing below it
      add(shape, material, kWorldFrame, Frame3(pose), spec.order);
      add_visuals(spec.visuals, kWorldFrame, Frame3(plane.pose), spec.order);
    } else {
      MovingPlane& plane = model_.moving_planes[moving++];
      plane.frame = scene_.frame_count++;
      material.casts_shadow = casts_shadow;
      add(shape, material, plane.frame, Frame3(Pose3{.z = spec.z}), spec.order);
      add_visuals(spec.visuals, plane.frame, {}, spec.order);
    }
  }
}

void SceneCompiler::add_panels() {
  for (const PanelSpec& panel : spec_.panels) {
    const Vec2 along = panel.to - panel.from, middle = 0.5 * (panel.from + panel.to);
    const Pose3 pose{middle.x, middle.y, 0, math::atan2(along.y, along.x), 0, 0};
    Material material = painted(panel.color, panel.texture);
    material.casts_shadow = panel.casts_shadow;
    add(shape_index(Prism{box_polygon(norm(along), panel.thickness), panel.z_min, panel.z_max,
                          tile_of(panel.texture)}),
        material, kWorldFrame, Frame3(pose), panel.order);
  }
}

// A small tetrahedron for each point.
void SceneCompiler::add_point_clouds() {
  constexpr double kPixel = 0.005;  // m
  constexpr Color kPoints{0x20, 0x50, 0xc0, 255};
  constexpr Vec3 kCorners[] = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
  constexpr uint32_t kSides[] = {0, 1, 3, 0, 2, 1, 0, 3, 2, 1, 2, 3};
  for (const PointCloudSpec& cloud : spec_.point_clouds) {
    Mesh mesh;
    const double reach = cloud.size * kPixel / 2;
    for (const Vec3 p : cloud.points) {
      const auto first = static_cast<uint32_t>(mesh.positions.size());
      for (const Vec3 corner : kCorners) {
        mesh.positions.push_back(p + reach * corner);
        const Vec3 n = normalized(corner);
        mesh.normals.push_back({static_cast<float>(n.x), static_cast<float>(n.y), static_cast<float>(n.z)});
      }
      for (const uint32_t side : kSides) mesh.indices.push_back(first + side);
    }
    add(shape_index(std::make_shared<const Mesh>(std::move(mesh))), {.color = kPoints, .casts_shadow = false},
        kWorldFrame, Frame3(cloud.pose), cloud.order);
  }
}

// Adds each actor's model, or a plain figure of a body and a head.
void SceneCompiler::add_actors() {
  constexpr Color kClothes{0x5a, 0x6b, 0x86, 255}, kSkin{0xc8, 0x9b, 0x7b, 255};
  for (size_t i = 0; i < model_.actors.size(); ++i) {
    ActorModel& actor = model_.actors[i];
    if (actor.block >= 0) {
      BlockModel& body = model_.blocks[static_cast<size_t>(actor.block)];
      body.frame = actor.frame = frame_of_body(static_cast<size_t>(body.body));
    } else {
      actor.frame = scene_.frame_count++;
    }
    if (add_visuals(spec_.actors[i].visuals, actor.frame, {}, spec_.actors[i].order)) continue;
    const double head = 0.8 * actor.radius, neck = std::max(actor.height - 2 * head, 0.1 * actor.height);
    add(shared_shape(Prism{circle_polygon(actor.radius, 16), 0, neck}), {.color = kClothes}, actor.frame, {},
        spec_.actors[i].order);
    add(shared_shape(Prism{circle_polygon(head, 16), neck, neck + 2 * head}), {.color = kSkin}, actor.frame,
        {}, spec_.actors[i].order);
  }
}

void SceneCompiler::add_grids() {
  std::vector<const GridField*> fields;
  for (const GridModel& grid : model_.grids) fields.push_back(&grid.field);
  if (fields.empty()) return;
  const SourceLocation& where = spec_.grids.front().where;
  double cells = 0;
  for (const GridField* field : fields) cells = std::max(cells, double{1} * field->width() * field->height());
  const TemporaryMemory memory(guard_, cells, where, "the drawing of the maps");
  const double room = std::max(0.0, static_cast<double>(guard_.memory_limit()) - guard_.used());
  const auto fit = merged_to_fit(fields, std::min(kMostCorners, static_cast<size_t>(room / kBytesPerCorner)));
  const auto& merged = fit.merged;
  const bool is_seen = std::ranges::any_of(
      model_.sensors, [](const SensorModel& sensor) { return !views_of(*sensor.sensor).empty(); });
  if (is_seen)  // else it is drawn for people alone, if at all
    guard_.take(kBytesPerCorner * static_cast<double>(fit.corners), where, "the drawing of the maps");
  for (size_t i = 0; i < spec_.grids.size(); ++i) {
    const GridModel& grid = model_.grids[i];
    if (merged[i] > 1)
      model_.warnings.push_back(
          spec_.grids[i].where.text() +
          ": the map has too many single cells to be drawn: " + std::to_string(merged[i]) + " x " +
          std::to_string(merged[i]) + " cells are shown as one, to cameras and 3D lidars too");
    const Pose3 pose{grid.T_world_grid.x, grid.T_world_grid.y, 0, grid.T_world_grid.yaw, 0, 0};
    const auto add_part = [&](GridCells::Part part, Color color) {
      add(shape_index(GridCells{&grid.field, part, kGridWallHeight, merged[i]}),
          {.color = color, .casts_shadow = part == GridCells::kWalls}, kWorldFrame, Frame3(pose),
          spec_.grids[i].order);
    };
    add_part(GridCells::kFreeFloor, kFreeFloorColor);
    add_part(GridCells::kUnknownFloor, kUnknownFloorColor);
    add_part(GridCells::kWalls, kGridWallColor);
  }
}

void SceneCompiler::add_height_maps() {
  for (size_t i = 0; i < spec_.elevation_maps.size(); ++i) {
    const HeightMap& map = model_.terrain.maps[i];
    const ElevationMapSpec& spec = spec_.elevation_maps[i];
    Tile tile = tile_of(spec.texture);
    if (spec.texture.image) {
      if (tile.x == 0) tile.x = (map.rows() - 1) * map.resolution();
      if (tile.y == 0) tile.y = (map.columns() - 1) * map.resolution();
    }
    const HeightField field{.rows = map.rows(),
                            .columns = map.columns(),
                            .heights = map.heights(),
                            .corner = map.corner(),
                            .step_x = map.resolution(),
                            .step_y = map.resolution(),
                            .colors = spec.colors,
                            .tile = tile,
                            .tile_turns = spec.texture_turns};
    Material material = painted(spec.color, spec.texture);
    material.casts_shadow = false;
    add(shape_index(field), material, kWorldFrame, {}, spec.order);
  }
}

void SceneCompiler::add_blocks(bool fixed) {
  for (size_t i = 0; i < spec_.blocks.size(); ++i) {
    BlockModel& block = model_.blocks[i];
    if (fixed != (block.traits.is_static && !block.placed) || !spec_.blocks[i].is_drawn) continue;
    if (!fixed)
      block.frame = block.body >= 0 ? frame_of_body(static_cast<size_t>(block.body)) : scene_.frame_count++;
    const Frame3 T_frame_block = fixed ? Frame3(block.initial_pose) : Frame3();
    if (add_visuals(spec_.blocks[i].visuals, block.frame, T_frame_block, spec_.blocks[i].order)) continue;
    PlacedPrism placed = block_prism(block);
    placed.prism.tile = tile_of(spec_.blocks[i].texture);
    Material material = painted(spec_.blocks[i].color, spec_.blocks[i].texture);
    material.casts_shadow = spec_.blocks[i].casts_shadow;
    if (!fixed) {
      add(shared_shape(placed.prism), material, block.frame, placed.T_block_prism, spec_.blocks[i].order);
      continue;
    }
    const Frame3 T_world_prism = compose(Frame3(block.initial_pose), placed.T_block_prism);
    add(shape_index(std::move(placed.prism)), material, kWorldFrame, T_world_prism, spec_.blocks[i].order);
  }
}

std::vector<VisualSpec> not_linked(const VehicleSpec& spec) {
  std::vector<VisualSpec> out;
  for (const VisualSpec& visual : spec.visuals)
    if (std::none_of(spec.wheels.begin(), spec.wheels.end(),
                     [&](const WheelSpec& wheel) { return wheel.linked_yaw == visual.name; }))
      out.push_back(visual);
  return out;
}

void SceneCompiler::add_vehicles() {
  for (size_t i = 0; i < spec_.vehicles.size(); ++i) {
    const VehicleSpec& spec = spec_.vehicles[i];
    VehicleModel& vehicle = model_.vehicles[i];
    add_linked(spec, vehicle);
    if (add_visuals(not_linked(spec), frame_of_body(vehicle.body), {}, spec.order) ||
        !vehicle.linked_visuals.empty())
      continue;
    add(shared_shape(Prism{vehicle.chassis.outline, vehicle.z_min, vehicle.z_max}),
        {.color = spec.chassis.color.value_or(vehicle.dynamics->default_color())},
        frame_of_body(vehicle.body), {}, spec.order);
  }
  // after all chassis, so that equal ones are found to be equal
  for (size_t i = 0; i < spec_.vehicles.size(); ++i) {
    const VehicleSpec& spec = spec_.vehicles[i];
    add_wheels(spec, model_.vehicles[i]);
    add_sensors(spec.sensors, i, frame_of_body(model_.vehicles[i].body), spec.order);
  }
}

void SceneCompiler::add_element_visuals() {
  for (const ElementVisualsSpec& element : spec_.element_visuals)
    add_visuals(element.visuals, kWorldFrame, Frame3(element.pose), element.order);
}

void SceneCompiler::set_extent() {
  scene_.label_names = std::move(labels_.names());
  scene_.bounds = model_.bounds;
  scene_.height = model_.grids.empty() ? 0 : kGridWallHeight;
  for (const BlockModel& b : model_.blocks) scene_.height = std::max(scene_.height, b.z_max);
  for (const HeightMap& map : model_.terrain.maps) scene_.height = std::max(scene_.height, map.highest());
}

}  // namespace

void compile_scene(const WorldSpec& spec, LoadGuard& guard, Model& model) {
  auto scene = std::make_shared<Scene>();
  SceneCompiler compiler(spec, guard, model, *scene);
  scene->frame_count = frame_of_wheel(model.bodies.size(), model.wheel_count);
  compiler.add_planes();
  compiler.add_grids();
  compiler.add_height_maps();
  compiler.add_blocks(true);
  compiler.add_blocks(false);
  compiler.add_vehicles();
  compiler.add_actors();
  compiler.add_panels();
  compiler.add_point_clouds();
  compiler.add_standalone_sensors();
  compiler.add_element_visuals();
  add_view(spec, compiler.meshes(), model, *scene);
  compiler.set_extent();
  model.scene = std::move(scene);
}

}  // namespace mvsim
