// Views at one moment: given pictures, and pictures that are drawn.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/model.h"
#include "model/scene_view.h"
#include "render/rays/ray_view.h"
#include "scene/scene.h"

namespace mvsim {

// The drawer of a Model whose view sensors show pictures that were given to it, of real cameras say: nothing
// is drawn, and no noise is added.

// Pixels by sensor and image. One thread at a time.
class GivenPictures {
 public:
  void put(size_t sensor, size_t image, std::span<const std::byte> pixels);
  // Copies `size` bytes, or writes zeros where nothing of that size was given.
  void copy(size_t sensor, size_t image, size_t size, std::byte* out) const;
  void clear() { pixels_.clear(); }

 private:
  std::map<std::pair<size_t, size_t>, std::vector<std::byte>> pixels_;
};

class GivenViews final : public ViewDrawer {
 public:
  explicit GivenViews(std::shared_ptr<const GivenPictures> pictures) : pictures_(std::move(pictures)) {}

  // Throws Error: the ranges of a lidar are given, and not cast.
  void cast(const Model& model, size_t sensor, const View& view, const Pose2& mount_error,
            std::span<const ScenePose> poses, float* distances) const override;
  void draw(const Model& model, size_t sensor, const double* recipe, std::byte* out) const override;
  CameraBackend known_backend() const override { return CameraBackend::kAuto; }

  const GivenPictures& pictures() const { return *pictures_; }

 private:
  std::shared_ptr<const GivenPictures> pictures_;
};

// Makes drawers for CompileOptions::make_drawer.
ViewDrawerMaker show(std::shared_ptr<const GivenPictures> pictures);

// The given pictures of a Model; null where its views are drawn.
const GivenPictures* given_pictures(const Model& model);

// A world at one moment, as one sensor sees it: the poses of the scene and the eye.

// The poses of a scene by frame. Only those of the world and of Model::recipe_frames are set. Other frames
// have no shapes, and a world may have thousands of them (walls).
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

struct ViewMoment {
  FramePoses poses;
  std::vector<uint32_t> hidden;  // frames of the sensor's own vehicle, if the view hides it
  Frame3 T_world_view;
  int sensor;

  // The moment that a recipe describes (sim/sense.h).
  ViewMoment(const Model& m, size_t sensor_index, const View& view, const double* recipe);
  // `moved` has the poses of Model::recipe_frames; `askew` is the mounting error of the sensor.
  ViewMoment(const Model& m, size_t sensor_index, const View& view, const Pose2& askew,
             std::span<const ScenePose> moved);

  ViewPoint from() const { return {.T_world_view = T_world_view, .sensor = sensor, .hidden_frames = hidden}; }

 private:
  void look(const Model& m, const View& view, const Pose2& askew);
};

}  // namespace mvsim
