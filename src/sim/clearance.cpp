#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/math.h"
#include "raycast/polygon_cast.h"
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

constexpr double kRounding = 1e-9, kApart = 1e-6;  // m, beyond any rounding

// How far the square of a cell is from a convex, counter-clockwise outline at least: beyond one of the sides
// of its box, or beyond one of its own.
class SquareBounds {
 public:
  SquareBounds(const Polygon& outline, Vec2 center, double square) : box_(box_of(outline)), square_(square) {
    for (size_t i = 0, j = outline.size() - 1; i < outline.size() && count_ < kMost; j = i++) {
      const Vec2 along = outline[i] - outline[j];
      const double length = norm(along);
      if (!(length > 0)) continue;
      const Vec2 outward{along.y / length, -along.x / length};
      const double half = square / 2 * (std::fabs(outward.x) + std::fabs(outward.y));
      const double offset = dot(outward, outline[j]);
      room_ = std::min(room_, offset - dot(outward, center));
      sides_[count_++] = {outward, offset + half};
    }
    if (count_ < outline.size()) room_ = -1;  // not known
  }

  // How far the outline reaches from `center` in every direction at least; below 0 if that is not known.
  double room() const { return room_; }

  double at_least(CellIndex cell) const {
    const Vec2 corner{cell.x * square_, cell.y * square_};
    const double x = std::max({corner.x - box_.x_max, box_.x_min - corner.x - square_, 0.0});
    const double y = std::max({corner.y - box_.y_max, box_.y_min - corner.y - square_, 0.0});
    double least = std::sqrt(x * x + y * y);
    const Vec2 middle{corner.x + square_ / 2, corner.y + square_ / 2};
    for (size_t i = 0; i < count_; ++i)
      least = std::max(least, dot(sides_[i].outward, middle) - sides_[i].offset);
    return least;
  }

 private:
  static constexpr size_t kMost = 16;  // of the sides; a bound without the others is one, too
  struct Side {
    Vec2 outward;
    double offset;  // of a square's middle that touches it
  };

  Rect box_;
  double square_;
  std::array<Side, kMost> sides_;
  size_t count_ = 0;
  double room_ = std::numeric_limits<double>::infinity();
};

enum class Answer { kExact, kAtLeast };  // the distance, or a lower bound that takes less time

// From an outline that a circle of `radius` about `center` holds; at most `limit`. Bounds first: they pass
// over nearly all cells.
double grid_distance(const GridModel& grid, const Polygon& outline, Vec2 center, double radius, double limit,
                     Answer answer = Answer::kExact) {
  constexpr size_t kUsualCells = 128;
  const Vec2 local_center = transform_back(grid.T_world_grid, center);
  const double reach = limit + radius;
  const double from_center = grid.field.distance_to_occupied(local_center.x, local_center.y, reach);
  if (from_center >= reach) return limit;
  Polygon local;
  local.reserve(outline.size());
  for (Vec2 v : outline) local.push_back(transform_back(grid.T_world_grid, v));
  const double side = grid.field.resolution();
  const SquareBounds bounds(local, local_center, side);
  // the cell nearest to the centre is no farther from the outline than this
  const double at_most = bounds.room() >= 0 ? std::max(from_center - bounds.room(), 0.0)
                                            : from_center + polygon_point_distance(local, local_center);
  std::vector<CellIndex> cells;
  cells.reserve(kUsualCells);
  grid.field.occupied_cells(local_center.x, local_center.y, std::min(limit, at_most + kRounding) + radius,
                            cells);
  std::vector<double> least;
  least.reserve(cells.size());
  for (const CellIndex cell : cells) least.push_back(bounds.at_least(cell));
  // the nearest by its bound comes first, so that few others are looked at closely
  const auto nearest = std::ranges::min_element(least);
  if (nearest == least.end()) return limit;
  double best = limit;
  if (answer == Answer::kAtLeast) return std::min(best, *nearest);
  const auto look = [&](size_t i) {
    if (least[i] > best + kRounding) return;
    const double x = cells[i].x * side, y = cells[i].y * side;
    const Vec2 square[] = {{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}};
    best = std::min(
        best, least[i] > kApart ? polygon_distance_apart(local, square) : polygon_distance(local, square));
  };
  look(static_cast<size_t>(nearest - least.begin()));
  for (size_t i = 0; i < cells.size(); ++i) look(i);
  return best;
}

int body_of(const Model& model, int vehicle) {  // -1 for -1
  return vehicle < 0 ? -1 : static_cast<int>(model.vehicles[static_cast<size_t>(vehicle)].body);
}

int group_of(const Model& model, int body) {
  return body < 0 ? -1 : model.bodies[static_cast<size_t>(body)].joint_group;
}

// `group` names joined bodies that are left out, -1: none.
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

// All that may move and is tangible, but for one body.
std::span<const MovingShape> shapes_but(const SimScene& sim, int except_body) {
  const SimState& s = sim.state;
  return sim.scene.shapes(sim.model, s.params, s.bodies, s.wheels, except_body);
}

// Returns the shapes to measure a vehicle's distance to. Its own shapes and those of vehicles that are joined
// to it may be among them, to be skipped, because the list is made once for all vehicles.
std::span<const MovingShape> shapes_around(const SimScene& sim, size_t vehicle) {
  const Model& m = sim.model;
  const SimState& s = sim.state;
  const size_t body = m.vehicles[vehicle].body;
  const int group = m.bodies[body].joint_group;
  const auto is_another = [&](const VehicleModel& v) {
    return v.body != body && (group < 0 || m.bodies[v.body].joint_group != group);
  };
  if (std::ranges::none_of(m.vehicles, is_another)) return sim.scene.blocks(m, s.params, s.bodies);
  return sim.scene.all_shapes(m, s.params, s.bodies, s.wheels);
}

// To grids, static shapes and `others`, but for `except_body` (-1: none) and those that are joined to it.
// Compares circles first, and computes the exact distance of polygons only for shapes that are near enough.
double outline_distance(const Model& m, const Polygon& outline, const Circle& around, int except_body,
                        double limit, std::span<const MovingShape> others, Answer answer = Answer::kExact) {
  const int group = group_of(m, except_body);
  double best = limit;
  for (const GridModel& grid : m.grids)
    best = std::min(best, grid_distance(grid, outline, around.center, around.radius, best, answer));
  best = answer == Answer::kExact ? m.static_shapes.distance(outline, around, best)
                                  : m.static_shapes.distance_at_least(outline, around, best);
  for (const MovingShape& shape : others) {
    if (shape.body == except_body) continue;
    if (group >= 0 && group_of(m, shape.body) == group) continue;
    const double reach = best + around.radius + shape.radius;
    const Vec2 d = shape.center - around.center;
    if (dot(d, d) < reach * reach)
      best = convex_distance(outline, {shape.vertices, static_cast<size_t>(shape.count)}, best);
  }
  return best;
}

double outline_clearance(const SimScene& sim, size_t vehicle, double limit) {
  const VehicleModel& v = sim.model.vehicles[vehicle];
  return outline_distance(sim.model, vehicle_outline(sim, vehicle),
                          {vehicle_position(sim, vehicle), v.chassis.radius}, static_cast<int>(v.body), limit,
                          shapes_around(sim, vehicle));
}

bool overlaps_map(const SimView& sim, const Polygon& outline) {
  constexpr double kNear = 1e-3;
  const Rect box = box_of(outline);
  const Vec2 center{(box.x_min + box.x_max) / 2, (box.y_min + box.y_max) / 2};
  double radius = 0;
  for (const Vec2 v : outline) radius = std::max(radius, norm(v - center));
  return std::ranges::any_of(sim.model.grids, [&](const GridModel& grid) {
    return grid_distance(grid, outline, center, radius, kNear) <= 0;
  });
}

}  // namespace

double distance_to_fixed(const Model& m, Vec2 point, double limit) {
  double best = limit;
  for (const GridModel& grid : m.grids) {
    const Vec2 local = transform_back(grid.T_world_grid, point);
    best = std::min(best, grid.field.distance_to_occupied(local.x, local.y, best));
  }
  return std::min(best, m.static_shapes.distance(point, best));
}

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

double distance_to_static_at_least(const SimScene& sim, const Polygon& outline, const Pose2& pose,
                                   double radius, double limit) {
  const Model& m = sim.model;
  return outline_distance(m, placed_outline(outline, 1, pose), {{pose.x, pose.y}, radius}, -1, limit,
                          sim.scene.blocks(m, sim.state.params, sim.state.bodies), Answer::kAtLeast);
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
  double best = outline_clearance(sim, index, limit);
  for (const size_t other : sim.model.joined_vehicles(index)) best = outline_clearance(sim, other, best);
  return best;
}

size_t overlapped_cells(const SimView& sim, const Polygon& outline) {
  if (!overlaps_map(sim, outline)) return 0;
  const Rect box = box_of(outline);
  const Vec2 center{(box.x_min + box.x_max) / 2, (box.y_min + box.y_max) / 2};
  const double radius = 0.5 * math::hypot(box.x_max - box.x_min, box.y_max - box.y_min);
  size_t count = 0;
  std::vector<CellIndex> cells;
  for (const GridModel& grid : sim.model.grids) {
    const Pose2& pose = grid.T_world_grid;
    const Rotation2 turn(pose.yaw);
    const double side = grid.field.resolution();
    const Vec2 local = turn.unrotate(center - Vec2{pose.x, pose.y});
    grid.field.occupied_cells(local.x, local.y, radius, cells);
    for (const CellIndex cell : cells) {
      const Vec2 middle = transform(pose, {(cell.x + 0.5) * side, (cell.y + 0.5) * side});
      if (polygon_point_distance(outline, middle) <= 0.5 * side) ++count;
    }
  }
  return std::max(count, size_t{1});
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
