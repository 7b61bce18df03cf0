#include "views/draw_views.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <vector>

#include "render/gl/cuda_device.h"
#include "render/gl/gl_view_list.h"
#include "sensor/sensors.h"
#include "sensor/view_sensor.h"
#include "views/view_backend.h"
#include "views/view_moment.h"

namespace mvsim {
namespace {

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
         std::equal(a.frame.recipe + kViewRecipeAskew, a.frame.recipe + kViewRecipeHead,
                    b.frame.recipe + kViewRecipeAskew) &&
         std::ranges::equal(poses_of(a), poses_of(b));
}

ViewMoment moment_of(const ViewDrawing& drawing) {
  return {*drawing.frame.model, drawing.sensor, view_of(drawing), drawing.frame.recipe};
}

// Draws without OpenGL what looks alike.
void draw_together(std::span<const ViewDrawing> drawings) {
  const ViewMoment moment = moment_of(drawings.front());
  std::vector<ImageTarget> images;
  for (const ViewDrawing& d : drawings) images.push_back({d.sensor, d.image, &view_of(d), d.frame.out});
  const Model& model = *drawings.front().frame.model;
  scenes_of(model).draw_images(model, moment.from(), moment.poses.all(), images);
}

bool is_egl_view(const ViewDrawing& drawing) {
  return draws_by_egl(*drawing.frame.model, drawing.sensor, drawing.image);
}

uint64_t noise_key(const double* recipe) {
  return half_of(recipe[1]) << 32 | half_of(recipe[2]);
}

// The stream number of the noise, as RandomStream derives it from its purpose.
constexpr uint32_t kNoiseStream = static_cast<uint32_t>(StreamPurpose::kSensorNoise) << 16;

// The parameters of finish(), for a GPU that does the same.
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
      const ViewMoment& moment = moments_.emplace_back(moment_of(drawing));
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
    draw_by_egl(scenes_of(m).raster_scene(m), shots_);
  }

 private:
  bool shows_the_same(const ViewDrawing& drawing) const {
    const View &mine = view_of(last_), &other = view_of(drawing);
    return look_alike(last_, drawing) && mine.near == other.near && mine.far == other.far;
  }

  ViewDrawing first_, last_{};
  std::deque<ViewMoment> moments_;  // shots refer to them
  std::vector<GlShot> shots_;
};

// Whether the picture was given, and is complete.
bool copy_given(const ViewDrawing& drawing) {
  const GivenPictures* const given = given_pictures(*drawing.frame.model);
  if (!given) return false;
  const size_t size = sensor_of(drawing).images()[drawing.image].reading.bytes();
  given->copy(drawing.sensor, drawing.image, size, drawing.frame.out);
  return true;
}

// Adds what is the sensor's own.
void finish(const ViewDrawing& drawing) {
  const double* const recipe = drawing.frame.recipe;
  RandomStream noise(noise_key(recipe), 0, StreamPurpose::kSensorNoise);
  sensor_of(drawing).finish(drawing.image, {recipe + kViewRecipeHead, nullptr, &noise}, drawing.frame.out);
}

// Makes the scene that is drawn in the plane, with all images that look level.
std::shared_ptr<const FlatScene> make_flat(const Model& m) {
  std::shared_ptr<FlatScene> scene = make_flat_scene(*m.scene, m.level_frames);
  for (const SensorModel& s : m.sensors) {
    const std::vector<const View*> views = views_of(*s.sensor);
    auto& images = scene->images.emplace_back(views.size());
    for (size_t i = 0; i < views.size(); ++i)
      if (s.level_images[i] != 0) images[i] = flat_image_of(*views[i], m.scene->sky);
  }
  return scene;
}

}  // namespace

bool draws_by_egl(const Model& model) {
  return !given_pictures(model) && backend_for(scenes_of(model).wanted()) == CameraBackend::kEgl;
}

bool draws_by_egl(const Model& model, size_t sensor, size_t image) {
  const ViewSensor* const sees = as_view_sensor(*model.sensors.at(sensor).sensor);
  if (!sees) return false;
  const View& view = sees->images()[image].view;
  return view.is_pinhole() && view.content != ViewContent::kIntensity && draws_by_egl(model);
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
    if (first.frame.on_device || copy_given(first)) {  // it is complete
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

const RayScene& ViewScenes::ray_scene(const Model& m) const {
  return ray_scene_.get([&] { return make_ray_scene(*m.scene); });
}

const FlatScene& ViewScenes::flat_scene(const Model& m) const {
  return flat_scene_.get([&] { return make_flat(m); });
}

std::shared_ptr<const RayScene> ViewScenes::raster_scene(const Model& m) const {
  return raster_scene_.share([&] { return make_ray_scene(*m.scene, RaySceneUse::kRaster); });
}

void ViewScenes::draw_images(const Model& m, const ViewPoint& from, std::span<const ScenePose> poses,
                             std::span<const ImageTarget> images) const {
  const auto all = [&]() -> const RayScene& { return ray_scene(m); };
  std::vector<FlatPicture> level;
  std::vector<RayPicture> pictures;
  for (const ImageTarget& image : images) {
    if (m.sensors[image.sensor].level_images[image.image] != 0)
      level.push_back({image.view, flat_scene(m).images[image.sensor][image.image].get(), image.out});
    else
      pictures.push_back({.view = image.view, .pixels = image.out});
  }
  if (!level.empty()) draw_flat(flat_scene(m), all, poses, from, level);
  for (const FlatPicture& picture : level)
    if (!picture.is_drawn) pictures.push_back({.view = picture.view, .pixels = picture.pixels});
  if (!pictures.empty()) draw_rays(all(), poses, from, pictures);
}

void ViewScenes::cast(const Model& m, size_t sensor, const View& view, const Pose2& mount_error,
                      std::span<const ScenePose> poses, float* distances) const {
  const ViewMoment moment(m, sensor, view, mount_error, poses);
  const ImageTarget target{sensor, 0, &view, reinterpret_cast<std::byte*>(distances)};
  draw_images(m, moment.from(), moment.poses.all(), {&target, 1});
}

void ViewScenes::draw(const Model& m, size_t sensor, const double* recipe, std::byte* out) const {
  const ViewFrame frame{&m, recipe, out};
  draw_views(sensor, 0, {&frame, 1});
}

CameraBackend ViewScenes::known_backend() const {
  return mvsim::known_backend(wanted_);
}

ViewDrawerMaker draw_by(CameraBackend wanted) {
  return [wanted] { return std::make_unique<const ViewScenes>(wanted); };
}

const ViewScenes& scenes_of(const Model& model) {
  return static_cast<const ViewScenes&>(drawer_of(model));  // given_pictures() knows the others
}

}  // namespace mvsim
