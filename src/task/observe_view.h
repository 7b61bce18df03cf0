// One image of a camera or a 3D lidar as an observation, and its attributes, for the observations that are
// made of one (observe_view.cpp, observe_view_scan.cpp).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sensor/view_sensor.h"
#include "task/image_resizer.h"
#include "task/terms.h"

namespace mvsim {

const ViewImage& image_of(const Model& model, size_t sensor, size_t image);

// One image of a view sensor, in its own size or in another.
class ViewImageReading : public Picture {
 public:
  ViewImageReading(const Model& model, size_t sensor, size_t image, bool scheduled, ImageSize size = {});
  std::vector<Interval> bounds() const override;
  DType dtype() const override { return spec_.dtype; }
  std::vector<size_t> shape() const override;
  size_t recipe_size() const override { return recipe_size_; }
  std::optional<size_t> sensor() const override { return sensor_; }
  void record(EnvState& env, AgentState& agent, double* recipe) const override;
  void draw(std::span<const Frame> frames) const override;
  // None for another size, which is drawn separately.
  std::optional<ViewImageIndex> image() const override;

 protected:
  size_t count() const;
  // Draws whole images, one after another.
  std::vector<std::byte> drawn(std::span<const Frame> frames) const;

  const ReadingSpec& spec_;  // of the Model, which outlives the terms

 private:
  bool is_resized() const { return size_.rows != spec_.shape[0] || size_.columns != spec_.shape[1]; }

  ImageSize size_;
  ImageResizer resizer_;
  size_t sensor_, image_, recipe_size_;
  bool scheduled_;
};

// Replaces zeros by the picture's in_place_of_zero(), if it has one.
void replace_zeros_of(const Picture& picture, size_t count, std::byte* pixels);

// An observed image, and whether it is read at its sensor's own period.
struct SeenImage {
  size_t sensor, image;
  bool scheduled;
  double max;  // m, of distances
};

bool has_image(const Sensor& sensor, std::string_view name);
// Reads the attributes `timing` and, for distances, `max` of the image `name` of `sensor`.
SeenImage read_seen_image(TermReader& reader, TaskContext& context, size_t sensor, std::string_view name);

}  // namespace mvsim
