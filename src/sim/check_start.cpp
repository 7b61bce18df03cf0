#include "sim/check_start.h"

#include "raycast/polygon_distance.h"

namespace mvsim {
namespace {

Polygon outline_of(const Simulation& simulation, const VehicleModel& vehicle, size_t index) {
  const Pose3 p = simulation.vehicle_pose(index);
  Polygon out;
  for (const Vec2 v : vehicle.chassis.outline) out.push_back(transform({p.x, p.y, p.yaw}, v));
  return out;
}

// What the vehicle stands in, for the message.
std::string obstacle_of(const Simulation& simulation, size_t vehicle) {
  const Model& m = simulation.model();
  const Polygon outline = outline_of(simulation, m.vehicles[vehicle], vehicle);
  for (size_t i = 0; i < m.blocks.size(); ++i)
    if (!m.blocks[i].intangible && polygon_distance(outline, simulation.block_outline(i)) == 0)
      return std::string(m.blocks[i].is_wall ? "the wall" : "the block") + " '" + m.blocks[i].name + "'";
  for (size_t i = 0; i < m.vehicles.size(); ++i)
    if (i != vehicle && polygon_distance(outline, outline_of(simulation, m.vehicles[i], i)) == 0)
      return "the vehicle '" + m.vehicles[i].name + "'";
  return "an occupied cell of a map";
}

}  // namespace

void check_start(const Simulation& simulation, const Poll& poll) {
  constexpr double kSlack = 1e-2;  // m, more than what counts as an overlap
  const Model& m = simulation.model();
  // all that moves in a tree, so that each vehicle meets its neighbours only
  const std::vector<MovingShape> shapes = simulation.obstacles();
  std::vector<Polygon> outlines;
  for (const MovingShape& shape : shapes) outlines.emplace_back(shape.vertices, shape.vertices + shape.count);
  const StaticShapes tree(outlines);
  std::vector<int> near;
  std::vector<MovingShape> others;
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    if (poll) poll();
    const Pose3 pose = simulation.vehicle_pose(i);
    tree.within({pose.x, pose.y}, m.vehicles[i].radius + kSlack, near);
    others.clear();
    for (const int k : near) {
      const MovingShape& shape = shapes[static_cast<size_t>(k)];
      if (shape.body != static_cast<int>(m.vehicles[i].body)) others.push_back(shape);
    }
    if (!simulation.overlaps(i, others)) continue;
    throw WorldFileError(m.vehicles[i].where, "<vehicle> '" + m.vehicles[i].name + "' starts inside of " +
                                                  obstacle_of(simulation, i) +
                                                  ", expected a free pose (or an intangible block)");
  }
}

}  // namespace mvsim
