#include "sim/simulation.h"

#include <algorithm>

namespace mvsim {
namespace {

constexpr double kLift = 0.02;  // m by which flat things float over the ground, also where it bends

double ground(const Model& model, Vec2 at) {
  return highest_map(model.terrain, at).value_or(0);
}

// In the middle of the chassis and no longer than it is wide, so that the arrow of a truck or a trailer hides
// neither the other nor the joint between them.
void add_heading(const Simulation& simulation, size_t index, Marks& marks) {
  constexpr double kAbove = 0.002;  // m
  const VehicleModel& vehicle = simulation.model().vehicles[index];
  const ShapeModel& chassis = vehicle.chassis;
  const auto [right, left] =
      std::ranges::minmax_element(chassis.outline, {}, [](const Vec2& corner) { return corner.y; });
  Frame3 frame(vehicle_pose(simulation, index));
  frame.origin = frame.transform({chassis.centroid.x, chassis.centroid.y, vehicle.z_max + kAbove});
  marks.headings.push_back({frame, std::min(chassis.radius, left->y - right->y)});
}

// Where the rays of a lidar end that hit something.
void add_hits(Simulation& simulation, size_t index, Marks& marks) {
  const SensorModel& model = simulation.model().sensors[index];
  const RaySensor* const lidar = as_ray_sensor(*model.sensor);
  if (!lidar) return;
  const std::span<const double> angles = lidar->angles();
  std::vector<float> ranges(angles.size());
  std::vector<uint8_t> valid(angles.size());
  simulation.read_now(index, ranges.data(), valid.data());
  const Pose3 base = model.is_standalone() ? Pose3{} : vehicle_pose(simulation, model.vehicle);
  Pose3 mount = lidar->mount();
  const Pose2 askew = mount_error(simulation, model);
  if (lidar->view()) {  // its plane leans
    mount.x += askew.x, mount.y += askew.y, mount.yaw += askew.yaw;
    const Frame3 T_world_sensor = compose(Frame3(base), Frame3(mount));
    for (size_t i = 0; i < angles.size(); ++i) {
      const SinCos turn = sin_cos(angles[i]);
      const double range = ranges[i];
      if (valid[i]) marks.hits.push_back(T_world_sensor.transform({range * turn.cos, range * turn.sin, 0}));
    }
    return;
  }
  const Pose2 sensor =
      compose({base.x, base.y, base.yaw}, {mount.x + askew.x, mount.y + askew.y, mount.yaw + askew.yaw});
  for (size_t i = 0; i < angles.size(); ++i) {
    if (!valid[i]) continue;
    const Vec2 hit = transform(sensor, Rotation2(angles[i]).rotate({ranges[i], 0}));
    marks.hits.push_back({hit.x, hit.y, base.z + mount.z});
  }
}

// Above what they hold, so that they are seen.
void add_joints(const Simulation& simulation, Marks& marks) {
  constexpr double kAbove = 0.01;  // m
  const Model& model = simulation.model();
  const auto top = [&](size_t body) {
    const BodyModel& b = model.bodies[body];
    return b.kind == BodyKind::kVehicle ? vehicle_pose(simulation, b.index).z + model.vehicles[b.index].z_max
                                        : block_pose(simulation, b.index).z + model.blocks[b.index].z_max;
  };
  for (size_t i = 0; i < model.joints.size(); ++i) {
    const JointModel& joint = model.joints[i];
    const auto [a, b] = joint_anchors(simulation, i);
    const double z = kAbove + std::max(top(joint.body_a), top(joint.body_b));
    const Vec3 from{a.x, a.y, z}, to{b.x, b.y, z};
    (joint.type == JointType::kDistance ? marks.ropes : marks.hitches).push_back({from, to});
  }
}

RegionMark mark_of(GroundProperty property) {
  switch (property) {
    case GroundProperty::kMu:
      return RegionMark::kFriction;
    case GroundProperty::kCRr:
      return RegionMark::kRollingResistance;
    case GroundProperty::kSurface:
    case GroundProperty::kConeIndex:
      return RegionMark::kSoil;
  }
  return {};
}

// Regions where they lie now, on hills in steps of a fine grid.
void add_regions(const Simulation& simulation, Marks& marks) {
  constexpr double kStep = 0.25;  // m
  constexpr int kMaxSteps = 60;
  const Model& model = simulation.model();
  for (const RegionModel& region : model.regions) {
    const auto box = [&](RegionParam p) { return simulation.state().params[region.box + p]; };
    const double size_x = box(kRegionSizeX), size_y = box(kRegionSizeY);
    if (!(size_x > 0 && size_y > 0)) continue;
    const auto steps = [&](double size) {
      return model.terrain.maps.empty() ? 1
                                        : static_cast<int>(std::clamp(size / kStep, 1.0, double{kMaxSteps}));
    };
    const int along_x = steps(size_x), along_y = steps(size_y);
    RegionPatch patch{.kind = mark_of(region.property),
                      .rows = along_x + 1,
                      .columns = along_y + 1,
                      .heights = {},
                      .corner = {box(kRegionX) - size_x / 2, box(kRegionY) - size_y / 2},
                      .step_x = size_x / along_x,
                      .step_y = size_y / along_y};
    for (int row = 0; row < patch.rows; ++row)
      for (int column = 0; column < patch.columns; ++column)
        patch.heights.push_back(static_cast<float>(
            kLift +
            ground(model, {patch.corner.x + row * patch.step_x, patch.corner.y + column * patch.step_y})));
    marks.regions.push_back(std::move(patch));
  }
}

RingMark goal_ring(const Model& model, const GoalMark& goal) {
  constexpr double kAbove = 0.01;  // m, where the ground is level
  constexpr int kCorners = 48;
  RingMark ring{{goal.center.x, goal.center.y, kAbove}, 0.75 * goal.radius, goal.radius, {}};
  if (model.terrain.maps.empty()) return ring;
  for (int i = 0; i < kCorners; ++i) {
    const Vec2 p = goal.center +
                   Rotation2(2 * kPi * i / kCorners).rotate({(ring.inner_radius + ring.outer_radius) / 2, 0});
    ring.line.push_back({p.x, p.y, kLift + ground(model, p)});
  }
  return ring;
}

}  // namespace

Marks debug_marks(const Simulation& simulation, const std::optional<GoalMark>& goal) {
  const Model& model = simulation.model();
  Marks marks;
  for (size_t i = 0; i < model.vehicles.size(); ++i) add_heading(simulation, i, marks);
  add_joints(simulation, marks);
  add_regions(simulation, marks);
  Simulation copy(simulation);  // a reading draws noise
  for (size_t i = 0; i < model.sensors.size(); ++i) add_hits(copy, i, marks);
  if (goal) marks.goal = goal_ring(model, *goal);
  return marks;
}

}  // namespace mvsim
