// A new field of one of these structs joins its structured binding, and the archive's line if it changes
// motion or readings.
#include "model/model.h"

#include "base/archive.h"
#include "worldfile/tags.h"

namespace mvsim {

// Hashes the values of an object's tags in the order of the table. Values that are only drawn are left out.
template <typename Spec, typename Archive>
void hash_tags(Archive& archive, Tags<Spec> tags, const Spec& spec) {
  const auto hash = [&]<typename T>(T Spec::*member) {
    if constexpr (std::is_arithmetic_v<T>)
      archive(spec.*member);
    else if constexpr (std::is_same_v<T, std::optional<double>> || std::is_same_v<T, std::optional<bool>>)
      archive((spec.*member).has_value(), (spec.*member).value_or(0));
  };
  for (const Tag<Spec>& tag : tags)
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), std::monostate>) hash(member);
        },
        tag.field);
}

void visit(auto& archive, const ShapeModel& shape) {
  const auto& [outline, pieces, radius, centroid, unit_inertia] = shape;
  archive(outline, uint64_t{pieces.size()}, radius, centroid, unit_inertia);
  for (const Polygon& piece : pieces) archive(piece);
}

// A vehicle without any of these has the fingerprint that it had before there were any.
void visit(auto& archive, const DriveModel& drive) {
  // the last three follow from the others
  const auto& [limits, kinematics, motor, servo, command_delay, driver, coupled_sides, memory, delay_line,
               command_size, delay_places, command_limits] = drive;
  if (coupled_sides) archive(coupled_sides);
  if (!limits && !kinematics && !motor && !servo && !command_delay) return;
  for (const std::optional<size_t>& part : {limits, kinematics, motor, servo, command_delay})
    archive(part.has_value(), uint64_t{part.value_or(0)});
  archive(static_cast<uint32_t>(driver), uint64_t{memory}, uint64_t{delay_line});
}

void visit(auto& archive, const VehicleModel& vehicle) {
  const auto& [name, class_name, dynamics, controller, tire, wheels, chassis, z_min, z_max, radius,
               initial_pose, initial_twist, odometry_drawn, body_params, tire_params, controller_params,
               dynamics_params, transfer_params, load_transfer, controller_state, drive, first_wheel, body,
               first_joint_anchor, linked_visuals, auto_start_recording, publication, where] = vehicle;
  archive(name, dynamics->name(), controller->name(), tire->name(), wheels, chassis, z_min, z_max, radius,
          initial_pose, initial_twist, body_params, tire_params, controller_params, dynamics_params,
          transfer_params, load_transfer.has_value(), load_transfer.value_or(0), controller_state,
          first_wheel, body, first_joint_anchor.has_value(), first_joint_anchor.value_or(Vec2{}), drive);
  for (const bool drawn : odometry_drawn) archive(drawn);
}

void visit(auto& archive, const BlockModel& block) {
  const auto& [name, traits, is_wall, placed, is_person, is_driven, is_led, shape, top, z_min, z_max,
               initial_pose, initial_twist, params, body, frame, publication, where] = block;
  archive(name);
  hash_tags<BlockTraits>(archive, kBlockTraitTags, traits);
  archive(placed, shape, top, z_min, z_max, initial_pose, initial_twist, params, body);
  if (is_person || is_driven) archive(is_person, is_driven);
}

// Hashes only the codes of the first quadrant: rays give equal ranges in two grids if and only if these
// agree.
void visit(auto& archive, const GridModel& grid) {
  const auto& [field, T_world_grid, restitution, friction] = grid;
  archive(field.width(), field.height(), field.resolution(), T_world_grid, restitution, friction);
  archive.raw(field.codes(), static_cast<size_t>(field.plane_size()));
}

void visit(auto& archive, const JointModel& joint) {
  const auto& [type, body_a, body_b, anchor_a, anchor_b, min_length, max_length, stiffness, damping, limited,
               lower_angle, upper_angle, initial_angle] = joint;
  archive(type, body_a, body_b, anchor_a, anchor_b, min_length, max_length, stiffness, damping, limited,
          lower_angle, upper_angle, initial_angle);
}

void visit(auto& archive, const SensorModel& model) {
  const auto& [name, vehicle, period, params, transfer_params, values, bytes, memory, class_name,
               publish_topic, sensor, level_images] = model;
  archive(name, vehicle, period, params, transfer_params, values, class_name);
  sensor->add_config(archive);
  if (sensor->kind() == SensorKind::kRay) return;
  const ReadingSpec& reading = sensor->reading();
  archive(sensor->mount(), reading.dtype, reading.shape, reading.low, reading.high);
}

void visit(auto& archive, const HeightMap& map) {
  archive(map.rows(), map.columns(), map.resolution(), map.corner());
  for (int row = 0; row < map.rows(); ++row)
    for (int column = 0; column < map.columns(); ++column) archive(map.node(row, column));
}

void visit(auto& archive, const MovingPlane& plane) {
  const auto& [top, frames, start, frame] = plane;
  archive(top, frames, start);
}

void visit(auto& archive, const ActorModel& actor) {
  const auto& [name, legs, initial_pose, loop_start, end, radius, height, frame, block] = actor;
  archive(legs, initial_pose, loop_start, end, block);
}

void visit(auto& archive, const ParamEntry& param) {
  const auto& [path, nominal, info] = param;
  archive(path, nominal);
}

void visit(auto& archive, const Site& site) {
  const auto& [reference, rotation, origin, plane, regions] = site;
  archive(reference.latitude, reference.longitude, reference.height, rotation, origin.x, origin.y, origin.z,
          regions);
}

uint64_t fingerprint(const Model& model) {
  const auto& [path, timestep, gravity, velocity_iterations, position_iterations, collision_threshold,
               vehicles, blocks, grids, bodies, animations, moving_planes, actors, walkers, driven_blocks,
               moving_bodies, joints, joint_groups, sensors, terrain, has_steps, lowest_moving_ground, site,
               regions, static_shapes, params, wheel_count, memory_size, reading_count, reading_bytes, bounds,
               origin, warnings, load_bytes, own_fingerprint, scene, recipe_frames, level_frames, drawer] =
      model;
  ArchiveHasher hasher;
  hasher(timestep, gravity, velocity_iterations, position_iterations, collision_threshold, vehicles, blocks,
         grids, bodies, joints, sensors, terrain, has_steps, regions, params, wheel_count, memory_size,
         reading_count, bounds, origin);
  if (site) hasher(*site);
  if (!animations.empty() || !moving_planes.empty()) hasher(animations, moving_planes);
  for (const size_t walker : walkers) hasher(actors[walker]);
  for (const ActorModel& actor : actors)  // a policy may take its goals from their paths
    if (actor.block >= 0 && blocks[static_cast<size_t>(actor.block)].is_driven && !actor.legs.empty())
      hasher(actor);
  return hasher.value();
}

}  // namespace mvsim
