#include "sim/draw_simulation.h"

#include <algorithm>

#include "render/mesh.h"
#include "sim/draw_terrain.h"

namespace mvsim {
namespace {

constexpr Color kGoalColor{0x2e, 0xa0, 0x43, 255};
constexpr Color kHitColor{0xd9, 0x2c, 0x2c, 255};
constexpr Color kHeadingColor{0xff, 0xff, 0xff, 255};
constexpr Color kRopeColor{0xf2, 0xc0, 0x1e, 255}, kHitchColor{0xd9, 0x2c, 0x2c, 255};
constexpr double kGroundMargin = 1;  // m, of the ground drawn where a world has none
constexpr double kTilt = 25 * kDegree;

void add_ground(const Model& model, StaticScene& scene) {
  for (size_t i = 0; i < model.terrain.planes.size(); ++i) {
    const GroundPlane& plane = model.terrain.planes[i];
    Ground ground;
    ground.extent = plane.extent;
    ground.T_world_ground = {plane.pose.x, plane.pose.y, plane.pose.yaw};
    ground.z = plane.pose.z + plane.z;
    ground.color = model.plane_colors[i];
    scene.grounds.push_back(ground);
  }
  if (!scene.grounds.empty() || !model.grids.empty() || !model.terrain.maps.empty()) return;
  Ground ground;
  const Rect& b = model.bounds;
  ground.extent = {b.x_min - kGroundMargin, b.x_max + kGroundMargin, b.y_min - kGroundMargin,
                   b.y_max + kGroundMargin};
  scene.grounds.push_back(ground);
}

void add_grid(const GridModel& model, StaticScene& scene) {
  GridCells grid;
  grid.width = model.field.width();
  grid.height = model.field.height();
  grid.resolution = model.field.resolution();
  grid.T_world_grid = model.T_world_grid;
  grid.cells.reserve(static_cast<size_t>(grid.width) * static_cast<size_t>(grid.height));
  for (int y = 0; y < grid.height; ++y)
    for (int x = 0; x < grid.width; ++x) {
      const Cell cell = model.field.cell(x, y);
      grid.cells.push_back(cell == Cell::kOccupied ? kOccupiedCell
                           : cell == Cell::kFree   ? kFreeCell
                                                   : kUnknownCell);
    }
  scene.grids.push_back(std::move(grid));
}

void add_grid_lines(const GroundGridModel& model, StaticScene& scene) {
  constexpr double kAboveGround = 0.005;  // m
  Segments lines;
  lines.color = model.color;
  const Rect& e = model.extent;
  for (double x = e.x_min; x <= e.x_max + 1e-9; x += model.interval) {
    lines.points.push_back({x, e.y_min, kAboveGround});
    lines.points.push_back({x, e.y_max, kAboveGround});
  }
  for (double y = e.y_min; y <= e.y_max + 1e-9; y += model.interval) {
    lines.points.push_back({e.x_min, y, kAboveGround});
    lines.points.push_back({e.x_max, y, kAboveGround});
  }
  scene.segments.push_back(std::move(lines));
}

// A ramp or a bump: its profile, stood upright and drawn out along its width or length.
Prism profile_prism(const BlockModel& block, Pose3 pose, double scale) {
  const BlockTop& top = block.top;
  Prism prism{{}, 0, 0, pose, block.color};
  prism.pose.roll = kPi / 2;  // local y is up, local z points to -y
  if (top.shape == TopShape::kRamp) {
    const double length = scale * top.length_x, half = scale * top.length_y / 2;
    prism.shape = {{0, 0}, {length, 0}, {length, top.height}};
    prism.z_min = -half;
    prism.z_max = half;
    return prism;
  }
  constexpr int kSides = 16;
  const double half_width = scale * top.length_y / 2, half_length = scale * top.length_x / 2;
  prism.pose.yaw += kPi / 2;
  for (int i = 0; i <= kSides; ++i) {
    const SinCos sc = sin_cos(kPi * i / kSides);
    prism.shape.push_back({half_width * sc.cos, top.height * sc.sin});
  }
  prism.z_min = -half_length;
  prism.z_max = half_length;
  return prism;
}

Prism block_prism(const BlockModel& block, const Pose3& pose, double scale) {
  if (block.top.shape != TopShape::kFlat) return profile_prism(block, pose, scale);
  Prism prism{{}, block.z_min, block.z_max, pose, block.color};
  for (Vec2 v : block.shape.outline) prism.shape.push_back(scale * v);
  return prism;
}

bool is_fixed(const BlockModel& block) {
  return block.is_static && !block.placed;
}

// A wheel that is turned by `steer` about the vehicle's own z axis.
Pose3 wheel_pose(const Frame3& base, Vec2 position, double radius, double steer) {
  const Rotation2 turn(steer);
  const Vec3 x = base.rotate({turn.c, turn.s, 0}), y = base.rotate({-turn.s, turn.c, 0});
  const Vec3 center = base.transform({position.x, position.y, radius});
  return {center.x,
          center.y,
          center.z,
          arc_tangent(x.y, x.x),
          arc_tangent(-x.z, norm(Vec2{x.x, x.y})),
          arc_tangent(y.z, base.z.z)};
}

void add_vehicle(const Simulation& simulation, size_t index, DrawScene& scene) {
  const VehicleModel& vehicle = simulation.model().vehicles[index];
  const Pose3 pose = simulation.vehicle_pose(index);
  const Frame3 base(pose);
  scene.prisms.push_back({.shape = vehicle.chassis.outline,
                          .z_min = vehicle.z_min,
                          .z_max = vehicle.z_max,
                          .pose = pose,
                          .color = vehicle.color});
  const auto states = simulation.wheels(index);
  for (size_t i = 0; i < states.size(); ++i) {
    const WheelModel& w = vehicle.wheels[i];
    scene.wheels.push_back({.pose = wheel_pose(base, w.position, w.radius, states[i].steer),
                            .radius = w.radius,
                            .width = w.width,
                            .spin = states[i].angle,
                            .color = w.color});
  }
  const Vec3 top = base.transform({0, 0, vehicle.z_max + 0.002});
  const Pose3 on_top{top.x, top.y, top.z, pose.yaw, pose.pitch, pose.roll};
  scene.headings.push_back({.pose = on_top, .length = vehicle.chassis.radius, .color = kHeadingColor});
}

// Where the rays of a lidar end that hit something.
void add_hits(Simulation& simulation, size_t index, Spheres& hits) {
  const SensorModel& model = simulation.model().sensors[index];
  const auto angles = model.sensor->angles();
  if (angles.empty()) return;
  std::vector<float> ranges(model.sensor->size());
  std::vector<uint8_t> valid(model.sensor->size());
  simulation.read_now(index, ranges.data(), valid.data());
  const Pose3 base = simulation.vehicle_pose(model.vehicle);
  const Pose3 mount = model.sensor->mount_pose();
  const Pose2 sensor = compose({base.x, base.y, base.yaw}, {mount.x, mount.y, mount.yaw});
  for (size_t i = 0; i < angles.size(); ++i) {
    if (!valid[i]) continue;
    const Vec2 hit = transform(sensor, Rotation2(angles[i]).rotate({ranges[i], 0}));
    hits.centers.push_back({hit.x, hit.y, base.z + mount.z});
  }
}

// A rope is a line between its ends, a hitch a cross; both above what they hold, so that they are seen.
void add_joints(const Simulation& simulation, DrawScene& scene) {
  constexpr double kAbove = 0.01, kHalfCross = 0.1;  // m
  const Model& model = simulation.model();
  const auto top = [&](size_t body) {
    const BodyModel& b = model.bodies[body];
    return b.kind == BodyKind::kVehicle ? simulation.vehicle_pose(b.index).z + model.vehicles[b.index].z_max
                                        : simulation.block_pose(b.index).z + model.blocks[b.index].z_max;
  };
  Segments ropes{{}, kRopeColor}, hitches{{}, kHitchColor};
  for (size_t i = 0; i < model.joints.size(); ++i) {
    const JointModel& joint = model.joints[i];
    const auto [a, b] = simulation.joint_anchors(i);
    const double z = kAbove + std::max(top(joint.body_a), top(joint.body_b));
    Segments& lines = joint.type == JointType::kDistance ? ropes : hitches;
    for (const Vec3 p : {Vec3{a.x, a.y, z}, Vec3{b.x, b.y, z}}) lines.points.push_back(p);
    if (joint.type == JointType::kDistance) continue;
    for (const double side : {-kHalfCross, kHalfCross}) {
      lines.points.push_back({a.x - kHalfCross, a.y - side, z});
      lines.points.push_back({a.x + kHalfCross, a.y + side, z});
    }
  }
  if (!ropes.points.empty()) scene.segments.push_back(std::move(ropes));
  if (!hitches.points.empty()) scene.segments.push_back(std::move(hitches));
}

double tallest(const Model& model) {
  double height = model.grids.empty() ? 0 : GridCells().wall_height;
  for (const BlockModel& b : model.blocks) height = std::max(height, b.z_max);
  for (const HeightMap& map : model.terrain.maps) height = std::max(height, map.highest());
  return height;
}

}  // namespace

std::shared_ptr<const StaticScene> static_scene(const Model& model) {
  auto scene = std::make_shared<StaticScene>();
  scene->origin = {model.origin.x, model.origin.y, 0};
  add_ground(model, *scene);
  draw_height_maps(model, *scene);
  for (const GridModel& grid : model.grids) add_grid(grid, *scene);
  for (const GroundGridModel& lines : model.ground_grids) add_grid_lines(lines, *scene);
  for (const BlockModel& block : model.blocks)
    if (is_fixed(block))
      scene->prisms.push_back(block_prism(block, block.initial_pose, model.params[block.params].nominal));
  return scene;
}

DrawScene draw_simulation(const Simulation& simulation, std::shared_ptr<const StaticScene> fixed,
                          const std::optional<Goal>& goal) {
  const Model& model = simulation.model();
  DrawScene scene;
  scene.fixed = std::move(fixed);
  for (size_t i = 0; i < model.blocks.size(); ++i)
    if (const BlockModel& block = model.blocks[i]; !is_fixed(block))
      scene.prisms.push_back(
          block_prism(block, simulation.block_pose(i), simulation.param(block.params + kBlockScale)));
  for (size_t i = 0; i < model.vehicles.size(); ++i) add_vehicle(simulation, i, scene);
  add_joints(simulation, scene);
  draw_regions(simulation, scene);
  // a reading draws noise: from a copy, so that looking changes nothing
  Simulation copy(simulation);
  Spheres hits;
  hits.radius = 0.012;
  hits.color = kHitColor;
  for (size_t i = 0; i < model.sensors.size(); ++i) add_hits(copy, i, hits);
  scene.spheres.push_back(std::move(hits));
  if (goal) draw_ring(model, goal->center, 0.75 * goal->radius, goal->radius, kGoalColor, scene);
  return scene;
}

Camera camera_of(const Simulation& simulation, View view, size_t vehicle, double aspect) {
  const Model& model = simulation.model();
  if (view == View::kAbove) return view_from_above(model.bounds, aspect, kTilt, tallest(model));
  const double distance = 0.6 + 5 * model.vehicles.at(vehicle).radius;
  return view_from_behind(simulation.vehicle_pose(vehicle), distance, 0.6 * distance);
}

}  // namespace mvsim
