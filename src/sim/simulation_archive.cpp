// The part of Simulation that becomes bytes and comes back. Whoever adds a field to one of these structs adds
// it to both lines of its visit() and raises kSnapshotVersion.
#include <cmath>
#include <cstring>

#include "base/geometry_archive.h"
#include "sim/rigid_body_solver.h"
#include "sim/simulation.h"
#include "sim/snapshot.h"

namespace mvsim {

template <typename Archive>
void visit(Archive& archive, ValueOf<BodyState> auto& body) {
  auto& [x, y, angle, cx, cy, vx, vy, omega] = body;
  archive(x, y, angle, cx, cy, vx, vy, omega);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<BodyInertia> auto& inertia) {
  auto& [inverse_mass, inverse_inertia, center_x, center_y, linear_damping, angular_damping] = inertia;
  archive(inverse_mass, inverse_inertia, center_x, center_y, linear_damping, angular_damping);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<VehicleState> auto& vehicle) {
  auto& [z, pitch, roll, acceleration, last_velocity, odometry, last_pose, has_last_pose, in_collision,
         had_collision, command] = vehicle;
  archive(z, pitch, roll, acceleration, last_velocity, odometry, last_pose, has_last_pose, in_collision,
          had_collision, command);
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
    std::vector<uint32_t> words;
    archive(words);
    bytes.resize(words.size() * sizeof(uint32_t));
    if (!words.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  } else {
    archive(uint64_t{bytes.size() / sizeof(uint32_t)});
    archive.raw(bytes.data(), bytes.size());
  }
}

namespace {

template <typename Archive, typename State>
void visit_state(Archive& archive, State& state) {
  auto& [key, episode, time, time_error, owed, step_count, params, bodies, inertias, free_distances,
         in_contact, always_solver, intangible_poses, block_z, vehicles, wheels, memory, sensors, readings,
         reading_valid] = state;
  archive(key, episode, time, time_error, owed, step_count, params, bodies, inertias, free_distances,
          in_contact, always_solver, intangible_poses, block_z, vehicles, wheels, memory, sensors, readings,
          reading_valid);
}

bool all_in_range(const std::vector<double>& params, const Model& model) {
  for (size_t i = 0; i < params.size(); ++i)
    if (!in_range(model.params[i].info, params[i])) return false;
  return true;
}

// Sizes as reset() makes them, parameters that set_param() takes, and a clock that run() left.
template <typename State>
bool fits(const State& s, const Model& m) {
  return std::fabs(s.owed) <= m.timestep && std::fabs(s.time_error) <= m.timestep &&
         s.params.size() == m.params.size() && s.bodies.size() == m.bodies.size() &&
         s.inertias.size() == m.bodies.size() && s.free_distances.size() == m.vehicles.size() &&
         s.intangible_poses.size() == m.blocks.size() && s.block_z.size() == m.blocks.size() &&
         s.vehicles.size() == m.vehicles.size() && s.wheels.size() == m.wheel_count &&
         s.memory.size() == m.memory_size && s.sensors.size() == m.sensors.size() &&
         s.readings.bytes.size() == m.reading_bytes && s.reading_valid.size() == m.reading_count &&
         all_in_range(s.params, m);
}

}  // namespace

Simulation::Simulation(std::shared_ptr<const Model> model, SimState state)
    : state_(std::move(state)), model_(std::move(model)) {}

void Simulation::write(ArchiveWriter& archive) const {
  visit_state(archive, state_);
}

Simulation Simulation::read(std::shared_ptr<const Model> model, ArchiveReader& archive) {
  SimState state;
  visit_state(archive, state);
  archive.check(fits(state, *model) && (!archive.finite_only() || readings_are_finite(*model, state)));
  return {std::move(model), std::move(state)};
}

size_t Simulation::expected_bytes() const {
  const Model& m = *model_;
  return 256 + 8 * (m.params.size() + m.memory_size) + m.reading_bytes + m.reading_count +
         m.bodies.size() * (sizeof(BodyState) + sizeof(BodyInertia)) + m.blocks.size() * 4 * sizeof(double) +
         m.vehicles.size() * (sizeof(VehicleState) + 8) + m.wheel_count * sizeof(WheelState) +
         m.sensors.size() * sizeof(SensorState);
}

std::string Simulation::snapshot() {
  if (!is_finite()) throw Error("snapshot: the simulation has diverged (a position or speed is not finite)");
  refill_solver();
  SnapshotWriter writer(SnapshotKind::kWorld, model_->fingerprint, expected_bytes());
  write(writer.archive());
  return writer.finish();
}

void Simulation::restore(std::string_view bytes) {
  ArchiveReader archive(snapshot_body(bytes, SnapshotKind::kWorld, model_->fingerprint));
  Simulation restored = read(model_, archive);
  archive.check(archive.left() == 0);
  *this = std::move(restored);
}

}  // namespace mvsim
