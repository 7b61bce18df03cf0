
#include <algorithm>
#include <vector>

#include "model/model.h"
#include "sim/measure.h"
#include "sim/place.h"
#include "sim/sense.h"

namespace mvsim {
namespace {

// A wheel that is steered about the vehicle's own z axis and has turned about its axle, forward is positive.
Frame3 wheel_frame(const Frame3& base, const WheelModel& wheel, const WheelState& state) {
  const Rotation2 turn(state.steer);
  const SinCos spin = sin_cos(state.angle);
  const Vec3 x = base.rotate({turn.c, turn.s, 0}), y = base.rotate({-turn.s, turn.c, 0});
  return {base.transform({wheel.position.x, wheel.position.y, wheel.radius}),
          spin.cos * x - spin.sin * base.z, y, spin.sin * x + spin.cos * base.z};
}

// Upright in the vehicle, turned as the wheel is.
Frame3 linked_frame(const Frame3& base, const LinkedVisual& linked, const WheelState& state) {
  return compose(base, Frame3(Pose3{linked.place.x, linked.place.y, linked.place.z,
                                    state.steer + linked.yaw_offset, 0, 0}));
}

// Calls set(frame, pose) for all frames but the world's and those of blocks.
template <typename Set>
void for_each_frame(const SimView& sim, const Set& set) {
  const Model& model = sim.model;
  for (size_t i = 0; i < model.vehicles.size(); ++i) {
    const VehicleModel& vehicle = model.vehicles[i];
    const Frame3 base(vehicle_pose(sim, i));
    set(frame_of_body(vehicle.body), ScenePose{base});
    const auto states = wheel_states(sim, i);
    for (size_t w = 0; w < states.size(); ++w)
      set(frame_of_wheel(model.bodies.size(), vehicle.first_wheel + w),
          ScenePose{wheel_frame(base, vehicle.wheels[w], states[w])});
    for (const LinkedVisual& linked : vehicle.linked_visuals)
      set(linked.frame, ScenePose{linked_frame(base, linked, states[linked.wheel])});
  }
  for (const MovingPlane& plane : model.moving_planes)
    set(plane.frame, ScenePose{Frame3(moving_plane_pose(plane, sim.state.time))});
  for (const ActorModel& actor : model.actors)
    if (actor.block < 0) set(actor.frame, ScenePose{Frame3(actor_pose(actor, sim.state.time))});
}

ScenePose pose_of_block(const SimView& sim, size_t i) {
  return {Frame3(block_pose(sim, i)), sim.state.params[sim.model.blocks[i].params + kBlockScale]};
}

double* write_pose(const ScenePose& pose, double* out) {
  const Frame3& f = pose.T_world_frame;
  for (const Vec3& v : {f.origin, f.x, f.y, f.z})
    for (const double number : {v.x, v.y, v.z}) *out++ = number;
  *out++ = pose.scale;
  return out;
}

}  // namespace

void scene_poses(const SimView& sim, std::vector<ScenePose>& poses) {
  const Model& model = sim.model;
  poses.assign(model.scene->frame_count, {});
  for_each_frame(sim, [&](uint32_t frame, const ScenePose& pose) { poses[frame] = pose; });
  for (size_t i = 0; i < model.blocks.size(); ++i) {
    const BlockModel& block = model.blocks[i];
    const uint32_t frame = block.body >= 0 ? frame_of_body(static_cast<size_t>(block.body)) : block.frame;
    if (frame != kWorldFrame) poses[frame] = pose_of_block(sim, i);
  }
}

void recipe_poses(const SimView& sim, std::vector<ScenePose>& poses) {
  const RecipeFrames& wanted = sim.model.recipe_frames;
  poses.assign(wanted.frames.size(), {});
  const auto set = [&](uint32_t frame, const ScenePose& pose) {
    if (const int place = wanted.place[frame]; place >= 0) poses[static_cast<size_t>(place)] = pose;
  };
  for_each_frame(sim, set);
  for (const size_t i : wanted.blocks) set(sim.model.blocks[i].frame, pose_of_block(sim, i));
}

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
