#include "sim/check_start.h"

#include <numeric>
#include <optional>

#include "raycast/polygon_distance.h"
#include "sim/measure.h"

namespace mvsim {
namespace {

// What the vehicle stands in, for the message.
std::string obstacle_of(const SimView& sim, size_t vehicle) {
  const Model& m = sim.model;
  const Polygon outline = vehicle_outline(sim, vehicle);
  for (size_t i = 0; i < m.blocks.size(); ++i)
    if (!m.blocks[i].traits.intangible && polygon_distance(outline, block_outline(sim, i)) == 0)
      return std::string(m.blocks[i].is_wall ? "the wall" : "the block") + " '" + m.blocks[i].name + "'";
  for (size_t i = 0; i < m.vehicles.size(); ++i)
    if (i != vehicle && polygon_distance(outline, vehicle_outline(sim, i)) == 0)
      return "the vehicle '" + m.vehicles[i].name + "'";
  return "an occupied cell of a map";
}

std::vector<Polygon> outlines_of(std::span<const MovingShape> shapes) {
  std::vector<Polygon> out;
  for (const MovingShape& shape : shapes) out.emplace_back(shape.vertices, shape.vertices + shape.count);
  return out;
}

}  // namespace

void check_start(const SimScene& sim, const Poll& poll) {
  constexpr double kSlack = 1e-2;  // m, more than what counts as an overlap
  constexpr size_t kFew = 32;      // shapes that are looked at sooner than a tree of them is made
  const Model& m = sim.model;
  const std::vector<MovingShape> shapes = obstacles(sim);
  // of many a tree, so that each vehicle meets its neighbours only
  std::optional<StaticShapes> tree;
  if (shapes.size() > kFew) tree.emplace(outlines_of(shapes));
  std::vector<int> near(shapes.size());
  std::iota(near.begin(), near.end(), 0);
  std::vector<MovingShape> others;
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    if (poll) poll();
    const Pose3 pose = vehicle_pose(sim, i);
    if (tree) tree->within({pose.x, pose.y}, m.vehicles[i].radius + kSlack, near);
    others.clear();
    for (const int k : near) {
      const MovingShape& shape = shapes[static_cast<size_t>(k)];
      if (shape.body != static_cast<int>(m.vehicles[i].body)) others.push_back(shape);
    }
    if (!overlaps(sim, i, others)) continue;
    throw WorldFileError(m.vehicles[i].where, "<vehicle> '" + m.vehicles[i].name + "' starts inside of " +
                                                  obstacle_of(sim, i) +
                                                  ", expected a free pose (or an intangible block)");
  }
}

}  // namespace mvsim
