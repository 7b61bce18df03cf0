// Property regions that a vehicle's wheels could be in: usually one or two of many. This cache changes no
// value.
#pragma once

#include <vector>

#include "sim/sim_state.h"

namespace mvsim {

class NearRegions {
 public:
  // Indices of Model::regions, ascending. `at`: of the vehicle's reference point, world frame.
  const std::vector<size_t>& of(const Model& m, const SimState& s, size_t vehicle, Vec2 at) {
    const Vec2 d = at - center_;
    if (!(dot(d, d) <= kRoom * kRoom) || !known_) look(m, s, vehicle, at);
    return found_;
  }
  void forget() { known_ = false; }  // after a change of parameters

 private:
  static constexpr double kRoom = 1;  // m that the vehicle may go until it is looked again

  void look(const Model& m, const SimState& s, size_t vehicle, Vec2 at);

  bool known_ = false;
  Vec2 center_;
  std::vector<size_t> found_;
};

}  // namespace mvsim
