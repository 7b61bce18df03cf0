#include "base/random.h"

#include <Random123/philox.h>

#include <cmath>

#include "base/math.h"
#include "base/vector_kernels.h"

namespace mvsim {

std::array<uint32_t, 4> philox_block(const PhiloxName& name, uint64_t block) {
  const r123::Philox4x32::ctr_type counter{
      {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), name.episode, name.stream}};
  const r123::Philox4x32::key_type key{
      {static_cast<uint32_t>(name.key), static_cast<uint32_t>(name.key >> 32)}};
  const auto words = r123::Philox4x32()(counter, key);
  return {words[0], words[1], words[2], words[3]};
}

std::array<double, 2> normal_pair(double u, double v) {
  const SinCos direction = sin_cos(2.0 * kPi * v);
  const double radius = std::sqrt(-2.0 * math::log(1.0 - u));  // of (0, 1]: finite
  return {radius * direction.cos, radius * direction.sin};
}

RandomStream::RandomStream(uint64_t key, uint32_t episode, StreamPurpose purpose, uint16_t index)
    : name_{key, episode, static_cast<uint32_t>(purpose) << 16 | index} {}

void RandomStream::refill() {
  words_ = philox_block(name_, block_++);
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
  const double u = uniform(), v = uniform();
  const std::array<double, 2> pair = normal_pair(u, v);
  spare_ = pair[1];
  has_spare_ = 1;
  return pair[0];
}

void RandomStream::normals(std::span<double> out) {
  size_t done = 0;
  if (has_spare_ && !out.empty()) out[done++] = normal();
  if (used_ == 4) {  // at a block's border: each block makes a pair
    const size_t pairs = (out.size() - done) / 2;
    philox_normals(name_, block_, out.subspan(done, 2 * pairs));
    block_ += pairs;
    done += 2 * pairs;
  }
  for (; done < out.size(); ++done) out[done] = normal();
}

void RandomStream::skip_normals(size_t count) {
  if (has_spare_ && count > 0) {
    has_spare_ = 0;
    --count;
  }
  if (used_ == 4) {
    block_ += count / 2;
    count %= 2;
  }
  for (; count > 0; --count) normal();
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
