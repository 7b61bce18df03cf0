#include "raycast/directions.h"

namespace mvsim {

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

// A plain loop of IEEE operations: compilers vectorise it, and every width gives the same bits.
void BeamTable::directions(double yaw, float* dx, float* dy) const {
  const SinCos turn = sin_cos(yaw);
  const double c = turn.cos, s = turn.sin;
  const double* beam_cos = cos_.data();
  const double* beam_sin = sin_.data();
  const int n = count();
  for (int i = 0; i < n; ++i) dx[i] = static_cast<float>(c * beam_cos[i] - s * beam_sin[i]);
  for (int i = 0; i < n; ++i) dy[i] = static_cast<float>(s * beam_cos[i] + c * beam_sin[i]);
}

Fan BeamTable::fan(const Pose2& pose, float* dx, float* dy) const {
  directions(pose.yaw, dx, dy);
  return {{pose.x, pose.y}, pose.yaw + first_angle_, angle_step_, count(), dx, dy};
}

}  // namespace mvsim
