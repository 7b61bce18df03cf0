// The part of Simulation that looks at the world: sensors and distances.
#include <algorithm>

#include "raycast/polygon_distance.h"
#include "sim/rigid_body_solver.h"
#include "sim/simulation.h"

namespace mvsim {

void Simulation::read_due_sensors(double start, double dt) {
  for (size_t i = 0; i < state_.sensors.size(); ++i) {
    SensorState& s = state_.sensors[i];
    const SensorModel& m = model_->sensors[i];
    if (!s.scheduled || start < s.last_due + m.period - 1e-6) continue;
    s.last_due = start;
    s.stamp = start + dt;
    ++s.count;
    read_sensor(i, state_.readings.data() + m.values, state_.reading_valid.data() + m.values);
  }
}

void Simulation::read_now(size_t sensor, float* values, uint8_t* valid) {
  read_sensor(sensor, values, valid);
}

void Simulation::read_sensor(size_t index, float* values, uint8_t* valid) {
  const Model& m = *model_;
  const SensorModel& sensor = m.sensors.at(index);
  const int body = static_cast<int>(m.vehicles[sensor.vehicle].body);
  const SensorScene scene{.grids = scene_.grids(m),
                          .static_shapes = &m.static_shapes,
                          .moving = scene_.shapes(m, state_.params, state_.bodies, body)};
  sensor.sensor->read(state_.params.data() + sensor.params, scene, {vehicle_pose(sensor.vehicle), body},
                      state_.sensors[index].noise, values, valid);
}

std::span<const float> Simulation::reading(size_t sensor) const {
  const SensorModel& m = model_->sensors.at(sensor);
  return {state_.readings.data() + m.values, m.sensor->size()};
}

std::span<const uint8_t> Simulation::reading_valid(size_t sensor) const {
  const SensorModel& m = model_->sensors.at(sensor);
  return {state_.reading_valid.data() + m.values, m.sensor->size()};
}

Polygon Simulation::block_outline(size_t index) const {
  const BlockModel& b = model_->blocks.at(index);
  const double scale = state_.params[b.params + kBlockScale];
  const Pose2 pose = block_plane_pose(index);
  Polygon out;
  for (Vec2 v : b.shape.outline) out.push_back(transform(pose, scale * v));
  return out;
}

Polygon Simulation::vehicle_outline(size_t index) const {
  const VehicleModel& v = model_->vehicles[index];
  const BodyState& b = state_.bodies[v.body];
  Polygon out;
  for (Vec2 p : v.chassis.outline) out.push_back(transform({b.x, b.y, b.angle}, p));
  return out;
}

namespace {

Vec2 to_grid(const GridModel& grid, Vec2 world) {
  return Rotation2(grid.T_world_grid.yaw)
      .unrotate({world.x - grid.T_world_grid.x, world.y - grid.T_world_grid.y});
}

}  // namespace

double Simulation::distance_to_obstacles(Vec2 point, double limit, int except_vehicle) const {
  const Polygon probe{point};
  return distance_of_outline(probe, point, 0, limit, except_vehicle);
}

double Simulation::clearance(size_t index, double limit) const {
  const Polygon outline = vehicle_outline(index);
  const BodyState& b = state_.bodies[model_->vehicles.at(index).body];
  return distance_of_outline(outline, {b.x, b.y}, model_->vehicles[index].chassis.radius, limit,
                             static_cast<int>(index));
}

// Circles first: an exact polygon distance only for what is near enough to matter.
double Simulation::distance_of_outline(const Polygon& outline, Vec2 center, double radius, double limit,
                                       int except_vehicle) const {
  const Model& m = *model_;
  double best = limit;
  for (const GridModel& grid : m.grids) {
    const Vec2 local = to_grid(grid, center);
    if (grid.field.distance_to_occupied(local.x, local.y, best + radius) >= best + radius) continue;
    best = std::min(best, grid_distance(grid, outline, local, best + radius));
  }
  if (m.static_shapes.distance(center, best + radius) < best + radius) {
    std::vector<int> near;
    m.static_shapes.within(center, best + radius, near);
    for (int i : near) best = std::min(best, polygon_distance(outline, m.static_shapes.vertices(i)));
  }
  const auto consider = [&](Vec2 other_center, double other_radius, const auto& other) {
    const double reach = best + radius + other_radius;
    const Vec2 d = other_center - center;
    if (dot(d, d) < reach * reach) best = std::min(best, polygon_distance(outline, other()));
  };
  for (size_t i = 0; i < m.blocks.size(); ++i) {
    const BlockModel& b = m.blocks[i];
    if (b.body < 0 || (b.is_static && !b.placed)) continue;
    const Pose2 pose = block_plane_pose(i);
    consider({pose.x, pose.y}, state_.params[b.params + kBlockScale] * b.shape.radius,
             [&] { return block_outline(i); });
  }
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    if (static_cast<int>(i) == except_vehicle) continue;
    const BodyState& b = state_.bodies[m.vehicles[i].body];
    consider({b.x, b.y}, m.vehicles[i].radius, [&] { return vehicle_outline(i); });
  }
  return best;
}

double Simulation::grid_distance(const GridModel& grid, const Polygon& outline, Vec2 local_center,
                                 double reach) const {
  std::vector<CellIndex> cells;
  grid.field.occupied_cells(local_center.x, local_center.y, reach, cells);
  Polygon local;
  for (Vec2 v : outline) local.push_back(to_grid(grid, v));
  const double side = grid.field.resolution();
  double best = reach;
  for (const CellIndex cell : cells) {
    const double x = cell.x * side, y = cell.y * side;
    const Polygon square{{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}};
    best = std::min(best, polygon_distance(local, square));
  }
  return best;
}

}  // namespace mvsim
