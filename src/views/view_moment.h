// A world at one moment, as one sensor sees it: the poses of the scene and the eye.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/model.h"
#include "render/rays/ray_view.h"
#include "scene/scene.h"

namespace mvsim {

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

  // As a recipe holds it (sim/view_recipe.h).
  ViewMoment(const Model& m, size_t sensor_index, const View& view, const double* recipe);
  // `moved` has the poses of Model::recipe_frames; `askew` is the mounting error of the sensor.
  ViewMoment(const Model& m, size_t sensor_index, const View& view, const Pose2& askew,
             std::span<const ScenePose> moved);

  ViewPoint from() const { return {.T_world_view = T_world_view, .sensor = sensor, .hidden_frames = hidden}; }

 private:
  void look(const Model& m, const View& view, const Pose2& askew);
};

}  // namespace mvsim
