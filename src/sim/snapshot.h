// Snapshots of a world: the state as bytes, and their check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/archive.h"
#include "sensor/view.h"
#include "sim/sim_state.h"

namespace mvsim {

// A SimState as bytes, and back: the part of a snapshot that is a world's.

void write_state(ArchiveWriter& archive, const SimState& state);
// Throws Error for bytes that are no state of the model.
SimState read_state(const Model& model, ArchiveReader& archive);
size_t expected_bytes(const Model& model);  // of what write_state() writes, about

// Snapshots: a running simulation or environment as bytes, to continue from bit for bit.
//
// A header (kind, camera backend, fingerprint of the compiled world, length, checksum) and a body written by
// an archive. Bytes that are cut, damaged, of another world or another version are refused, with a message
// that says which, before anything is changed.

// Goes up with every change of what a snapshot holds.
inline constexpr uint32_t kSnapshotVersion = 11;

enum class SnapshotKind : uint16_t { kWorld = 1, kEnvironment = 2 };

class SnapshotWriter {
 public:
  // `expected_size` is the size of the body in bytes; a good guess saves time. `drawn_by`: camera backend;
  // kAuto: there are no cameras, or nothing has been drawn yet.
  SnapshotWriter(SnapshotKind kind, uint64_t fingerprint, size_t expected_size,
                 CameraBackend drawn_by = CameraBackend::kAuto);

  ArchiveWriter& archive() { return archive_; }
  std::string finish();  // once

 private:
  SnapshotKind kind_;
  uint64_t fingerprint_;
  CameraBackend drawn_by_;
  ArchiveWriter archive_;
};

// The body of a snapshot that is whole and fits. Throws Error.
std::string_view snapshot_body(std::string_view bytes, SnapshotKind kind, uint64_t fingerprint);

// Returns the backend that drew its cameras; kAuto if the bytes name none or are no snapshot. The state does
// not depend on the backend.
CameraBackend snapshot_drawn_by(std::string_view bytes);

}  // namespace mvsim
