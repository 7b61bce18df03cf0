// Observations of sensors: their common attributes, and those of pictures with their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sensor/sensor.h"
#include "sensor/view_sensor.h"
#include "task/terms.h"

namespace mvsim {

// Common attributes of observations of a sensor: the sensor (`sensor`), its time of reading (`timing`), and
// its largest distance (`max`).

// Returns the sensor of the agent's vehicle that the attribute `sensor` names.
size_t find_sensor(TermReader& reader, const TaskContext& context);
// The same for a sensor of one class, by default the vehicle's first. `what` names the class in messages.
size_t find_sensor_of_class(TermReader& reader, const TaskContext& context, std::string_view class_name,
                            const std::string& what);

// Reads the attribute `timing`. True: the sensor keeps its own period, and is added to the task's scheduled
// sensors. False: it is read at the end of each control period.
bool read_timing(TermReader& reader, TaskContext& context, size_t sensor);

// Reads the attribute `max` of distances, m, by default the sensor's range. Warns if it is above the range.
double read_max(TermReader& reader, TaskContext& context, double range);

// Make observations of a view sensor: one image as it is read, and a scan of its distances.
std::unique_ptr<const Observation> make_image_reading(const Model& model, size_t sensor, size_t image,
                                                      bool scheduled);
std::unique_ptr<const Observation> make_view_scan(TermReader& reader, TaskContext& context, size_t sensor);

// Resizes images of sensors.

// The number of rows and columns.
struct ImageSize {
  size_t rows = 0, columns = 0;
};

// Resizes images of `spec` (two dimensions, colours three). A colour is the rounded mean of the area that the
// new pixel covers. Distances, intensities and labels have no meaningful mean, so they are taken from the
// pixel in the middle.
class ImageResizer {
 public:
  ImageResizer(const ReadingSpec& spec, ImageSize size);

  void resize(const std::byte* pixels, std::byte* out) const;

 private:
  // The old pixels under a new pixel along one side, [first, first + weights.size()), and their integer
  // weights. A weight counts parts of an old pixel, which has as many parts as the new image has pixels.
  struct Cover {
    size_t first = 0;
    std::vector<uint32_t> weights;
  };

  static std::vector<Cover> covers_of(size_t from, size_t to);
  void average(const uint8_t* pixels, uint8_t* out) const;
  void average_row(const Cover& row, const uint8_t* pixels, std::span<uint32_t> sums) const;
  void pick(const std::byte* pixels, std::byte* out) const;

  bool is_color_;
  size_t bytes_, rows_, columns_, channels_;  // bytes of a pixel; size of the given images
  ImageSize size_;
  std::vector<Cover> down_, across_;  // of colours
};

// One image of a camera or a 3D lidar as an observation, and its attributes, for the observations that are
// made of one (observe_view.cpp, observe_view_scan.cpp).

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
