#include "sensor/sensor.h"

#include <algorithm>

#include "base/geometry3.h"
#include "sensor/view.h"

namespace mvsim {
namespace {

bool are_same(const SinCos& a, const SinCos& b) {
  return a.sin == b.sin && a.cos == b.cos;
}

bool are_same(const Frame3& a, const Frame3& b) {
  return a.origin == b.origin && a.x == b.x && a.y == b.y && a.z == b.z;
}

}  // namespace

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

bool have_same_rays(const View& a, const View& b) {
  const auto same = [](const SinCos& one, const SinCos& other) { return are_same(one, other); };
  return a.width == b.width && a.height == b.height && a.fx == b.fx && a.fy == b.fy && a.cx == b.cx &&
         a.cy == b.cy && a.hides_vehicle == b.hides_vehicle && are_same(a.T_sensor_view, b.T_sensor_view) &&
         std::ranges::equal(a.rings, b.rings, same) && std::ranges::equal(a.columns, b.columns, same);
}

}  // namespace mvsim
