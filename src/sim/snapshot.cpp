// A new field of a struct that has a visit() here joins both of its lines. A new field of any struct of the
// state raises kSnapshotVersion.
#include "sim/snapshot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "model/shape.h"
#include "sim/sense.h"

namespace mvsim {

void visit(auto& archive, ValueOf<VehicleState> auto& vehicle) {
  auto& [z, pitch, roll, acceleration, last_velocity, odometry, last_pose, has_last_pose, in_collision,
         by_solver, contacts, rounded, command] = vehicle;
  archive(z, pitch, roll, acceleration, last_velocity, odometry, last_pose, has_last_pose, in_collision,
          by_solver, contacts, rounded, command);
}

// Writes the number of words of four bytes, then the words, which gives the bytes of an array of float32.
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

void visit(auto& archive, ValueOf<SimState> auto& state) {
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

namespace {

struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint16_t kind, drawn_by;
  uint64_t fingerprint, length, checksum;
};
static_assert(sizeof(Header) == 40, "a header has no gaps");

constexpr std::array<char, 8> kMagic{'m', 'v', 's', 'i', 'm', 's', 'n', 'p'};

// Returns the checksum of the header, with 0 as its own field, and the body.
uint64_t checksum(Header header, std::string_view body) {
  header.checksum = 0;
  ByteHash hash;
  hash.add(&header, sizeof header);
  hash.add(body.data(), body.size());
  return hash.value();
}

std::string name_of(uint16_t kind) {
  return kind == static_cast<uint16_t>(SnapshotKind::kWorld) ? "a world" : "an environment";
}

}  // namespace

SnapshotWriter::SnapshotWriter(SnapshotKind kind, uint64_t fingerprint, size_t expected_size,
                               CameraBackend drawn_by)
    : kind_(kind), fingerprint_(fingerprint), drawn_by_(drawn_by), archive_(sizeof(Header) + expected_size) {
  constexpr std::array<char, sizeof(Header)> kRoom{};
  archive_.raw(kRoom.data(), kRoom.size());
}

std::string SnapshotWriter::finish() {
  std::string bytes = std::move(archive_).finish();
  const std::string_view body = std::string_view(bytes).substr(sizeof(Header));
  Header header{kMagic,
                kSnapshotVersion,
                static_cast<uint16_t>(kind_),
                static_cast<uint16_t>(drawn_by_),
                fingerprint_,
                body.size(),
                0};
  header.checksum = checksum(header, body);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::string_view snapshot_body(std::string_view bytes, SnapshotKind kind, uint64_t fingerprint) {
  Header header{};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic)
    throw Error("snapshot: found " + std::to_string(bytes.size()) +
                " bytes that are no snapshot of mvsim_gym");
  if (header.version != kSnapshotVersion)
    throw Error("snapshot: found version " + std::to_string(header.version) + ", expected " +
                std::to_string(kSnapshotVersion) + ": it was taken with another version of mvsim_gym");
  const std::string_view body = bytes.substr(sizeof header);
  if (header.length != body.size())
    throw Error("snapshot: found " + std::to_string(body.size()) + " bytes, expected " +
                std::to_string(header.length) + ": it was cut or added to");
  if (header.checksum != checksum(header, body))
    throw Error("snapshot: found damaged bytes (the checksum is wrong)");
  if (header.kind != static_cast<uint16_t>(kind))
    throw Error("snapshot: found one of " + name_of(header.kind) + ", expected one of " +
                name_of(static_cast<uint16_t>(kind)));
  if (header.fingerprint != fingerprint)
    throw Error(std::string("snapshot: it was taken in another ") +
                (kind == SnapshotKind::kWorld
                     ? "world"
                     : "environment (its worlds, observations, actions, rewards or terminations)"));
  return body;
}

CameraBackend snapshot_drawn_by(std::string_view bytes) {
  Header header{};
  if (bytes.size() < sizeof header) return CameraBackend::kAuto;
  std::memcpy(&header, bytes.data(), sizeof header);
  const bool is_told = header.magic == kMagic && header.version == kSnapshotVersion &&
                       header.drawn_by <= static_cast<uint16_t>(CameraBackend::kRays);
  return is_told ? static_cast<CameraBackend>(header.drawn_by) : CameraBackend::kAuto;
}

}  // namespace mvsim
