// The drawer of a Model whose view sensors show pictures that were given to it, of real cameras say: nothing
// is drawn, and no noise is added.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/view_drawer.h"

namespace mvsim {

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

}  // namespace mvsim
