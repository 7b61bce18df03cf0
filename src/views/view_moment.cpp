#include "views/view_moment.h"

#include <algorithm>

#include "sensor/view.h"

namespace mvsim {

void GivenPictures::put(size_t sensor, size_t image, std::span<const std::byte> pixels) {
  pixels_[{sensor, image}].assign(pixels.begin(), pixels.end());
}

void GivenPictures::copy(size_t sensor, size_t image, size_t size, std::byte* out) const {
  const auto found = pixels_.find({sensor, image});
  if (found == pixels_.end() || found->second.size() != size)
    std::fill_n(out, size, std::byte{0});
  else
    std::ranges::copy(found->second, out);
}

void GivenViews::cast(const Model& model, size_t sensor, const View&, const Pose2&,
                      std::span<const ScenePose>, float*) const {
  throw Error("sensor '" + model.sensors.at(sensor).name + "': its ranges are given, and cannot be cast");
}

void GivenViews::draw(const Model& model, size_t sensor, const double*, std::byte* out) const {
  pictures_->copy(sensor, 0, model.sensors.at(sensor).sensor->reading().bytes(), out);
}

ViewDrawerMaker show(std::shared_ptr<const GivenPictures> pictures) {
  return [pictures = std::move(pictures)] { return std::make_unique<const GivenViews>(pictures); };
}

const GivenPictures* given_pictures(const Model& model) {
  const auto* const given = dynamic_cast<const GivenViews*>(model.drawer.get());
  return given ? &given->pictures() : nullptr;
}

namespace {

ScenePose read_pose(const double* p) {
  return {{{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}, {p[9], p[10], p[11]}}, p[12]};
}

// The frames of all that moves with a vehicle.
std::vector<uint32_t> frames_of(const Model& m, const VehicleModel& vehicle) {
  std::vector<uint32_t> frames{frame_of_body(vehicle.body)};
  for (size_t w = 0; w < vehicle.wheels.size(); ++w)
    frames.push_back(frame_of_wheel(m.bodies.size(), vehicle.first_wheel + w));
  for (const LinkedVisual& linked : vehicle.linked_visuals) frames.push_back(linked.frame);
  return frames;
}

FramePoses recorded_poses(const Model& m, size_t sensor, const double* recipe) {
  const double* const numbers = recipe + kViewRecipeHead + m.sensors[sensor].sensor->params().size();
  return {m, [&](size_t i) { return read_pose(numbers + i * kScenePoseNumbers); }};
}

}  // namespace

ViewMoment::ViewMoment(const Model& m, size_t sensor_index, const View& view, const double* recipe)
    : poses(recorded_poses(m, sensor_index, recipe)), sensor(static_cast<int>(sensor_index)) {
  const double* const askew = recipe + kViewRecipeAskew;
  look(m, view, {askew[0], askew[1], askew[2]});
}

ViewMoment::ViewMoment(const Model& m, size_t sensor_index, const View& view, const Pose2& askew,
                       std::span<const ScenePose> moved)
    : poses(m, [&](size_t i) { return moved[i]; }), sensor(static_cast<int>(sensor_index)) {
  look(m, view, askew);
}

void ViewMoment::look(const Model& m, const View& view, const Pose2& askew) {
  const SensorModel& model = m.sensors[static_cast<size_t>(sensor)];
  Pose3 mount = model.sensor->mount();
  mount.x += askew.x, mount.y += askew.y, mount.yaw += askew.yaw;
  Frame3 T_world_sensor(mount);
  if (!model.is_standalone()) {
    const VehicleModel& vehicle = m.vehicles[model.vehicle];
    T_world_sensor = compose(poses[frame_of_body(vehicle.body)].T_world_frame, T_world_sensor);
    if (view.hides_vehicle) hidden = frames_of(m, vehicle);
  }
  T_world_view = compose(T_world_sensor, view.T_sensor_view);
}

}  // namespace mvsim
