#include "sim/scene_poses.h"

#include "sim/animate.h"
#include "sim/measure.h"

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

}  // namespace

void scene_poses(const SimView& sim, std::vector<ScenePose>& poses) {
  const Model& model = sim.model;
  poses.assign(model.scene->frame_count, {});
  for (size_t i = 0; i < model.vehicles.size(); ++i) {
    const VehicleModel& vehicle = model.vehicles[i];
    const Frame3 base(vehicle_pose(sim, i));
    poses[frame_of_body(vehicle.body)].T_world_frame = base;
    const auto states = wheel_states(sim, i);
    for (size_t w = 0; w < states.size(); ++w)
      poses[frame_of_wheel(model.bodies.size(), vehicle.first_wheel + w)].T_world_frame =
          wheel_frame(base, vehicle.wheels[w], states[w]);
    for (const LinkedVisual& linked : vehicle.linked_visuals)
      poses[linked.frame].T_world_frame = linked_frame(base, linked, states[linked.wheel]);
  }
  for (const MovingPlane& plane : model.moving_planes)
    poses[plane.frame].T_world_frame = Frame3(moving_plane_pose(plane, sim.state.time));
  for (const ActorModel& actor : model.actors)
    if (actor.block < 0) poses[actor.frame].T_world_frame = Frame3(actor_pose(actor, sim.state.time));
  for (size_t i = 0; i < model.blocks.size(); ++i) {
    const BlockModel& block = model.blocks[i];
    const uint32_t frame = block.body >= 0 ? frame_of_body(static_cast<size_t>(block.body)) : block.frame;
    if (frame != kWorldFrame)
      poses[frame] = {Frame3(block_pose(sim, i)), sim.state.params[block.params + kBlockScale]};
  }
}

}  // namespace mvsim
