#include "sim/view_recipe.h"

#include <algorithm>

#include "model/sensor_layout.h"
#include "render/flat_view.h"
#include "render/ray_view.h"
#include "sensor/view_sensor.h"
#include "sim/scene_poses.h"

namespace mvsim {
namespace {

double* write_pose(const ScenePose& pose, double* out) {
  const Frame3& f = pose.T_world_frame;
  for (const Vec3& v : {f.origin, f.x, f.y, f.z})
    for (const double number : {v.x, v.y, v.z}) *out++ = number;
  *out++ = pose.scale;
  return out;
}

ScenePose read_pose(const double* p) {
  return {{{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}, {p[9], p[10], p[11]}}, p[12]};
}

// Half of a key; 0 where the bytes of a snapshot were made up.
uint64_t half_of(double number) {
  return number >= 0 && number <= UINT32_MAX ? static_cast<uint64_t>(number) : 0;
}

// Whether a picture was taken. The bytes of a snapshot may be made up, and then so are parameters.
bool is_taken(const Sensor& sensor, const double* recipe) {
  const std::span<const ParamInfo> params = sensor.params();
  for (size_t i = 0; i < params.size(); ++i)
    if (!in_range(params[i], recipe[kViewRecipeHead + i])) return false;
  return recipe[0] == 1;
}

// All that moves with a vehicle.
std::vector<uint32_t> frames_of(const Model& m, const VehicleModel& vehicle) {
  std::vector<uint32_t> frames{frame_of_body(vehicle.body)};
  for (size_t w = 0; w < vehicle.wheels.size(); ++w)
    frames.push_back(frame_of_wheel(m.bodies.size(), vehicle.first_wheel + w));
  for (const LinkedVisual& linked : vehicle.linked_visuals) frames.push_back(linked.frame);
  return frames;
}

// What the plane draws, with all images that look level.
std::shared_ptr<const FlatScene> flat_scene_of(const Model& m) {
  std::shared_ptr<FlatScene> scene = make_flat_scene(*m.scene, m.level_frames);
  for (const SensorModel& s : m.sensors) {
    auto& images = scene->images.emplace_back(s.level_images.size());
    for (size_t i = 0; i < images.size(); ++i)
      if (s.level_images[i] != 0)
        images[i] = flat_image_of(as_view_sensor(*s.sensor)->images()[i].view, m.scene->sky);
  }
  return scene;
}

void draw(const Model& m, size_t sensor, size_t image, std::span<const ScenePose> poses,
          const ViewPoint& from, std::byte* out) {
  const View& view = as_view_sensor(*m.sensors[sensor].sensor)->images()[image].view;
  const auto all = [&]() -> const RayScene& {
    return m.ray_scene->get([&] { return make_ray_scene(*m.scene); });
  };
  if (m.sensors[sensor].level_images[image] != 0) {
    const FlatScene& flat = m.flat_scene->get([&] { return flat_scene_of(m); });
    if (draw_flat(flat, *flat.images[sensor][image], all, poses, view, from, out)) return;
  }
  draw_rays(all(), poses, view, from, out);
}

void draw_view(const ViewSensor& sensor, size_t index, size_t image, const ViewFrame& frame) {
  const Model& m = *frame.model;
  const SensorModel& model = m.sensors[index];
  const double* const params = frame.recipe + kViewRecipeHead;
  const double* const numbers = params + sensor.params().size();
  std::vector<ScenePose> poses(m.scene->frame_count);
  for (size_t i = 0; i < poses.size(); ++i) poses[i] = read_pose(numbers + i * kScenePoseNumbers);
  const View& view = sensor.images()[image].view;
  Frame3 T_world_sensor(sensor.mount());
  std::vector<uint32_t> hidden;
  if (!model.is_standalone()) {
    const VehicleModel& vehicle = m.vehicles[model.vehicle];
    T_world_sensor = compose(poses[frame_of_body(vehicle.body)].T_world_frame, T_world_sensor);
    if (view.hides_vehicle) hidden = frames_of(m, vehicle);
  }
  const ViewPoint from{.T_world_view = compose(T_world_sensor, view.T_sensor_view),
                       .sensor = static_cast<int>(index),
                       .hidden_frames = hidden};
  draw(m, index, image, poses, from, frame.out);
  RandomStream noise(half_of(frame.recipe[1]) << 32 | half_of(frame.recipe[2]), 0,
                     StreamPurpose::kSensorNoise);
  sensor.finish(image, {params, nullptr, &noise}, frame.out);
}

}  // namespace

void record_view(const Model& m, SimState& s, size_t index, double* recipe) {
  static_assert(kViewRecipeHead == 3);
  const SensorModel& sensor = m.sensors.at(index);
  RandomStream& noise = s.sensors[index].noise;
  *recipe++ = 1;
  for (int half = 0; half < 2; ++half) *recipe++ = noise.bits();
  recipe = std::copy_n(s.params.data() + sensor.params, sensor.sensor->params().size(), recipe);
  std::vector<ScenePose> poses;
  scene_poses({m, s}, poses);
  for (const ScenePose& pose : poses) recipe = write_pose(pose, recipe);
}

std::span<const double> view_recipe_of(const SimView& sim, size_t index) {
  const SensorModel& sensor = sim.model.sensors.at(index);
  return {sim.state.memory.data() + sensor.memory, state_memory_size(sim.model, *sensor.sensor)};
}

void draw_views(size_t index, size_t image, std::span<const ViewFrame> frames) {
  for (const ViewFrame& frame : frames) {
    const auto& sensor = static_cast<const ViewSensor&>(*frame.model->sensors.at(index).sensor);
    if (is_taken(sensor, frame.recipe))
      draw_view(sensor, index, image, frame);
    else
      std::fill_n(frame.out, sensor.images()[image].reading.bytes(), std::byte{0});
  }
}

}  // namespace mvsim
