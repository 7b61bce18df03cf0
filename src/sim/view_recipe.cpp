#include "sim/view_recipe.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <memory>

#include "model/sensor_layout.h"
#include "render/cuda_device.h"
#include "render/device_image.h"
#include "render/flat_view.h"
#include "render/gl_view_list.h"
#include "render/ray_view.h"
#include "render/view_backend.h"
#include "sensor/sensors.h"
#include "sensor/view_sensor.h"
#include "sim/scene_poses.h"
#include "sim/sense.h"

namespace mvsim {
namespace {

constexpr size_t kAskew = 3;  // in a recipe

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

const ViewSensor& sensor_of(const ViewDrawing& drawing) {
  return static_cast<const ViewSensor&>(*drawing.frame.model->sensors.at(drawing.sensor).sensor);
}

const View& view_of(const ViewDrawing& drawing) {
  return sensor_of(drawing).images()[drawing.image].view;
}

// The poses of the frames of Model::recipe_frames.
std::span<const double> poses_of(const ViewDrawing& drawing) {
  return {drawing.frame.recipe + kViewRecipeHead + sensor_of(drawing).params().size(),
          drawing.frame.model->recipe_frames.frames.size() * kScenePoseNumbers};
}

// Whether both see the same things along the same rays.
bool look_alike(const ViewDrawing& a, const ViewDrawing& b) {
  return a.frame.model == b.frame.model && a.sensor == b.sensor && have_same_rays(view_of(a), view_of(b)) &&
         std::equal(a.frame.recipe + kAskew, a.frame.recipe + kViewRecipeHead, b.frame.recipe + kAskew) &&
         std::ranges::equal(poses_of(a), poses_of(b));
}

// What the plane draws, with all images that look level.
std::shared_ptr<const FlatScene> flat_scene_of(const Model& m) {
  std::shared_ptr<FlatScene> scene = make_flat_scene(*m.scene, m.level_frames);
  for (const SensorModel& s : m.sensors) {
    const std::vector<const View*> views = views_of(*s.sensor);
    auto& images = scene->images.emplace_back(views.size());
    for (size_t i = 0; i < views.size(); ++i)
      if (s.level_images[i] != 0) images[i] = flat_image_of(*views[i], m.scene->sky);
  }
  return scene;
}

// An image of a sensor on its way to where it is drawn.
struct Shot {
  size_t sensor, image;
  const View* view;
  std::byte* out;
};

// In the plane what looks level, and the rest by rays; all from one eye, along the same rays.
void draw_from(const Model& m, const ViewPoint& from, std::span<const ScenePose> poses,
               std::span<const Shot> shots) {
  const auto all = [&]() -> const RayScene& {
    return m.ray_scene->get([&] { return make_ray_scene(*m.scene); });
  };
  std::vector<FlatPicture> level;
  std::vector<RayPicture> pictures;
  for (const Shot& shot : shots) {
    if (m.sensors[shot.sensor].level_images[shot.image] != 0) {
      const FlatScene& flat = m.flat_scene->get([&] { return flat_scene_of(m); });
      level.push_back({shot.view, flat.images[shot.sensor][shot.image].get(), shot.out});
    } else {
      pictures.push_back({.view = shot.view, .pixels = shot.out});
    }
  }
  if (!level.empty()) draw_flat(m.flat_scene->get([&] { return flat_scene_of(m); }), all, poses, from, level);
  for (const FlatPicture& picture : level)
    if (!picture.is_drawn) pictures.push_back({.view = picture.view, .pixels = picture.pixels});
  if (!pictures.empty()) draw_rays(all(), poses, from, pictures);
}

// The poses of a scene by frame: of the world and of those of Model::recipe_frames. On others nothing hangs,
// and they are not set: a world may have thousands of walls.
class FramePoses {
 public:
  // `pose_of(i)`: of the i-th of Model::recipe_frames.
  template <typename PoseOf>
  FramePoses(const Model& m, PoseOf pose_of)
      : poses_(std::make_unique_for_overwrite<Unset[]>(m.scene->frame_count)), count_(m.scene->frame_count) {
    poses_[kWorldFrame].pose = {};
    const std::vector<uint32_t>& frames = m.recipe_frames.frames;
    for (size_t i = 0; i < frames.size(); ++i) poses_[frames[i]].pose = pose_of(i);
  }
  std::span<const ScenePose> all() const {
    static_assert(sizeof(Unset) == sizeof(ScenePose));
    return {&poses_[0].pose, count_};
  }
  const ScenePose& operator[](size_t frame) const { return poses_[frame].pose; }

 private:
  union Unset {
    Unset() {}
    ScenePose pose;
  };
  std::unique_ptr<Unset[]> poses_;
  size_t count_;
};

FramePoses recorded_poses(const ViewDrawing& drawing) {
  const double* const numbers = poses_of(drawing).data();
  return {*drawing.frame.model, [&](size_t i) { return read_pose(numbers + i * kScenePoseNumbers); }};
}

FramePoses poses_now(const SimView& sim) {
  std::vector<ScenePose> moved;
  recipe_poses(sim, moved);
  return {sim.model, [&](size_t i) { return moved[i]; }};
}

// A world at a moment and an eye in it.
struct Moment {
  FramePoses poses;
  std::vector<uint32_t> hidden;
  Frame3 T_world_view;
  int sensor = Instance::kNoSensor;

  explicit Moment(const ViewDrawing& drawing) : poses(recorded_poses(drawing)) {
    const double* const askew = drawing.frame.recipe + kAskew;
    look(*drawing.frame.model, drawing.sensor, view_of(drawing), {askew[0], askew[1], askew[2]});
  }
  Moment(const SimView& sim, size_t index, const View& view) : poses(poses_now(sim)) {
    look(sim.model, index, view, mount_error(sim, sim.model.sensors[index]));
  }
  ViewPoint from() const { return {.T_world_view = T_world_view, .sensor = sensor, .hidden_frames = hidden}; }

 private:
  // `askew`: by how much the sensor sits beside its mount.
  void look(const Model& m, size_t index, const View& view, const Pose2& askew) {
    sensor = static_cast<int>(index);
    const SensorModel& model = m.sensors[index];
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
};

// Of drawings that look alike.
void draw_together(std::span<const ViewDrawing> drawings) {
  const Moment moment(drawings.front());
  std::vector<Shot> shots;
  for (const ViewDrawing& d : drawings) shots.push_back({d.sensor, d.image, &view_of(d), d.frame.out});
  draw_from(*drawings.front().frame.model, moment.from(), moment.poses.all(), shots);
}

bool is_egl_view(const ViewDrawing& drawing) {
  return draws_by_egl(*drawing.frame.model, drawing.sensor, drawing.image);
}

uint64_t noise_key(const double* recipe) {
  return half_of(recipe[1]) << 32 | half_of(recipe[2]);
}

// What RandomStream makes of the purpose.
constexpr uint32_t kNoiseStream = static_cast<uint32_t>(StreamPurpose::kSensorNoise) << 16;

// What finish() does, for a GPU to do it.
DeviceNoise noise_of(const ViewDrawing& drawing) {
  const ImageFinish how = sensor_of(drawing).finish_of(drawing.image);
  if (how.kind != ImageFinish::kDistanceNoise) return {};
  const double* const recipe = drawing.frame.recipe;
  return {.has_range = true,
          .keeps_far = how.keeps_far,
          .low = how.low,
          .high = how.high,
          .sigma = recipe[kViewRecipeHead],
          .key = noise_key(recipe),
          .stream = kNoiseStream};
}

// Nothing was seen.
void clear(const ViewDrawing& drawing) {
  if (const DeviceImage* const image = drawing.frame.on_device) {
    const bool is_depth = view_of(drawing).content == ViewContent::kDepth;
    image->device->fill(reinterpret_cast<uintptr_t>(drawing.frame.out),
                        sensor_of(drawing).images()[drawing.image].reading.bytes(),
                        is_depth ? std::bit_cast<uint32_t>(image->finished(0)) : 0);
    return;
  }
  std::fill_n(drawing.frame.out, sensor_of(drawing).images()[drawing.image].reading.bytes(), std::byte{0});
}

// Drawings of one model and size on their way to OpenGL.
class EglShots {
 public:
  explicit EglShots(const ViewDrawing& first) : first_(first) {}

  bool takes(const ViewDrawing& drawing) const {
    const View &mine = view_of(first_), &other = view_of(drawing);
    return first_.frame.model == drawing.frame.model && mine.width == other.width &&
           mine.height == other.height;
  }

  void add(const ViewDrawing& drawing) {
    if (shots_.empty() || !shows_the_same(drawing)) {
      const Moment& moment = moments_.emplace_back(drawing);
      if (!is_sound(moment.T_world_view)) return clear(drawing);  // of a world that has diverged
      shots_.push_back(
          {.view = &view_of(drawing), .from = moment.from(), .poses = moment.poses.all(), .pictures = {}});
    }
    shots_.back().pictures.push_back({.content = view_of(drawing).content,
                                      .pixels = drawing.frame.out,
                                      .on_device = drawing.frame.on_device,
                                      .noise = drawing.frame.on_device ? noise_of(drawing) : DeviceNoise{}});
    last_ = drawing;
  }
  void draw() const {
    const Model& m = *first_.frame.model;
    draw_by_egl(m.raster_scene->share([&] { return make_ray_scene(*m.scene, RaySceneUse::kRaster); }),
                shots_);
  }

 private:
  bool shows_the_same(const ViewDrawing& drawing) const {
    const View &mine = view_of(last_), &other = view_of(drawing);
    return look_alike(last_, drawing) && mine.near == other.near && mine.far == other.far;
  }

  ViewDrawing first_, last_{};
  std::deque<Moment> moments_;  // shots refer to them
  std::vector<GlShot> shots_;
};

// Adds what is the sensor's own.
void finish(const ViewDrawing& drawing) {
  const double* const recipe = drawing.frame.recipe;
  RandomStream noise(noise_key(recipe), 0, StreamPurpose::kSensorNoise);
  sensor_of(drawing).finish(drawing.image, {recipe + kViewRecipeHead, nullptr, &noise}, drawing.frame.out);
}

}  // namespace

void record_view(const Model& m, SimState& s, size_t index, double* recipe) {
  static_assert(kViewRecipeHead == 6);
  const SensorModel& sensor = m.sensors.at(index);
  RandomStream& noise = s.sensors[index].noise;
  *recipe++ = 1;
  for (int half = 0; half < 2; ++half) *recipe++ = noise.bits();
  const Pose2 askew = mount_error({m, s}, sensor);
  for (const double number : {askew.x, askew.y, askew.yaw}) *recipe++ = number;
  recipe = std::copy_n(s.params.data() + sensor.params, sensor.sensor->params().size(), recipe);
  std::vector<ScenePose> poses;
  recipe_poses({m, s}, poses);
  for (const ScenePose& pose : poses) recipe = write_pose(pose, recipe);
}

std::span<const double> view_recipe_of(const SimView& sim, size_t index) {
  const SensorModel& sensor = sim.model.sensors.at(index);
  return {sim.state.memory.data() + sensor.memory, state_memory_size(sim.model, *sensor.sensor)};
}

void cast_view(const SimView& sim, size_t index, const View& view, float* distances) {
  const Moment moment(sim, index, view);
  const Shot shot{index, 0, &view, reinterpret_cast<std::byte*>(distances)};
  draw_from(sim.model, moment.from(), moment.poses.all(), {&shot, 1});
}

bool draws_by_egl(const Model& model) {
  return backend_for(model.camera_backend) == CameraBackend::kEgl;
}

bool draws_by_egl(const Model& model, size_t sensor, size_t image) {
  const ViewSensor* const view = as_view_sensor(*model.sensors.at(sensor).sensor);
  return view && view->images()[image].view.is_pinhole() && draws_by_egl(model);
}

CameraBackend drawer_of(const Model& model) {
  const bool has_cameras = std::ranges::any_of(model.sensors, [](const SensorModel& s) {
    const ViewSensor* const view = as_view_sensor(*s.sensor);
    return view && view->images().front().view.is_pinhole();
  });
  return has_cameras ? known_backend(model.camera_backend) : CameraBackend::kAuto;
}

void draw_egl_views(std::span<const ViewDrawing> drawings) {
  std::deque<EglShots> all;
  for (const ViewDrawing& drawing : drawings) {
    if (!is_egl_view(drawing)) continue;
    if (!is_taken(sensor_of(drawing), drawing.frame.recipe)) {
      if (drawing.frame.on_device) clear(drawing);
      continue;
    }
    auto known = std::ranges::find_if(all, [&](const EglShots& shots) { return shots.takes(drawing); });
    if (known == all.end()) known = all.emplace(all.end(), drawing);
    known->add(drawing);
  }
  for (const EglShots& shots : all) shots.draw();
}

void complete_views(std::span<const ViewDrawing> drawings) {
  while (!drawings.empty()) {
    const ViewDrawing& first = drawings.front();
    if (first.frame.on_device) {  // it is complete
      drawings = drawings.subspan(1);
      continue;
    }
    if (!is_taken(sensor_of(first), first.frame.recipe)) {
      clear(first);
      drawings = drawings.subspan(1);
      continue;
    }
    size_t alike = 1;
    if (!is_egl_view(first)) {
      while (alike < drawings.size() && look_alike(first, drawings[alike]) &&
             is_taken(sensor_of(first), drawings[alike].frame.recipe))
        ++alike;
      draw_together(drawings.first(alike));
    }
    for (const ViewDrawing& drawing : drawings.first(alike)) finish(drawing);
    drawings = drawings.subspan(alike);
  }
}

void draw_views(std::span<const ViewDrawing> drawings) {
  draw_egl_views(drawings);
  complete_views(drawings);
}

void draw_views(size_t sensor, size_t image, std::span<const ViewFrame> frames) {
  std::vector<ViewDrawing> drawings;
  drawings.reserve(frames.size());
  for (const ViewFrame& frame : frames) drawings.push_back({sensor, image, frame});
  draw_views(drawings);
}

}  // namespace mvsim
