#include "raycast/beams.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "raycast/directions.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// (dx, dy) = the beams turned by the rotation (c, s).
void turn_beams(const double* beam_cos, const double* beam_sin, int count, double c, double s, float* dx,
                float* dy) {
  const hn::ScalableTag<double> dd;
  const hn::Rebind<float, decltype(dd)> dh;
  const int lanes = static_cast<int>(hn::Lanes(dd));
  const auto vc = hn::Set(dd, c), vs = hn::Set(dd, s);
  int i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bc = hn::LoadU(dd, beam_cos + i), bs = hn::LoadU(dd, beam_sin + i);
    hn::StoreU(hn::DemoteTo(dh, hn::Sub(hn::Mul(vc, bc), hn::Mul(vs, bs))), dh, dx + i);
    hn::StoreU(hn::DemoteTo(dh, hn::Add(hn::Mul(vs, bc), hn::Mul(vc, bs))), dh, dy + i);
  }
  for (; i < count; ++i) {
    dx[i] = static_cast<float>(c * beam_cos[i] - s * beam_sin[i]);
    dy[i] = static_cast<float>(s * beam_cos[i] + c * beam_sin[i]);
  }
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(turn_beams);

}  // namespace

BeamTable::BeamTable(int count, double aperture)
    : first_angle_(count > 1 ? -aperture / 2 : 0), angle_step_(count > 1 ? aperture / (count - 1) : 0) {
  cos_.reserve(count);
  sin_.reserve(count);
  for (int i = 0; i < count; ++i) {
    const SinCos sc = sin_cos(angle(i));
    cos_.push_back(sc.cos);
    sin_.push_back(sc.sin);
  }
}

void BeamTable::directions(double yaw, float* dx, float* dy) const {
  const SinCos turn = sin_cos(yaw);
  HWY_DYNAMIC_DISPATCH(turn_beams)(cos_.data(), sin_.data(), count(), turn.cos, turn.sin, dx, dy);
}

Fan BeamTable::fan(const Pose2& pose, float* dx, float* dy) const {
  directions(pose.yaw, dx, dy);
  return {{pose.x, pose.y}, pose.yaw + first_angle_, angle_step_, count(), dx, dy};
}

}  // namespace mvsim
#endif
