#include "model/compile.h"

#include <algorithm>

#include "model/compile_joint.h"
#include "model/compile_region.h"
#include "model/compile_scene.h"
#include "model/compile_vehicle.h"
#include "model/elevation.h"
#include "model/fingerprint.h"
#include "model/grid.h"

namespace mvsim {
namespace {

void compile_globals(const WorldSpec& spec, Model& model) {
  const SourceLocation where{std::make_shared<std::string>(spec.path), 0, 0};
  const auto check = [&](const char* name, double value, double min, double max) {
    check_range({.name = name, .min = min, .max = max}, value, where);
  };
  check("gravity", spec.gravity, 0, 1e3);
  check("b2d_vel_iters", spec.velocity_iterations, 1, 1000);
  check("b2d_pos_iters", spec.position_iterations, 0, 1000);
  check("collision_threshold", spec.collision_threshold, 0, 10);
  model.path = spec.path;
  model.gravity = spec.gravity;
  model.velocity_iterations = spec.velocity_iterations;
  model.position_iterations = spec.position_iterations;
  model.collision_threshold = spec.collision_threshold;
  model.warnings = spec.warnings;
}

void set_timestep(const WorldSpec& spec, Model& model) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const SensorModel& s : model.sensors) shortest = std::min(shortest, s.period);
  check_range({.name = "simul_timestep", .min = 0, .max = 1}, spec.timestep, spec.timestep_where);
  model.timestep = spec.timestep > 0 ? spec.timestep : std::min(5e-3, shortest);
  if (model.timestep < 1e-6)
    throw WorldFileError(spec.timestep_where,
                         "<simul_timestep>: found a step below 1e-6 s, expected 0 (automatic) or "
                         "1e-6 to 1 s");
  if (spec.timestep > shortest)
    model.warnings.push_back(
        spec.timestep_where.text() +
        ": <simul_timestep> is larger than the shortest sensor period: readings come late");
}

// Document order: the initial height of an object depends on what stands before it only.
void compile_objects(const WorldSpec& spec, const CompileOptions& options, Model& model) {
  enum Kind { kVehicle, kBlock, kPlane, kElevationMap };
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
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.order < b.order; });
  size_t map_nodes = 0;
  for (const Item& item : items) {
    if (item.kind == kVehicle) {
      compile_vehicle(spec.vehicles[item.index], model);
    } else if (item.kind == kBlock) {
      const BlockSpec& block = spec.blocks[item.index];
      const bool placed = std::any_of(options.placed_blocks.begin(), options.placed_blocks.end(),
                                      [&](const std::string& p) { return matches_pattern(p, block.name); });
      compile_block(block, placed, model);
    } else if (item.kind == kElevationMap) {
      const ElevationMapSpec& map = spec.elevation_maps[item.index];
      model.terrain.maps.push_back(make_height_map(map, map_nodes));
    } else {
      const HorizontalPlaneSpec& p = spec.planes[item.index];
      model.terrain.planes.push_back({p.extent, p.pose, p.z});
    }
  }
}

void build_static_shapes(Model& model) {
  std::vector<Polygon> outlines;
  for (const BlockModel& b : model.blocks) {
    if (!b.is_static || b.intangible || b.placed) continue;
    Polygon world;
    for (Vec2 v : b.shape.outline)
      world.push_back(transform({b.initial_pose.x, b.initial_pose.y, b.initial_pose.yaw}, v));
    outlines.push_back(std::move(world));
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
  constexpr double kMargin = 5;  // m, around what stands in an open world
  for (const VehicleModel& v : model.vehicles) include({v.initial_pose.x, v.initial_pose.y});
  for (const BlockModel& b : model.blocks) include({b.initial_pose.x, b.initial_pose.y});
  if (!any) include({0, 0});
  model.bounds = {model.bounds.x_min - kMargin, model.bounds.x_max + kMargin, model.bounds.y_min - kMargin,
                  model.bounds.y_max + kMargin};
}

}  // namespace

std::shared_ptr<const Model> compile_world(const WorldSpec& spec, const CompileOptions& options) {
  auto model = std::make_shared<Model>();
  compile_globals(spec, *model);
  for (const OccupancyGridSpec& grid : spec.grids) model->grids.push_back(make_grid(grid));
  compile_objects(spec, options, *model);
  model->has_steps = !model->terrain.empty() || std::any_of(model->blocks.begin(), model->blocks.end(),
                                                            [](const BlockModel& b) { return b.intangible; });
  compile_joints(spec, *model);
  compile_regions(spec, *model);
  set_timestep(spec, *model);
  build_static_shapes(*model);
  set_bounds(*model);
  compile_scene(spec, *model);
  model->fingerprint = fingerprint(*model);
  return model;
}

std::shared_ptr<const Model> load_model(const std::string& path, const WorldLoadOptions& load,
                                        const CompileOptions& compile) {
  return compile_world(load_world(path, load), compile);
}

}  // namespace mvsim
