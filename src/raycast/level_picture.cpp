#include <cmath>
#include <limits>

#include "raycast/level_rays.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/level_picture.cpp"
#include "base/highway_targets.h"

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

void distances(const LevelRays& rays, const LevelPicture& picture, float most, float* out) {
  const hn::ScalableTag<float> d;
  const auto far = hn::Set(d, most);
  for_each_lanes(
      rays, hn::Lanes(d),
      [&](size_t from, size_t to) HWY_ATTR {
        const auto v = hn::LoadU(d, picture.distance.data() + from);
        hn::StoreU(hn::IfThenElseZero(hn::Le(v, far), v), d, out + to);
      },
      [&](size_t from, size_t to) { out[to] = picture.distance[from] <= most ? picture.distance[from] : 0; });
}

float nearest(const LevelRays& rays, const LevelPicture& picture) {
  const hn::ScalableTag<float> d;
  const auto pixels = static_cast<size_t>(rays.stride) * static_cast<size_t>(rays.height);
  auto least = hn::Set(d, picture.nothing);
  for (size_t i = 0; i < pixels; i += hn::Lanes(d))
    least = hn::Min(least, hn::LoadU(d, picture.distance.data() + i));
  return hn::GetLane(hn::MinOfLanes(d, least));
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
HWY_EXPORT(nearest);
HWY_EXPORT(names);

}  // namespace

LevelPicture::LevelPicture(const LevelRays& rays, float near_limit, float far_limit, bool has_names)
    : near(near_limit),
      far(far_limit),
      nothing(std::nextafter(far_limit, std::numeric_limits<float>::infinity())) {
  const auto columns = static_cast<size_t>(rays.stride);
  const size_t pixels = columns * static_cast<size_t>(rays.height);
  floats_ = std::make_unique_for_overwrite<float[]>(pixels + 2 * columns);
  distance = {floats_.get(), pixels};
  closed_slope = {floats_.get() + pixels, columns};
  closed_at = {floats_.get() + pixels + columns, columns};
  if (has_names) {
    names_ = std::make_unique_for_overwrite<int32_t[]>(pixels);
    name = {names_.get(), pixels};
  }
  HWY_DYNAMIC_DISPATCH(clear)(*this, columns, pixels);
}

void write_distances(const LevelRays& rays, const LevelPicture& picture, float far, float* out) {
  HWY_DYNAMIC_DISPATCH(distances)(rays, picture, far, out);
}

float nearest_of(const LevelRays& rays, const LevelPicture& picture) {
  return HWY_DYNAMIC_DISPATCH(nearest)(rays, picture);
}

void write_names(const LevelRays& rays, const LevelPicture& picture, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(names)(rays, picture, out);
}

}  // namespace mvsim
#endif
