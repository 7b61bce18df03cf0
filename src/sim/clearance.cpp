#include "sim/clearance.h"

#include <algorithm>

#include "raycast/polygon_distance.h"
#include "sim/measure.h"

namespace mvsim {
namespace {

Polygon placed_outline(const Polygon& outline, double scale, const Pose2& pose) {
  const Rotation2 R_world_body(pose.yaw);
  Polygon out;
  out.reserve(outline.size());
  for (const Vec2 v : outline) out.push_back(Vec2{pose.x, pose.y} + R_world_body.rotate(scale * v));
  return out;
}

Vec2 to_grid(const GridModel& grid, Vec2 world) {
  return Rotation2(grid.T_world_grid.yaw)
      .unrotate({world.x - grid.T_world_grid.x, world.y - grid.T_world_grid.y});
}

Rect box_of(const Polygon& outline) {
  Rect box{outline[0].x, outline[0].x, outline[0].y, outline[0].y};
  for (const Vec2 v : outline)
    box = {std::min(box.x_min, v.x), std::max(box.x_max, v.x), std::min(box.y_min, v.y),
           std::max(box.y_max, v.y)};
  return box;
}

// Between a box and a square of which the lower left corner is given.
double gap_between(const Rect& box, Vec2 corner, double side) {
  const double x = std::max({corner.x - box.x_max, box.x_min - corner.x - side, 0.0});
  const double y = std::max({corner.y - box.y_max, box.y_min - corner.y - side, 0.0});
  return std::sqrt(x * x + y * y);
}

// From an outline that a circle of `radius` about `center` holds; at most `limit`. Its box first: it passes
// over most cells.
double grid_distance(const GridModel& grid, const Polygon& outline, Vec2 center, double radius,
                     double limit) {
  constexpr double kSlack = 1e-9;  // m, beyond any rounding
  const Vec2 local_center = to_grid(grid, center);
  const double reach = limit + radius;
  const double from_center = grid.field.distance_to_occupied(local_center.x, local_center.y, reach);
  if (from_center >= reach) return limit;
  Polygon local;
  for (Vec2 v : outline) local.push_back(to_grid(grid, v));
  // the cell nearest to the centre is no farther from the outline than this
  const double at_most = from_center + polygon_point_distance(local, local_center);
  std::vector<CellIndex> cells;
  grid.field.occupied_cells(local_center.x, local_center.y, std::min(limit, at_most + kSlack) + radius,
                            cells);
  const Rect box = box_of(local);
  const double side = grid.field.resolution();
  double best = limit;
  const auto gap = [&](CellIndex cell) { return gap_between(box, {cell.x * side, cell.y * side}, side); };
  const auto look = [&](CellIndex cell) {
    if (gap(cell) > best + kSlack) return;
    const double x = cell.x * side, y = cell.y * side;
    const Vec2 square[] = {{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}};
    best = std::min(best, polygon_distance(local, square));
  };
  // the nearest to the box comes first, so that few others are looked at closely
  const auto nearest =
      std::min_element(cells.begin(), cells.end(), [&](CellIndex a, CellIndex b) { return gap(a) < gap(b); });
  if (nearest != cells.end()) look(*nearest);
  for (const CellIndex cell : cells) look(cell);
  return best;
}

int body_of(const Model& model, int vehicle) {  // -1 for -1
  return vehicle < 0 ? -1 : static_cast<int>(model.vehicles[static_cast<size_t>(vehicle)].body);
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

// All that may move and is tangible, but for one body.
std::span<const MovingShape> shapes_but(const SimScene& sim, int except_body) {
  const SimState& s = sim.state;
  return sim.scene.shapes(sim.model, s.params, s.bodies, s.wheels, except_body);
}

// What a vehicle is measured against; of several vehicles its own shapes too, to be passed over: they are
// made once a moment for all.
std::span<const MovingShape> shapes_around(const SimScene& sim, size_t vehicle) {
  const SimState& s = sim.state;
  if (sim.model.vehicles.size() > 1) return sim.scene.all_shapes(sim.model, s.params, s.bodies, s.wheels);
  return shapes_but(sim, static_cast<int>(sim.model.vehicles[vehicle].body));
}

// Circles first: an exact polygon distance only for what is near enough to matter.
double outline_clearance(const SimScene& sim, size_t index, const Polygon& outline, double limit,
                         std::span<const MovingShape> others) {
  const Model& m = sim.model;
  const VehicleModel& vehicle = m.vehicles[index];
  const Pose2 pose = body_pose(sim, vehicle.body);
  const Vec2 center{pose.x, pose.y};
  const double radius = vehicle.chassis.radius;
  const int group = m.bodies[vehicle.body].joint_group;
  double best = limit;
  for (const GridModel& grid : m.grids)
    best = std::min(best, grid_distance(grid, outline, center, radius, best));
  if (m.static_shapes.distance(center, best + radius) < best + radius) {
    std::vector<int> near;
    m.static_shapes.within(center, best + radius, near);
    for (int i : near) best = std::min(best, polygon_distance(outline, m.static_shapes.vertices(i)));
  }
  for (const MovingShape& shape : others) {
    if (shape.body == static_cast<int>(vehicle.body)) continue;
    if (group >= 0 && group_of(m, shape.body) == group) continue;
    const double reach = best + radius + shape.radius;
    const Vec2 d = shape.center - center;
    if (dot(d, d) < reach * reach)
      best = std::min(best, polygon_distance(outline, {shape.vertices, static_cast<size_t>(shape.count)}));
  }
  return best;
}

}  // namespace

double distance_to_obstacles(const SimScene& sim, Vec2 point, double limit, int except_vehicle) {
  const Model& m = sim.model;
  const int body = body_of(m, except_vehicle);
  return distance_to_shapes(m, shapes_but(sim, body), point, distance_to_fixed(m, point, limit),
                            group_of(m, body));
}

double distance_to_static(const SimScene& sim, Vec2 point, double limit) {
  const Model& m = sim.model;
  const double best = distance_to_fixed(m, point, limit);
  return distance_to_shapes(m, sim.scene.blocks(m, sim.state.params, sim.state.bodies), point, best, -1);
}

double distance_to_standing(const SimScene& sim, Vec2 point, double limit) {
  const Model& m = sim.model;
  double best = distance_to_fixed(m, point, limit);
  for (const MovingShape& shape : sim.scene.blocks(m, sim.state.params, sim.state.bodies)) {
    const BlockModel& block = m.blocks[m.bodies[static_cast<size_t>(shape.body)].index];
    if (!block.is_person && !block.is_driven)
      best = std::min(best, distance_to_shapes(m, {&shape, 1}, point, best, -1));
  }
  return best;
}

double clearance(const SimScene& sim, size_t index, double limit) {
  double best = outline_clearance(sim, index, vehicle_outline(sim, index), limit, shapes_around(sim, index));
  for (const size_t other : sim.model.joined_vehicles(index))
    best = outline_clearance(sim, other, vehicle_outline(sim, other), best, shapes_around(sim, other));
  return best;
}

std::vector<MovingShape> obstacles(const SimScene& sim, int except_vehicle) {
  const Model& m = sim.model;
  const int body = body_of(m, except_vehicle), group = group_of(m, body);
  std::vector<MovingShape> out;
  for (const MovingShape& shape : shapes_but(sim, body))
    if (group < 0 || group_of(m, shape.body) != group) out.push_back(shape);
  return out;
}

bool overlaps(const SimScene& sim, size_t index) {
  return overlaps(sim, index, shapes_around(sim, index));
}

bool overlaps(const SimScene& sim, size_t index, std::span<const MovingShape> others) {
  constexpr double kShare = 0.99, kNear = 1e-3;
  Polygon outline = vehicle_outline(sim, index);
  Vec2 center;
  for (const Vec2 v : outline) center = center + 1.0 / static_cast<double>(outline.size()) * v;
  for (Vec2& v : outline) v = center + kShare * (v - center);
  return outline_clearance(sim, index, outline, kNear, others) <= 0;
}

Polygon block_outline(const SimView& sim, size_t index) {
  const BlockModel& b = sim.model.blocks.at(index);
  return placed_outline(b.shape.outline, sim.state.params[b.params + kBlockScale],
                        block_plane_pose(sim, index));
}

Polygon vehicle_outline(const SimView& sim, size_t index) {
  const VehicleModel& v = sim.model.vehicles[index];
  return placed_outline(v.chassis.outline, 1, body_pose(sim, v.body));
}

}  // namespace mvsim
