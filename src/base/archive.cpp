#include "base/archive.h"

namespace mvsim {
namespace {

constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd, so that no step loses a bit

uint64_t mixed(uint64_t h, uint64_t word) {
  h = (h ^ word) * kFactor;
  return h ^ h >> 32;
}

uint64_t word_at(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

void ByteHash::add(const void* bytes, size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  size_ += size;
  constexpr size_t kRound = kLanes * sizeof(uint64_t);
  if (size >= kRound) {
    auto lanes = lanes_;
    for (; size >= kRound; size -= kRound, at += kRound)
      for (size_t i = 0; i < kLanes; ++i) lanes[i] = mixed(lanes[i], word_at(at + i * sizeof(uint64_t)));
    lanes_ = lanes;
  }
  for (; size >= 8; size -= 8, at += 8) lanes_[0] = mixed(lanes_[0], word_at(at));
  if (size > 0) {
    uint64_t word = 0;
    std::memcpy(&word, at, size);
    lanes_[1] = mixed(lanes_[1], word);
  }
}

uint64_t ByteHash::value() const {
  uint64_t h = size_;
  for (uint64_t lane : lanes_) h = mixed(h, lane);
  return h;
}

void ArchiveWriter::grow(size_t size) {
  bytes_.resize(2 * bytes_.size() + size);
}

void ArchiveReader::fail() {
  throw Error("snapshot: its contents do not fit together");
}

}  // namespace mvsim
