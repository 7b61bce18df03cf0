#include "sensor/sensor.h"

#include "base/geometry3.h"

namespace mvsim {

Vec3 Site::enu(Vec3 world) const {
  const Vec3 from_origin = world - origin;
  const Vec2 plan = Rotation2(rotation).rotate({from_origin.x, from_origin.y});
  return {plan.x, plan.y, from_origin.z};
}

bool Site::is_covered(Vec3 world) const {
  for (const CoverageRegion& region : regions) {
    const Rect& e = region.extent;
    if (world.x >= e.x_min && world.x <= e.x_max && world.y >= e.y_min && world.y <= e.y_max &&
        world.z >= region.z_min && world.z <= region.z_max)
      return !region.hides;
  }
  return true;
}

}  // namespace mvsim
