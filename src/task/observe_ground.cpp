#include <vector>

#include "task/make_term.h"
#include "task/track/localization.h"
#include "terrain/height_map.h"

namespace mvsim {
namespace {

std::vector<PlacedTop> tops_below(const Simulation& simulation, double z) {
  std::vector<PlacedTop> tops;
  const std::vector<BlockModel>& blocks = simulation.model().blocks;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Pose3 pose = block_pose(simulation, i);
    if (pose.z + blocks[i].top.lowest() <= z)
      tops.push_back({&blocks[i].top, {pose.x, pose.y, pose.yaw}, pose.z});
  }
  return tops;
}

}  // namespace

// Ground heights relative to the robot at the points of a grid that turns with its yaw. Rows go from the rear
// to the front, points from right to left.
class HeightScanObservation final : public ObservationOf<float> {
 public:
  HeightScanObservation(TermReader& reader, TaskContext& context)
      : vehicle_(context.vehicle), seen_(context), max_(reader.number("max", 1, kPositive)) {
    const int rows = reader.integer("rows", 11, 1, 256), columns = reader.integer("columns", 11, 1, 256);
    const double spacing = reader.number("spacing", 0.25, kPositive);
    const double ahead = reader.number("ahead", 0, {});
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column)
        points_.push_back(
            {ahead + (row - (rows - 1) / 2.0) * spacing, (column - (columns - 1) / 2.0) * spacing});
  }

  std::vector<Interval> bounds() const override {
    return std::vector<Interval>(points_.size(), {-max_, max_});
  }

  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    const SeenPose::At here = seen_.of(agent);
    const Terrain& terrain = env.simulation.model().terrain;
    const double z = env.simulation.state().vehicles[vehicle_].z, max = z + max_;
    const std::vector<PlacedTop> tops = tops_below(env.simulation, max);
    if (terrain.maps.size() == 1 && terrain.planes.empty() && tops.empty())
      return scan_heights(terrain.maps[0], here.position, here.heading, points_, z, out);
    for (const Vec2 point : points_) {
      const Vec2 at = here.position + here.heading.rotate(point);
      // terrain counts at any height; storeys and blocks count only if they are not far above the robot
      const std::optional<double> hill = highest_map(terrain, at);
      const double height = hill && *hill > max ? *hill : highest_under(terrain, tops, at, max);
      *out++ = static_cast<float>(height - z);
    }
  }

 private:
  size_t vehicle_;
  SeenPose seen_;
  double max_;
  std::vector<Vec2> points_;  // in the robot's frame
};
template std::unique_ptr<const Observation> term<HeightScanObservation>(TermReader&, TaskContext&);

}  // namespace mvsim
