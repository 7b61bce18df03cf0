#include "model/compile.h"

#include <algorithm>

#include "assets/open_file.h"
#include "base/text.h"
#include "model/compile_parts.h"
#include "sensor/sensors.h"
#include "worldfile/expression.h"

namespace mvsim {
namespace {

void compile_globals(const WorldSpec& spec, Model& model) {
  model.path = spec.path;
  model.gravity = spec.gravity;
  model.velocity_iterations = spec.velocity_iterations;
  model.position_iterations = spec.position_iterations;
  model.collision_threshold = spec.collision_threshold;
  model.warnings = spec.warnings;
}

void set_timestep(const WorldSpec& spec, Model& model) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const SensorModel& s : model.sensors)
    if (!s.is_standalone()) shortest = std::min(shortest, s.period);
  model.timestep = spec.timestep > 0 ? spec.timestep : std::min(5e-3, shortest);
}

void find_moving_bodies(Model& model) {
  for (BlockModel& block : model.blocks) block.is_led = block.is_person || block.is_driven;
  for (const AnimationModel& animation : model.animations)
    if (animation.kind == BodyKind::kBlock) model.blocks[animation.index].is_led = true;
  for (size_t i = 0; i < model.bodies.size(); ++i) {
    const auto [kind, index, group] = model.bodies[i];
    if (kind == BodyKind::kVehicle || !model.blocks[index].traits.is_static || model.blocks[index].is_led)
      model.moving_bodies.push_back(i);
  }
}

// Compiles in document order, because the initial height of an object depends only on the elements before it.
void compile_objects(const WorldSpec& spec, const CompileOptions& options, LoadGuard& guard, Model& model) {
  enum Kind { kVehicle, kBlock, kPlane, kElevationMap, kActor };
  struct Item {
    int order;
    Kind kind;
    size_t index;
  };
  std::vector<Item> items;
  for (size_t i = 0; i < spec.vehicles.size(); ++i) items.push_back({spec.vehicles[i].order, kVehicle, i});
  for (size_t i = 0; i < spec.blocks.size(); ++i) items.push_back({spec.blocks[i].order, kBlock, i});
  for (size_t i = 0; i < spec.planes.size(); ++i) items.push_back({spec.planes[i].order, kPlane, i});
  for (size_t i = 0; i < spec.elevation_maps.size(); ++i)
    items.push_back({spec.elevation_maps[i].order, kElevationMap, i});
  for (size_t i = 0; i < spec.actors.size(); ++i) items.push_back({spec.actors[i].order, kActor, i});
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.order < b.order; });
  HeightMapWork map_work;
  model.params.reserve(128 + kBlockParamCount * spec.blocks.size());
  model.vehicles.reserve(spec.vehicles.size());
  model.blocks.reserve(spec.blocks.size());  // the index points into these
  model.terrain.maps.reserve(spec.elevation_maps.size());
  model.terrain.planes.reserve(spec.planes.size());
  model.moving_planes.reserve(spec.planes.size());
  GroundIndex ground(guard);
  MeshOutlines outlines(guard);
  for (const Item& item : items) {
    guard.poll();
    if (item.kind == kVehicle) {
      compile_vehicle(spec.vehicles[item.index], ground, outlines, guard, model);
      add_animation(spec.vehicles[item.index].placement, BodyKind::kVehicle, model);
    } else if (item.kind == kBlock) {
      const BlockSpec& block = spec.blocks[item.index];
      const auto is_one_of = [&](const std::vector<std::string>& patterns) {
        return std::any_of(patterns.begin(), patterns.end(),
                           [&](const std::string& p) { return matches_pattern(p, block.name); });
      };
      const bool moves = !block.placement.animation.empty();
      const bool driven = !moves && !block.intangible && !block.is_wall && is_one_of(options.driven_blocks);
      const bool placed = moves || driven || block.is_person || is_one_of(options.placed_blocks);
      compile_block(block, {placed, driven}, ground, outlines, model);
      add_animation(block.placement, BodyKind::kBlock, model);
    } else if (item.kind == kElevationMap) {
      const ElevationMapSpec& map = spec.elevation_maps[item.index];
      model.terrain.maps.push_back(make_height_map(map, guard, map_work));
      ground.add(model.terrain.maps.back());
    } else if (item.kind == kActor) {
      compile_actor(spec.actors[item.index], ground, model);
    } else if (!spec.planes[item.index].animation.empty()) {
      compile_moving_plane(spec.planes[item.index], ground, model);
    } else {
      const HorizontalPlaneSpec& p = spec.planes[item.index];
      model.terrain.planes.push_back({p.extent, p.pose, p.z});
      ground.add(model.terrain.planes.back());
    }
  }
}

void build_static_shapes(Model& model) {
  std::vector<Polygon> outlines;
  outlines.reserve(model.blocks.size());
  for (const BlockModel& b : model.blocks) {
    if (!b.traits.is_static || b.traits.intangible || b.placed) continue;
    Polygon& world = outlines.emplace_back();
    world.reserve(b.shape.outline.size());
    for (Vec2 v : b.shape.outline)
      world.push_back(transform({b.initial_pose.x, b.initial_pose.y, b.initial_pose.yaw}, v));
  }
  model.static_shapes = StaticShapes(outlines);
}

void set_bounds(Model& model) {
  bool any = false;
  const auto include = [&](Vec2 p) {
    Rect& r = model.bounds;
    if (!any) r = {p.x, p.x, p.y, p.y};
    any = true;
    r = {std::min(r.x_min, p.x), std::max(r.x_max, p.x), std::min(r.y_min, p.y), std::max(r.y_max, p.y)};
  };
  for (int i = 0; i < model.static_shapes.size(); ++i)
    for (Vec2 v : model.static_shapes.vertices(i)) include(v);
  for (const GridModel& g : model.grids) {
    const double w = g.field.width() * g.field.resolution(), h = g.field.height() * g.field.resolution();
    for (Vec2 corner : {Vec2{0, 0}, Vec2{w, 0}, Vec2{w, h}, Vec2{0, h}})
      include(transform(g.T_world_grid, corner));
  }
  for (const HeightMap& map : model.terrain.maps) {
    const Rect e = map.extent();
    include({e.x_min, e.y_min});
    include({e.x_max, e.y_max});
  }
  if (any) return;
  for (const GroundPlane& plane : model.terrain.planes) {  // an open world is as large as its ground
    const Rect& e = plane.extent;
    for (Vec2 corner :
         {Vec2{e.x_min, e.y_min}, Vec2{e.x_min, e.y_max}, Vec2{e.x_max, e.y_min}, Vec2{e.x_max, e.y_max}})
      include(transform({plane.pose.x, plane.pose.y, plane.pose.yaw}, corner));
  }
  if (any) return;
  constexpr double kMargin = 5;  // m, around all things of an open world
  for (const VehicleModel& v : model.vehicles) include({v.initial_pose.x, v.initial_pose.y});
  for (const BlockModel& b : model.blocks) include({b.initial_pose.x, b.initial_pose.y});
  if (!any) include({0, 0});
  model.bounds = {model.bounds.x_min - kMargin, model.bounds.x_max + kMargin, model.bounds.y_min - kMargin,
                  model.bounds.y_max + kMargin};
}

// Single precision tells 0.03 mm apart at 500 m and 0.5 mm at 5 km. Box2D counts from near the first body
// that it moves, so only contacts of others, far from that one at the same time, are rounded so.
void set_origin(Model& model) {
  constexpr double kNear = 500, kFar = 5000;  // m
  Rect r = model.bounds;
  const auto include = [&](const Pose3& p) {
    r = {std::min(r.x_min, p.x), std::max(r.x_max, p.x), std::min(r.y_min, p.y), std::max(r.y_max, p.y)};
  };
  for (const VehicleModel& v : model.vehicles) include(v.initial_pose);
  for (const BlockModel& b : model.blocks)  // the others count by their outlines
    if (!b.traits.is_static || b.traits.intangible || b.placed) include(b.initial_pose);
  const auto reach_from = [&](Vec2 p) {
    return std::max({p.x - r.x_min, r.x_max - p.x, p.y - r.y_min, r.y_max - p.y});
  };
  const auto middle = [](const Rect& e) {
    return Vec2{std::nearbyint((e.x_min + e.x_max) / 2), std::nearbyint((e.y_min + e.y_max) / 2)};
  };
  if (reach_from({0, 0}) > kNear) model.origin = middle(r);
  // no one place serves all: that of the walls, among which an environment puts its vehicles
  if (reach_from(model.origin) > kNear) model.origin = middle(model.bounds);
  const double reach = reach_from(model.origin);
  if (reach > kFar && model.moving_bodies.size() > 1)
    model.warnings.push_back(
        model.path + ": the world reaches " + number_text(std::nearbyint(reach)) +
        " m from its middle and several things move in it: of those that touch something at "
        "the same time, contacts more than " +
        number_text(kFar) + " m from the first are rounded to a millimetre or more");
}

// `is_commanded` says that an environment's actions, which have limits, give its commands.
std::shared_ptr<const Model> compile(const WorldSpec& spec, const CompileOptions& options, LoadGuard& guard,
                                     GridCache& grids, bool is_commanded) {
  auto model = std::make_shared<Model>();
  if (options.make_drawer) model->drawer = options.make_drawer();
  compile_globals(spec, *model);
  for (const OccupancyGridSpec& grid : spec.grids) model->grids.push_back(grids.make(grid, guard));
  compile_objects(spec, options, guard, *model);
  model->has_steps = !model->terrain.empty() || !model->moving_planes.empty() ||
                     std::any_of(model->blocks.begin(), model->blocks.end(),
                                 [](const BlockModel& b) { return b.traits.intangible; });
  model->lowest_moving_ground = find_lowest_moving_ground(*model);
  find_moving_bodies(*model);
  compile_joints(spec, *model);
  compile_regions(spec, guard, *model);
  compile_site(spec, guard, *model);
  compile_standalone_sensors(spec, guard, *model);
  set_timestep(spec, *model);
  check_drives(spec, *model);
  check_dampings(spec, *model);
  check_speeds(spec, is_commanded, *model);
  build_static_shapes(*model);
  set_bounds(*model);
  set_origin(*model);
  compile_scene(spec, guard, *model);
  find_level_views(*model);
  find_recipe_frames(*model);
  lay_out_sensors(*model);
  for (std::string& warning : model->warnings) warning = printable(warning);
  guard.poll();
  model->load_bytes = guard.used();
  model->fingerprint = fingerprint(*model);
  return model;
}

void refuse_warnings(const Model& model) {
  const std::vector<std::string>& warnings = model.warnings;
  if (warnings.empty()) return;
  const std::string count =
      warnings.size() == 1 ? "a warning" : std::to_string(warnings.size()) + " warnings";
  throw WorldFileError({std::make_shared<const std::string>(model.path), 0, 0},
                       "strict refuses " + count + ": " + warnings.front());
}

std::shared_ptr<const Model> compile_checked(const WorldSpec& spec, const CompileOptions& options,
                                             LoadGuard& guard, GridCache& grids, bool is_commanded) {
  try {
    std::shared_ptr<const Model> model = compile(spec, options, guard, grids, is_commanded);
    if (options.strict) refuse_warnings(*model);
    return model;
  } catch (const WorldFileError& e) {
    throw with_includes(e, spec);
  }
}

}  // namespace

std::shared_ptr<const Model> compile_world(const WorldSpec& spec, const CompileOptions& options) {
  LoadGuard guard;
  GridCache grids;
  return compile_checked(spec, options, guard, grids, false);
}

std::shared_ptr<const Model> compile_world(const WorldSpec& spec, const CompileOptions& options,
                                           LoadGuard& guard, GridCache& grids) {
  return compile_checked(spec, options, guard, grids, true);
}

std::shared_ptr<const Model> load_model(const std::string& path, const WorldLoadOptions& load,
                                        const CompileOptions& compile) {
  require_file(path, "world");
  LoadGuard guard(load.memory_limit, load.poll);
  LoadSession session(guard);
  GridCache grids;
  WorldLoadOptions options = load;
  options.sensor_prefixes = sensor_prefixes();
  return compile_checked(load_world(open_file(path), options, session), compile, guard, grids, false);
}

}  // namespace mvsim
