#include "model/view_drawer.h"

#include <algorithm>

#include "model/model.h"
#include "sensor/view_sensor.h"

namespace mvsim {

const ViewDrawer& drawer_of(const Model& model) {
  if (!model.drawer) throw Error(model.path + ": compiled without a drawer, which its sensors need to see");
  return *model.drawer;
}

CameraBackend drawn_by(const Model& model) {
  const bool has_cameras = std::ranges::any_of(model.sensors, [](const SensorModel& s) {
    const ViewSensor* const view = as_view_sensor(*s.sensor);
    return view && view->images().front().view.is_pinhole();
  });
  return has_cameras && model.drawer ? model.drawer->known_backend() : CameraBackend::kAuto;
}

}  // namespace mvsim
