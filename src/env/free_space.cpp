#include "env/free_space.h"

#include <algorithm>
#include <limits>

#include "sim/simulation.h"

namespace mvsim {
namespace {

Vec2 to_grid(const GridModel& grid, Vec2 world) {
  const Pose2& g = grid.T_world_grid;
  return Rotation2(g.yaw).unrotate({world.x - g.x, world.y - g.y});
}

}  // namespace

double distance_to_static(const Model& model, Vec2 point, double limit) {
  double best = limit;
  for (const GridModel& grid : model.grids) {
    const Vec2 local = to_grid(grid, point);
    best = std::min(best, grid.field.distance_to_occupied(local.x, local.y, best));
  }
  return std::min(best, model.static_shapes.distance(point, best));
}

bool is_known_ground(const Model& model, Vec2 point) {
  bool free = model.grids.empty();
  if (free && !model.terrain.maps.empty()) return highest_map(model.terrain, point).has_value();
  for (const GridModel& grid : model.grids) {
    const Vec2 local = to_grid(grid, point);
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
  return norm({rise({kReach, 0}), rise({0, kReach})});
}

bool is_free(const Simulation& simulation, size_t agent, Vec2 point, double radius) {
  const Model& model = simulation.model();
  return is_known_ground(model, point) && distance_to_static(model, point, radius) >= radius &&
         simulation.distance_to_obstacles(point, radius, static_cast<int>(agent)) >= radius;
}

}  // namespace mvsim
