#include "sim/near_regions.h"

#include <algorithm>
#include <cmath>

#include "model/transfer_params.h"

namespace mvsim {

void NearRegions::look(const Model& m, const SimState& s, size_t vehicle, Vec2 at) {
  constexpr double kSlack = 1e-3;  // m, beyond any rounding
  const VehicleModel& v = m.vehicles[vehicle];
  const double track = s.params[v.transfer_params + kTrack];
  double reach = 0;
  for (const WheelModel& w : v.wheels) reach = std::max(reach, norm({w.position.x, track * w.position.y}));
  const double far = reach + kRoom + kSlack;
  found_.clear();
  for (size_t i = 0; i < m.regions.size(); ++i) {
    const double* box = s.params.data() + m.regions[i].box;
    if (std::fabs(at.x - box[kRegionX]) <= box[kRegionSizeX] / 2 + far &&
        std::fabs(at.y - box[kRegionY]) <= box[kRegionSizeY] / 2 + far)
      found_.push_back(i);
  }
  center_ = at;
  known_ = true;
}

}  // namespace mvsim
