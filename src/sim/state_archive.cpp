// A new field of one of these structs joins both lines of its visit(), and kSnapshotVersion goes up.
#include "sim/state_archive.h"

#include <algorithm>
#include <cmath>

#include "base/geometry_archive.h"
#include "model/shape.h"
#include "sim/sense.h"

namespace mvsim {

template <typename Archive>
void visit(Archive& archive, ValueOf<BodyState> auto& body) {
  auto& [x, y, angle, x_rest, y_rest, angle_rest, vx, vy, omega] = body;
  archive(x, y, angle, x_rest, y_rest, angle_rest, vx, vy, omega);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<BodyInertia> auto& inertia) {
  auto& [inverse_mass, inverse_inertia, center_x, center_y, linear_damping, angular_damping] = inertia;
  archive(inverse_mass, inverse_inertia, center_x, center_y, linear_damping, angular_damping);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<RoundedPose> auto& rounded) {
  auto& [x, y, angle, cx, cy, sin, cos, is_kept, is_known] = rounded;
  archive(x, y, angle, cx, cy, sin, cos, is_kept, is_known);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<VehicleState> auto& vehicle) {
  auto& [z, pitch, roll, acceleration, last_velocity, odometry, last_pose, has_last_pose, in_collision,
         by_solver, contacts, rounded, command] = vehicle;
  archive(z, pitch, roll, acceleration, last_velocity, odometry, last_pose, has_last_pose, in_collision,
          by_solver, contacts, rounded, command);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<WheelState> auto& wheel) {
  auto& [spin, angle, steer, torque, brake, force_x, force_y, load] = wheel;
  archive(spin, angle, steer, torque, brake, force_x, force_y, load);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<SensorState> auto& sensor) {
  auto& [last_due, stamp, count, scheduled, noise] = sensor;
  archive(last_due, stamp, count, scheduled, noise);
}

// In whole words of four bytes, after their number: those of float32 are written as an array of float32 is.
template <typename Archive>
void visit(Archive& archive, ValueOf<ReadingBuffer> auto& readings) {
  auto& [bytes] = readings;
  if constexpr (Archive::kReads) {
    uint64_t words = 0;
    archive(words);
    archive.check(words <= archive.left() / sizeof(uint32_t));
    bytes.resize(words * sizeof(uint32_t));
    archive.template fill<uint8_t>(bytes);
  } else {
    archive(uint64_t{bytes.size() / sizeof(uint32_t)});
    archive.raw(bytes.data(), bytes.size());
  }
}

template <typename Archive>
void visit(Archive& archive, ValueOf<SimState> auto& state) {
  auto& [key, episode, time, time_error, owed, step_count, params, bodies, inertias, free_distances,
         in_contact, always_solver, solver_origin, intangible_poses, block_z, vehicles, wheels, memory,
         sensors, readings, reading_valid] = state;
  archive(key, episode, time, time_error, owed, step_count, params, bodies, inertias, free_distances,
          in_contact, always_solver, solver_origin, intangible_poses, block_z, vehicles, wheels, memory,
          sensors, readings, reading_valid);
}

namespace {

// A rest is less than the last digit of its sum.
bool has_sound_rests(const BodyState& b) {
  const auto is_rest = [](float rest, double sum) {
    constexpr double kShare = 1e-15;
    return !(std::fabs(rest) > kShare * (1 + std::fabs(sum)));  // true for NaN, which a diverged state has
  };
  return is_rest(b.x_rest, b.x) && is_rest(b.y_rest, b.y) && is_rest(b.angle_rest, b.angle);
}

// Whether a rotation read from a snapshot is possible. A forged one could cause forces that no vehicle has.
bool has_sound_rotation(const VehicleState& v) {
  const RoundedPose& r = v.rounded;
  return !(std::fabs(r.sin) > 1 || std::fabs(r.cos) > 1 || std::fabs(r.cx - r.x) > kFarthestPoint ||
           std::fabs(r.cy - r.y) > kFarthestPoint);
}

bool all_in_range(const std::vector<double>& params, const Model& model) {
  for (size_t i = 0; i < params.size(); ++i)
    if (!in_range(model.params[i].info, params[i])) return false;
  return true;
}

// Sizes as reset_state() makes them, parameters that set_param() takes, and a clock that run() left.
bool fits(const SimState& s, const Model& m) {
  return std::fabs(s.owed) <= m.timestep && std::fabs(s.time_error) <= m.timestep &&
         s.params.size() == m.params.size() && s.bodies.size() == m.bodies.size() &&
         s.inertias.size() == m.bodies.size() && s.free_distances.size() == m.vehicles.size() &&
         s.intangible_poses.size() == m.blocks.size() && s.block_z.size() == m.blocks.size() &&
         s.vehicles.size() == m.vehicles.size() && s.wheels.size() == m.wheel_count &&
         s.memory.size() == m.memory_size && s.sensors.size() == m.sensors.size() &&
         s.readings.bytes.size() == m.reading_bytes && s.reading_valid.size() == m.reading_count &&
         all_in_range(s.params, m) && std::ranges::all_of(s.bodies, has_sound_rests) &&
         std::ranges::all_of(s.vehicles, has_sound_rotation);
}

}  // namespace

void write_state(ArchiveWriter& archive, const SimState& state) {
  archive(state);
}

SimState read_state(const Model& model, ArchiveReader& archive) {
  SimState state;
  archive(state);
  archive.check(fits(state, model) && (!archive.finite_only() || readings_are_finite({model, state})));
  return state;
}

size_t expected_bytes(const Model& m) {
  return 256 + 8 * (m.params.size() + m.memory_size) + m.reading_bytes + m.reading_count +
         m.bodies.size() * (sizeof(BodyState) + sizeof(BodyInertia)) + m.blocks.size() * 4 * sizeof(double) +
         m.vehicles.size() * (sizeof(VehicleState) + 8) + m.wheel_count * sizeof(WheelState) +
         m.sensors.size() * sizeof(SensorState);
}

}  // namespace mvsim
