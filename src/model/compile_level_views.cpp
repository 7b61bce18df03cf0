#include <algorithm>
#include <cmath>

#include "model/compile_parts.h"
#include "scene/scene.h"
#include "sensor/sensors.h"
#include "sensor/view.h"

namespace mvsim {
namespace {

bool is_level(const Pose3& pose) {
  return pose.pitch == 0 && pose.roll == 0;
}

// Whether vehicles drive on one level: on planes of one height, with nothing else to drive on.
bool is_level(const Model& model) {
  const std::vector<GroundPlane>& planes = model.terrain.planes;
  const auto height = [](const GroundPlane& p) { return p.pose.z + p.z; };
  return model.terrain.maps.empty() && model.moving_planes.empty() &&
         std::all_of(planes.begin(), planes.end(),
                     [&](const GroundPlane& p) { return height(p) == height(planes.front()); }) &&
         std::none_of(model.blocks.begin(), model.blocks.end(), [](const BlockModel& b) {
           return b.top.shape != TopShape::kFlat || b.traits.intangible;
         });
}

bool stays_level(const Model& model, BodyKind kind, size_t index) {
  return std::all_of(model.animations.begin(), model.animations.end(), [&](const AnimationModel& a) {
    return a.kind != kind || a.index != index ||
           (is_level(a.start) && std::all_of(a.frames.begin(), a.frames.end(),
                                             [](const Keyframe& k) { return is_level(k.pose); }));
  });
}

// Whether an upright body looks level through it.
bool looks_level(const View& view, const Pose3& mount) {
  constexpr double kLevel = 1e-12;  // rounding of angles
  const Frame3 f = compose(Frame3(mount), view.T_sensor_view);
  const Vec3 up = view.is_pinhole() ? -1.0 * f.y : f.z;
  return std::fabs(up.x) <= kLevel && std::fabs(up.y) <= kLevel && up.z > 0;
}

// Behind everything, a box of pictures is seen from all sides.
bool shows_sky_box(const Scene& scene, const View& view) {
  return scene.sky.box && view.content == ViewContent::kColor;
}

}  // namespace

void find_level_views(Model& model) {
  const bool level = is_level(model);
  bool any = false;
  for (SensorModel& s : model.sensors) {
    const std::vector<const View*> views = views_of(*s.sensor);
    const bool stands = s.is_standalone() || (level && stays_level(model, BodyKind::kVehicle, s.vehicle));
    for (const View* const view : views) {
      const bool sees_level = looks_level(*view, s.sensor->mount()) && !shows_sky_box(*model.scene, *view);
      s.level_images.push_back(stands && sees_level ? 1 : 0);
      any = any || s.level_images.back() != 0;
    }
  }
  if (!any) return;
  model.level_frames.assign(model.scene->frame_count, 0);
  model.level_frames[kWorldFrame] = 1;
  for (size_t i = 0; i < model.vehicles.size(); ++i)
    model.level_frames[frame_of_body(model.vehicles[i].body)] =
        level && stays_level(model, BodyKind::kVehicle, i) ? 1 : 0;
  for (size_t i = 0; i < model.blocks.size(); ++i) {
    const BlockModel& block = model.blocks[i];
    if (block.frame != kWorldFrame)
      model.level_frames[block.frame] =
          is_level(block.initial_pose) && stays_level(model, BodyKind::kBlock, i) ? 1 : 0;
  }
  for (const ActorModel& actor : model.actors) model.level_frames[actor.frame] = 1;
}

}  // namespace mvsim
