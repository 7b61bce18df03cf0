#include <cmath>
#include <limits>

#include "raycast/level_rays.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/level_picture.cpp"
#include "base/highway_targets.h"
// the order matters: Highway reads the settings above
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `count` is a multiple of LevelRays::kPadding.
template <typename T>
HWY_INLINE void fill(T* out, size_t count, T value) {
  const hn::ScalableTag<T> d;
  static_assert(hn::MaxLanes(d) <= LevelRays::kPadding);
  const auto all = hn::Set(d, value);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(all, d, out + i);
}

void clear(LevelPicture& picture, size_t columns, size_t pixels) {
  fill(picture.distance.data(), pixels, picture.nothing);
  if (!picture.name.empty()) fill(picture.name.data(), pixels, 0);
  fill(picture.closed_slope.data(), columns, -static_cast<float>(kBeyond));
  fill(picture.closed_at.data(), columns, 0.0F);
}

// `write` takes as many as there are lanes from one place to another, `write_one` one.
template <typename Write, typename WriteOne>
HWY_INLINE void for_each_lanes(const LevelRays& rays, size_t lanes, Write write, WriteOne write_one) {
  const auto width = static_cast<size_t>(rays.width), stride = static_cast<size_t>(rays.stride);
  for (size_t row = 0; row < static_cast<size_t>(rays.height); ++row) {
    size_t c = 0;
    for (; c + lanes <= width; c += lanes) write(row * stride + c, row * width + c);
    for (; c < width; ++c) write_one(row * stride + c, row * width + c);
  }
}

void distances(const LevelRays& rays, const LevelPicture& picture, float* out) {
  const hn::ScalableTag<float> d;
  const auto nothing = hn::Set(d, picture.nothing);
  for_each_lanes(
      rays, hn::Lanes(d),
      [&](size_t from, size_t to) HWY_ATTR {
        const auto v = hn::LoadU(d, picture.distance.data() + from);
        hn::StoreU(hn::IfThenElseZero(hn::Lt(v, nothing), v), d, out + to);
      },
      [&](size_t from, size_t to) {
        out[to] = picture.distance[from] < picture.nothing ? picture.distance[from] : 0;
      });
}

void names(const LevelRays& rays, const LevelPicture& picture, uint16_t* out) {
  const hn::ScalableTag<int32_t> d;
  const hn::Rebind<uint16_t, decltype(d)> half;
  for_each_lanes(
      rays, hn::Lanes(d),
      [&](size_t from, size_t to) HWY_ATTR {
        hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, picture.name.data() + from)), half, out + to);
      },
      [&](size_t from, size_t to) { out[to] = static_cast<uint16_t>(picture.name[from]); });
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(clear);
HWY_EXPORT(distances);
HWY_EXPORT(names);

}  // namespace

LevelPicture::LevelPicture(const LevelRays& rays, bool has_names)
    : nothing(std::nextafter(rays.far, std::numeric_limits<float>::infinity())) {
  const auto columns = static_cast<size_t>(rays.stride);
  const size_t pixels = columns * static_cast<size_t>(rays.height);
  distance.resize(pixels);
  if (has_names) name.resize(pixels);
  for (Scratch<float>* const v : {&closed_slope, &closed_at, &at, &low, &high, &top}) v->resize(columns);
  if (has_names) side.resize(columns);
  HWY_DYNAMIC_DISPATCH(clear)(*this, columns, pixels);
}

void write_distances(const LevelRays& rays, const LevelPicture& picture, float* out) {
  HWY_DYNAMIC_DISPATCH(distances)(rays, picture, out);
}

void write_names(const LevelRays& rays, const LevelPicture& picture, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(names)(rays, picture, out);
}

}  // namespace mvsim
#endif
