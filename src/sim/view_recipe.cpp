#include "sim/view_recipe.h"

#include <algorithm>
#include <vector>

#include "model/sensor_layout.h"
#include "sim/scene_poses.h"
#include "sim/sense.h"

namespace mvsim {
namespace {

double* write_pose(const ScenePose& pose, double* out) {
  const Frame3& f = pose.T_world_frame;
  for (const Vec3& v : {f.origin, f.x, f.y, f.z})
    for (const double number : {v.x, v.y, v.z}) *out++ = number;
  *out++ = pose.scale;
  return out;
}

}  // namespace

void record_view(const Model& m, SimState& s, size_t index, double* recipe) {
  static_assert(kViewRecipeHead == 6 && kViewRecipeAskew == 3);
  const SensorModel& sensor = m.sensors.at(index);
  RandomStream& noise = s.sensors[index].noise;
  *recipe++ = 1;
  for (int half = 0; half < 2; ++half) *recipe++ = noise.bits();
  const Pose2 askew = mount_error({m, s}, sensor);
  for (const double number : {askew.x, askew.y, askew.yaw}) *recipe++ = number;
  recipe = std::copy_n(s.params.data() + sensor.params, sensor.sensor->params().size(), recipe);
  std::vector<ScenePose> poses;
  recipe_poses({m, s}, poses);
  for (const ScenePose& pose : poses) recipe = write_pose(pose, recipe);
}

std::span<const double> view_recipe_of(const SimView& sim, size_t index) {
  const SensorModel& sensor = sim.model.sensors.at(index);
  return {sim.state.memory.data() + sensor.memory, state_memory_size(sim.model, *sensor.sensor)};
}

}  // namespace mvsim
