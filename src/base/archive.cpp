#include "base/archive.h"

namespace mvsim {
namespace {

constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd, so that no step loses a bit

uint64_t mixed(uint64_t h, uint64_t word) {
  h = (h ^ word) * kFactor;
  return h ^ h >> 32;
}

}  // namespace

void ByteHash::add(const void* bytes, size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  size_ += size;
  std::array<uint64_t, 4> lanes = lanes_, words{};
  for (; size >= sizeof words; size -= sizeof words, at += sizeof words) {
    std::memcpy(words.data(), at, sizeof words);
    for (size_t i = 0; i < 4; ++i) lanes[i] = mixed(lanes[i], words[i]);
  }
  for (; size >= 8; size -= 8, at += 8) {
    std::memcpy(words.data(), at, 8);
    lanes[0] = mixed(lanes[0], words[0]);
  }
  if (size > 0) {
    words[0] = 0;
    std::memcpy(words.data(), at, size);
    lanes[1] = mixed(lanes[1], words[0]);
  }
  lanes_ = lanes;
}

uint64_t ByteHash::value() const {
  uint64_t h = size_;
  for (uint64_t lane : lanes_) h = mixed(h, lane);
  return h;
}

void ArchiveReader::fail() {
  throw Error("snapshot: its contents do not fit together");
}

}  // namespace mvsim
