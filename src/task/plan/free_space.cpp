#include "task/plan/planning_grid.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>

#include "sim/measure.h"
#include "sim/simulation.h"

namespace mvsim {
namespace {

// Returns the enclosure of the world: its maps, and its walls if there are enough of them to have an inside.
std::optional<Rect> enclosure(const Model& model) {
  constexpr int kFewestWalls = 3;
  Polygon points;
  const auto is_wall = [](const BlockModel& b) { return b.is_wall; };
  if (std::count_if(model.blocks.begin(), model.blocks.end(), is_wall) >= kFewestWalls) {
    for (const BlockModel& b : model.blocks) {
      if (!b.is_wall) continue;
      const Pose2 pose{b.initial_pose.x, b.initial_pose.y, b.initial_pose.yaw};
      for (const Vec2 v : b.shape.outline) points.push_back(transform(pose, v));
    }
  }
  for (const GridModel& g : model.grids) {
    const double w = g.field.width() * g.field.resolution(), h = g.field.height() * g.field.resolution();
    for (const Vec2 corner : {Vec2{0, 0}, Vec2{w, 0}, Vec2{w, h}, Vec2{0, h}})
      points.push_back(transform(g.T_world_grid, corner));
  }
  if (model.grids.empty()) {  // ground is known where there is an elevation map
    for (const HeightMap& map : model.terrain.maps) {
      const Rect e = map.extent();
      points.push_back({e.x_min, e.y_min});
      points.push_back({e.x_max, e.y_max});
    }
  }
  if (points.empty()) return std::nullopt;
  Rect r{points[0].x, points[0].x, points[0].y, points[0].y};
  for (const Vec2 p : points)
    r = {std::min(r.x_min, p.x), std::max(r.x_max, p.x), std::min(r.y_min, p.y), std::max(r.y_max, p.y)};
  return r;
}

std::string text_of(const Rect& r) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, "x %.6g to %.6g, y %.6g to %.6g", r.x_min, r.x_max, r.y_min, r.y_max);
  return buffer;
}

}  // namespace

Rect area_of(const std::optional<Rect>& area, const Model& model) {
  return area ? *area : model.bounds;
}

std::optional<Rect> read_area(TermReader& reader, const Model& model) {
  static constexpr Range kSides[] = {kPlace, kPlace, kPlace, kPlace};
  const auto a = reader.numbers("area", kSides, "four numbers, x_min x_max y_min y_max");
  if (!a) return std::nullopt;
  const Rect area{(*a)[0], (*a)[1], (*a)[2], (*a)[3]};
  if (area.x_min > area.x_max || area.y_min > area.y_max) reader.fail("area", "expected min <= max");
  const std::optional<Rect> inside = enclosure(model);
  if (inside && (area.x_max < inside->x_min || area.x_min > inside->x_max || area.y_max < inside->y_min ||
                 area.y_min > inside->y_max))
    reader.fail("area", "found " + text_of(area) + ", expected some of what walls and maps enclose, " +
                            text_of(*inside));
  return area;
}

void check_inside(const TermReader& reader, std::string_view attribute, const Model& model, Vec2 point) {
  const std::optional<Rect> inside = enclosure(model);
  if (inside && (point.x < inside->x_min || point.x > inside->x_max || point.y < inside->y_min ||
                 point.y > inside->y_max))
    reader.fail(attribute, "expected a point within what walls and maps enclose, " + text_of(*inside));
}

bool is_known_ground(const Model& model, Vec2 point) {
  bool free = model.grids.empty();
  if (free && !model.terrain.maps.empty()) return highest_map(model.terrain, point).has_value();
  for (const GridModel& grid : model.grids) {
    const Vec2 local = transform_back(grid.T_world_grid, point);
    const double side = grid.field.resolution();
    const bool inside = local.x >= 0 && local.y >= 0 && local.x < side * grid.field.width() &&
                        local.y < side * grid.field.height();
    if (!inside) continue;
    if (grid.field.cell_at(local.x, local.y) != Cell::kFree) return false;
    free = true;
  }
  return free;
}

double ground_slope(const Model& model, Vec2 point) {
  constexpr double kReach = 0.25;  // m
  if (model.terrain.maps.empty()) return 0;
  const auto rise = [&](Vec2 step) {
    const std::optional<double> up = highest_map(model.terrain, point + step);
    const std::optional<double> down = highest_map(model.terrain, point - step);
    return up && down ? (*up - *down) / (2 * kReach) : std::numeric_limits<double>::infinity();
  };
  return norm(Vec2{rise({kReach, 0}), rise({0, kReach})});
}

bool is_free(const Simulation& simulation, size_t agent, Vec2 point, double radius) {
  const Model& model = simulation.model();
  return is_known_ground(model, point) && distance_to_fixed(model, point, radius) >= radius &&
         distance_to_obstacles(simulation, point, radius, static_cast<int>(agent)) >= radius;
}

}  // namespace mvsim
