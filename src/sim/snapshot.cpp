#include "sim/snapshot.h"

#include <array>
#include <cstring>

namespace mvsim {
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
