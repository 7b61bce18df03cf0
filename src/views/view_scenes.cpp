#include "views/view_scenes.h"

#include <vector>

#include "model/model.h"
#include "render/level/flat_view.h"
#include "sensor/sensors.h"
#include "views/draw_views.h"
#include "views/view_backend.h"
#include "views/view_moment.h"

namespace mvsim {
namespace {

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
