#include "render/flat_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "render/flat_kernel.cpp"
#include "base/highway_targets.h"
// the order matters: Highway reads the settings above
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void gradient(const FaceGradient& g, const float* distances, size_t count, uint8_t* out) {
  const hn::CappedTag<float, 16> f;
  const hn::Rebind<int32_t, decltype(f)> i;
  const hn::Rebind<uint8_t, decltype(f)> u;
  const size_t lanes = hn::Lanes(f);
  const auto one = hn::Set(f, 1.0F), zero = hn::Zero(f);
  HWY_ALIGN float padded[hn::MaxLanes(f)] = {};
  HWY_ALIGN uint8_t bytes[3 * hn::MaxLanes(f)];
  for (size_t begin = 0; begin < count; begin += lanes) {
    const size_t some = std::min(lanes, count - begin);
    const float* from = distances + begin;
    if (some < lanes) std::copy_n(from, some, padded), from = padded;
    const auto scaled = hn::Mul(hn::LoadU(f, from), hn::Set(f, g.per_distance));
    const auto share = hn::Min(hn::Max(hn::Sub(scaled, hn::Set(f, g.offset)), zero), one);
    const auto channel = [&](size_t k) HWY_ATTR {
      const auto squared = hn::Add(hn::Set(f, g.foot[k]), hn::Mul(share, hn::Set(f, g.rise[k])));
      const auto value = hn::Min(hn::Sqrt(hn::Max(squared, zero)), one);
      const auto rounded = hn::Add(hn::Mul(value, hn::Set(f, 255.0F)), hn::Set(f, 0.5F));
      return hn::DemoteTo(u, hn::ConvertTo(i, rounded));
    };
    hn::StoreInterleaved3(channel(0), channel(1), channel(2), u, bytes);
    std::copy_n(bytes, 3 * some, out + 3 * begin);
  }
}

size_t run_starts(const int32_t* names, int width, int32_t* starts) {
  const hn::CappedTag<int32_t, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  size_t count = 0;
  starts[count++] = 0;
  for (int c = 1; c < width; c += lanes) {
    const auto changes = hn::Ne(hn::LoadU(d, names + c), hn::LoadU(d, names + c - 1));
    hn::StoreU(hn::Compress(hn::Iota(d, c), changes), d, starts + count);  // CompressStore is slow on Zen 4
    count += hn::CountTrue(d, changes);
  }
  while (starts[count - 1] >= width) --count;
  return count;
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(gradient);
HWY_EXPORT(run_starts);

}  // namespace

void write_gradient(const FaceGradient& gradient, std::span<const float> distances, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(gradient)(gradient, distances.data(), distances.size(), out);
}

size_t find_run_starts(const int32_t* names, int width, int32_t* starts) {
  return HWY_DYNAMIC_DISPATCH(run_starts)(names, width, starts);
}

}  // namespace mvsim
#endif
