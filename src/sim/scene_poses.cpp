#include "sim/scene_poses.h"

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

Pose3 at(const Pose2& plane, double z, double pitch, double roll) {
  return {plane.x, plane.y, z, plane.yaw, pitch, roll};
}

}  // namespace

void scene_poses(const Model& m, const SimState& s, std::vector<ScenePose>& poses) {
  poses.assign(m.scene->frame_count, {});
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    const VehicleModel& vehicle = m.vehicles[i];
    const VehicleState& state = s.vehicles[i];
    const Frame3 base(at(body_pose(s.bodies[vehicle.body], m.origin), state.z, state.pitch, state.roll));
    poses[frame_of_body(vehicle.body)].T_world_frame = base;
    for (size_t w = 0; w < vehicle.wheels.size(); ++w) {
      const size_t wheel = vehicle.first_wheel + w;
      poses[frame_of_wheel(m.bodies.size(), wheel)].T_world_frame =
          wheel_frame(base, vehicle.wheels[w], s.wheels[wheel]);
    }
  }
  for (size_t i = 0; i < m.blocks.size(); ++i) {
    const BlockModel& block = m.blocks[i];
    const auto body = static_cast<size_t>(block.body);
    const uint32_t frame = block.body >= 0 ? frame_of_body(body) : block.frame;
    if (frame == kWorldFrame) continue;
    const Pose2 plane = block.body >= 0 ? body_pose(s.bodies[body], m.origin) : s.intangible_poses[i];
    poses[frame] = {Frame3(at(plane, s.block_z[i], block.initial_pose.pitch, block.initial_pose.roll)),
                    s.params[block.params + kBlockScale]};
  }
}

}  // namespace mvsim
