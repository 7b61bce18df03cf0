// The part of Simulation that measures distances.
#include <algorithm>

#include "raycast/polygon_distance.h"
#include "sim/rigid_body_solver.h"
#include "sim/simulation.h"

namespace mvsim {

namespace {

Polygon placed_outline(const Polygon& outline, double scale, const Pose2& pose) {
  const Rotation2 R_world_body(pose.yaw);
  Polygon out;
  out.reserve(outline.size());
  for (const Vec2 v : outline) out.push_back(Vec2{pose.x, pose.y} + R_world_body.rotate(scale * v));
  return out;
}

}  // namespace

Polygon Simulation::block_outline(size_t index) const {
  const BlockModel& b = model_->blocks.at(index);
  return placed_outline(b.shape.outline, state_.params[b.params + kBlockScale], block_plane_pose(index));
}

Polygon Simulation::vehicle_outline(size_t index) const {
  const VehicleModel& v = model_->vehicles[index];
  return placed_outline(v.chassis.outline, 1, pose_of(v.body));
}

namespace {

Vec2 to_grid(const GridModel& grid, Vec2 world) {
  return Rotation2(grid.T_world_grid.yaw)
      .unrotate({world.x - grid.T_world_grid.x, world.y - grid.T_world_grid.y});
}

// From an outline that a circle of `radius` about `center` holds; at most `limit`.
double grid_distance(const GridModel& grid, const Polygon& outline, Vec2 center, double radius,
                     double limit) {
  const Vec2 local_center = to_grid(grid, center);
  const double reach = limit + radius;
  if (grid.field.distance_to_occupied(local_center.x, local_center.y, reach) >= reach) return limit;
  std::vector<CellIndex> cells;
  grid.field.occupied_cells(local_center.x, local_center.y, reach, cells);
  Polygon local;
  for (Vec2 v : outline) local.push_back(to_grid(grid, v));
  const double side = grid.field.resolution();
  double best = limit;
  for (const CellIndex cell : cells) {
    const double x = cell.x * side, y = cell.y * side;
    const Vec2 square[] = {{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}};
    best = std::min(best, polygon_distance(local, square));
  }
  return best;
}

int group_of(const Model& model, int body) {
  return body < 0 ? -1 : model.bodies[static_cast<size_t>(body)].joint_group;
}

// `group`: joined bodies that do not count, -1 for none.
double distance_to_shapes(const Model& model, std::span<const MovingShape> shapes, Vec2 point, double limit,
                          int group) {
  double best = limit;
  for (const MovingShape& shape : shapes) {
    if (group >= 0 && group_of(model, shape.body) == group) continue;
    const double reach = best + shape.radius;
    const Vec2 d = shape.center - point;
    if (dot(d, d) < reach * reach)
      best =
          std::min(best, polygon_point_distance({shape.vertices, static_cast<size_t>(shape.count)}, point));
  }
  return best;
}

// To occupied cells and the Model's static shapes.
double distance_to_fixed(const Model& m, Vec2 point, double limit) {
  double best = limit;
  for (const GridModel& grid : m.grids) {
    const Vec2 local = to_grid(grid, point);
    best = std::min(best, grid.field.distance_to_occupied(local.x, local.y, best));
  }
  return std::min(best, m.static_shapes.distance(point, best));
}

}  // namespace

// Of everything but vehicles.
double Simulation::distance_to_static(Vec2 point, double limit) const {
  const Model& m = *model_;
  const double best = distance_to_fixed(m, point, limit);
  return distance_to_shapes(m, scene_.blocks(m, state_.params, state_.bodies), point, best, -1);
}

double Simulation::distance_to_obstacles(Vec2 point, double limit, int except_vehicle) const {
  const Model& m = *model_;
  const int body = body_of(except_vehicle);
  return distance_to_shapes(m, scene_.shapes(m, state_.params, state_.bodies, state_.wheels, body), point,
                            distance_to_fixed(m, point, limit), group_of(m, body));
}

std::vector<MovingShape> Simulation::obstacles(int except_vehicle) const {
  const Model& m = *model_;
  const int body = body_of(except_vehicle), group = group_of(m, body);
  const std::span<const MovingShape> all =
      scene_.shapes(m, state_.params, state_.bodies, state_.wheels, body);
  std::vector<MovingShape> out;
  for (const MovingShape& shape : all)
    if (group < 0 || group_of(m, shape.body) != group) out.push_back(shape);
  return out;
}

double Simulation::clearance(size_t index, double limit) const {
  const Model& m = *model_;
  double best = outline_clearance(index, vehicle_outline(index), limit, shapes_around(index));
  for (const size_t other : m.joined_vehicles(index))
    best = outline_clearance(other, vehicle_outline(other), best, shapes_around(other));
  return best;
}

std::span<const MovingShape> Simulation::shapes_around(size_t index) const {
  return scene_.shapes(*model_, state_.params, state_.bodies, state_.wheels,
                       body_of(static_cast<int>(index)));
}

bool Simulation::overlaps(size_t index) const {
  return overlaps(index, shapes_around(index));
}

bool Simulation::overlaps(size_t index, std::span<const MovingShape> others) const {
  constexpr double kShare = 0.99, kNear = 1e-3;
  Polygon outline = vehicle_outline(index);
  Vec2 center;
  for (const Vec2 v : outline) center = center + 1.0 / static_cast<double>(outline.size()) * v;
  for (Vec2& v : outline) v = center + kShare * (v - center);
  return outline_clearance(index, outline, kNear, others) <= 0;
}

// Circles first: an exact polygon distance only for what is near enough to matter.
double Simulation::outline_clearance(size_t index, const Polygon& outline, double limit,
                                     std::span<const MovingShape> others) const {
  const Model& m = *model_;
  const Pose2 pose = pose_of(m.vehicles[index].body);
  const Vec2 center{pose.x, pose.y};
  const double radius = m.vehicles[index].chassis.radius;
  const int body = static_cast<int>(m.vehicles[index].body), group = group_of(m, body);
  double best = limit;
  for (const GridModel& grid : m.grids)
    best = std::min(best, grid_distance(grid, outline, center, radius, best));
  if (m.static_shapes.distance(center, best + radius) < best + radius) {
    std::vector<int> near;
    m.static_shapes.within(center, best + radius, near);
    for (int i : near) best = std::min(best, polygon_distance(outline, m.static_shapes.vertices(i)));
  }
  for (const MovingShape& shape : others) {
    if (group >= 0 && group_of(m, shape.body) == group) continue;
    const double reach = best + radius + shape.radius;
    const Vec2 d = shape.center - center;
    if (dot(d, d) < reach * reach)
      best = std::min(best, polygon_distance(outline, {shape.vertices, static_cast<size_t>(shape.count)}));
  }
  return best;
}

int Simulation::body_of(int vehicle) const {
  return vehicle < 0 ? -1 : static_cast<int>(model_->vehicles[static_cast<size_t>(vehicle)].body);
}

}  // namespace mvsim
