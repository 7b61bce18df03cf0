#include "base/random.h"

#include <Random123/philox.h>

#include <cmath>

#include "base/math.h"

namespace mvsim {

RandomStream::RandomStream(uint64_t key, uint32_t episode, StreamPurpose purpose, uint16_t index)
    : key_(key), episode_(episode), stream_(static_cast<uint32_t>(purpose) << 16 | index) {}

void RandomStream::refill() {
  const r123::Philox4x32::ctr_type counter{
      {static_cast<uint32_t>(block_), static_cast<uint32_t>(block_ >> 32), episode_, stream_}};
  const r123::Philox4x32::key_type key{{static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)}};
  const auto words = r123::Philox4x32()(counter, key);
  for (size_t i = 0; i < 4; ++i) words_[i] = words[i];
  ++block_;
  used_ = 0;
}

uint32_t RandomStream::bits() {
  if (used_ == 4) refill();
  return words_[used_++];
}

uint64_t RandomStream::bits64() {
  const uint64_t high = bits();
  return high << 32 | bits();
}

double RandomStream::uniform() {
  return static_cast<double>(bits64() >> 11) * 0x1p-53;
}

double RandomStream::uniform(double low, double high) {
  return low + (high - low) * uniform();
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = 0;
    return spare_;
  }
  const double u = 1.0 - uniform();  // (0, 1]: the logarithm stays finite
  const SinCos direction = sin_cos(2.0 * kPi * uniform());
  const double radius = std::sqrt(-2.0 * logarithm(u));
  spare_ = radius * direction.sin;
  has_spare_ = 1;
  return radius * direction.cos;
}

uint32_t RandomStream::below(uint32_t n) {
  // Lemire's multiply-shift with rejection: unbiased
  const uint32_t threshold = (0u - n) % n;
  for (;;) {
    const uint64_t product = static_cast<uint64_t>(bits()) * n;
    if (static_cast<uint32_t>(product) >= threshold) return static_cast<uint32_t>(product >> 32);
  }
}

}  // namespace mvsim
