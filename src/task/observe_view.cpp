#include "task/observe_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/vector_kernels.h"
#include "model/model.h"
#include "task/make_term.h"

namespace mvsim {
namespace {

// Returns the pixel whose area contains the middle of pixel i of `to`.
size_t middle_of(size_t i, size_t from, size_t to) {
  return (2 * i + 1) * from / (2 * to);
}

// Images of cameras and 3D lidars: image, depth, labels, range_image, points.

constexpr int kMaxSide = 16384;  // pixels

// Distances up to `max`; pixels without a return have `max`.
class DistanceImage final : public ViewImageReading {
 public:
  DistanceImage(const Model& model, size_t sensor, size_t image, bool scheduled, ImageSize size, double max)
      : ViewImageReading(model, sensor, image, scheduled, size), max_(max) {}
  std::vector<Interval> bounds() const override { return std::vector<Interval>(count(), {0, max_}); }
  std::optional<float> in_place_of_zero() const override { return static_cast<float>(max_); }
  bool keeps_bounds() const override { return max_ >= spec_.high; }

 private:
  double max_;
};

// The points of returns in the sensor's frame, x forward, y left, z up: all x, then all y, then all z. Pixels
// without a return up to `max` are 0.
class PointsImage final : public ViewImageReading {
 public:
  PointsImage(const Model& model, size_t sensor, size_t image, bool scheduled, double max)
      : ViewImageReading(model, sensor, image, scheduled), max_(static_cast<float>(max)) {
    const View& view = image_of(model, sensor, image).view;
    for (int row = 0; row < view.height; ++row)
      for (int column = 0; column < view.width; ++column) add_ray(view, column, row);
  }
  std::vector<Interval> bounds() const override {
    std::vector<Interval> bounds;
    for (const std::vector<float>& axis : rays_)
      for (const float share : axis) {
        const double far = std::fabs(static_cast<double>(share)) * static_cast<double>(max_);
        bounds.push_back({-far, far});
      }
    return bounds;
  }
  std::vector<size_t> shape() const override { return {3, spec_.shape[0], spec_.shape[1]}; }
  // None, since the observation is not an image of the sensor and is drawn separately.
  std::optional<ViewImageIndex> image() const override { return std::nullopt; }
  void draw(std::span<const Frame> frames) const override {
    ViewImageReading::draw(frames);
    for (const Frame& frame : frames) make_points(reinterpret_cast<float*>(frame.out));
  }

 private:
  // Converts distances to points. The distances are in the memory of x.
  void make_points(float* x) const {
    const size_t size = spec_.size();
    for (size_t i = 0; i < size; ++i) {
      const float distance = x[i] <= max_ ? x[i] : 0;
      for (size_t axis = 0; axis < 3; ++axis) x[axis * size + i] = distance * rays_[axis][i];
    }
  }
  void add_ray(const View& view, int column, int row) {
    const auto c = static_cast<size_t>(column), r = static_cast<size_t>(row);
    const Vec3 seen = view.is_pinhole() ? Vec3{(column - view.cx) / view.fx, (row - view.cy) / view.fy, 1}
                                        : Vec3{view.rings[r].cos * view.columns[c].cos,
                                               view.rings[r].cos * view.columns[c].sin, view.rings[r].sin};
    const Vec3 ray = view.T_sensor_view.rotate(seen);
    const double axes[] = {ray.x, ray.y, ray.z};
    for (size_t axis = 0; axis < 3; ++axis) rays_[axis].push_back(static_cast<float>(axes[axis]));
  }

  float max_;
  std::array<std::vector<float>, 3> rays_;  // points at distance 1
};

// Finds the sensor of the attribute `sensor`, by default the vehicle's first that has such an image.
size_t find_view_sensor(TermReader& reader, const TaskContext& context, std::string_view image) {
  const std::vector<SensorModel>& sensors = context.model.sensors;
  const std::string what = "an image '" + std::string(image) + "'";
  if (reader.has("sensor")) {
    const size_t found = find_sensor(reader, context);
    if (!has_image(*sensors[found].sensor, image))
      reader.fail("sensor", "found a sensor of class '" + std::string(sensors[found].class_name) +
                                "', expected one that has " + what);
    return found;
  }
  for (size_t i = 0; i < sensors.size(); ++i)
    if (sensors[i].vehicle == context.vehicle && has_image(*sensors[i].sensor, image)) return i;
  reader.fail("sensor",
              "vehicle '" + context.model.vehicles[context.vehicle].name + "' has no sensor with " + what);
}

std::unique_ptr<const Observation> make_image(TermReader& reader, TaskContext& context,
                                              std::string_view name) {
  const SeenImage seen = read_seen_image(reader, context, find_view_sensor(reader, context, name), name);
  const std::vector<size_t>& shape = image_of(context.model, seen.sensor, seen.image).reading.shape;
  const auto side = [&](const char* name, size_t own) {
    return static_cast<size_t>(reader.integer(name, static_cast<int>(own), 1, kMaxSide));
  };
  const ImageSize size{side("rows", shape[0]), side("columns", shape[1])};
  if (seen.max == 0)
    return std::make_unique<ViewImageReading>(context.model, seen.sensor, seen.image, seen.scheduled, size);
  return std::make_unique<DistanceImage>(context.model, seen.sensor, seen.image, seen.scheduled, size,
                                         seen.max);
}

}  // namespace

ImageResizer::ImageResizer(const ReadingSpec& spec, ImageSize size)
    : is_color_(spec.shape.size() == 3),
      bytes_(size_of(spec.dtype)),
      rows_(spec.shape[0]),
      columns_(spec.shape[1]),
      channels_(is_color_ ? spec.shape[2] : 1),
      size_(size) {
  if (is_color_) down_ = covers_of(rows_, size.rows), across_ = covers_of(columns_, size.columns);
}

std::vector<ImageResizer::Cover> ImageResizer::covers_of(size_t from, size_t to) {
  std::vector<Cover> covers(to);
  for (size_t i = 0; i < to; ++i) {
    const size_t low = i * from, high = low + from;
    covers[i].first = low / to;
    for (size_t k = covers[i].first; k * to < high; ++k)
      covers[i].weights.push_back(
          static_cast<uint32_t>(std::min(high, (k + 1) * to) - std::max(low, k * to)));
  }
  return covers;
}

void ImageResizer::resize(const std::byte* pixels, std::byte* out) const {
  if (is_color_)
    average(reinterpret_cast<const uint8_t*>(pixels), reinterpret_cast<uint8_t*>(out));
  else
    pick(pixels, out);
}

// Computes, for each column and channel, the weighted sum over the rows that `row` covers.
void ImageResizer::average_row(const Cover& row, const uint8_t* pixels, std::span<uint32_t> sums) const {
  std::ranges::fill(sums, 0U);
  for (size_t r = 0; r < row.weights.size(); ++r) {
    const uint8_t* const from = pixels + (row.first + r) * sums.size();
    const uint32_t weight = row.weights[r];
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += weight * from[i];
  }
}

void ImageResizer::average(const uint8_t* pixels, uint8_t* out) const {
  std::vector<uint32_t> sums(columns_ * channels_);
  // The rounded mean is (2 sum + total) / (2 total), rounded down. Adding one half to the dividend keeps the
  // result. The product with a rounded 1 / (2 total) is then too far from an integer for rounding errors to
  // change it.
  const uint64_t total = static_cast<uint64_t>(rows_) * columns_;
  const double scale = 1 / (2 * static_cast<double>(total));
  for (const Cover& row : down_) {
    average_row(row, pixels, sums);
    for (const Cover& column : across_)
      for (size_t c = 0; c < channels_; ++c) {
        const uint32_t* from = &sums[column.first * channels_ + c];
        uint64_t sum = 0;
        for (const uint64_t weight : column.weights) sum += weight * *from, from += channels_;
        *out++ = static_cast<uint8_t>((static_cast<double>(2 * sum + total) + 0.5) * scale);
      }
  }
}

void ImageResizer::pick(const std::byte* pixels, std::byte* out) const {
  for (size_t r = 0; r < size_.rows; ++r) {
    const size_t row = middle_of(r, rows_, size_.rows);
    for (size_t c = 0; c < size_.columns; ++c, out += bytes_)
      std::memcpy(out, pixels + (row * columns_ + middle_of(c, columns_, size_.columns)) * bytes_, bytes_);
  }
}

const ViewImage& image_of(const Model& model, size_t sensor, size_t image) {
  return static_cast<const ViewSensor&>(*model.sensors[sensor].sensor).images()[image];
}

ViewImageReading::ViewImageReading(const Model& model, size_t sensor, size_t image, bool scheduled,
                                   ImageSize size)
    : spec_(image_of(model, sensor, image).reading),
      size_(size.rows > 0 ? size : ImageSize{spec_.shape[0], spec_.shape[1]}),
      resizer_(spec_, size_),
      sensor_(sensor),
      image_(image),
      recipe_size_(state_memory_size(model, *model.sensors[sensor].sensor)),
      scheduled_(scheduled) {}

std::vector<Interval> ViewImageReading::bounds() const {
  return std::vector<Interval>(count(), {spec_.low, spec_.high});
}

std::vector<size_t> ViewImageReading::shape() const {
  std::vector<size_t> shape = spec_.shape;
  shape[0] = size_.rows, shape[1] = size_.columns;
  return shape;
}

void ViewImageReading::record(EnvState& env, AgentState&, double* recipe) const {
  if (scheduled_)
    std::ranges::copy(view_recipe_of(env.simulation, sensor_), recipe);
  else
    env.simulation.record_view(sensor_, recipe);
}

void ViewImageReading::draw(std::span<const Frame> frames) const {
  if (is_resized()) {
    const std::vector<std::byte> pixels = drawn(frames);
    for (size_t i = 0; i < frames.size(); ++i)
      resizer_.resize(pixels.data() + i * spec_.bytes(), frames[i].out);
  } else {
    draw_views(sensor_, image_, frames);
  }
  for (const Frame& frame : frames) replace_zeros_of(*this, count(), frame.out);
}

void replace_zeros_of(const Picture& picture, size_t count, std::byte* pixels) {
  if (const std::optional<float> value = picture.in_place_of_zero())
    replace_zeros(*value, {reinterpret_cast<float*>(pixels), count});
}

std::optional<ViewImageIndex> ViewImageReading::image() const {
  if (is_resized()) return std::nullopt;
  return ViewImageIndex{sensor_, image_};
}

size_t ViewImageReading::count() const {
  return spec_.size() / (spec_.shape[0] * spec_.shape[1]) * size_.rows * size_.columns;
}

std::vector<std::byte> ViewImageReading::drawn(std::span<const Frame> frames) const {
  std::vector<std::byte> pixels(frames.size() * spec_.bytes());
  std::vector<Frame> whole(frames.begin(), frames.end());
  for (size_t i = 0; i < whole.size(); ++i) whole[i].out = pixels.data() + i * spec_.bytes();
  draw_views(sensor_, image_, whole);
  return pixels;
}

bool has_image(const Sensor& sensor, std::string_view name) {
  const ViewSensor* const view = as_view_sensor(sensor);
  return view && std::ranges::any_of(view->images(), [&](const ViewImage& i) { return i.name == name; });
}

SeenImage read_seen_image(TermReader& reader, TaskContext& context, size_t sensor, std::string_view name) {
  const auto& view = static_cast<const ViewSensor&>(*context.model.sensors[sensor].sensor);
  const auto image =
      static_cast<size_t>(std::ranges::find(view.images(), name, &ViewImage::name) - view.images().begin());
  const bool scheduled = read_timing(reader, context, sensor);
  const ViewImage& seen = view.images()[image];
  const bool is_distance = seen.view.content == ViewContent::kDepth;
  return {sensor, image, scheduled, is_distance ? read_max(reader, context, seen.reading.high) : 0};
}

std::unique_ptr<const Observation> make_image_reading(const Model& model, size_t sensor, size_t image,
                                                      bool scheduled) {
  return std::make_unique<ViewImageReading>(model, sensor, image, scheduled);
}

// The rows of terms.cpp that differ in their image.
template <>
std::unique_ptr<const Observation> term<class ImageObservation>(TermReader& reader, TaskContext& context) {
  return make_image(reader, context, "image");
}
template <>
std::unique_ptr<const Observation> term<class DepthObservation>(TermReader& reader, TaskContext& context) {
  return make_image(reader, context, "depth");
}
template <>
std::unique_ptr<const Observation> term<class LabelsObservation>(TermReader& reader, TaskContext& context) {
  return make_image(reader, context, "labels");
}
template <>
std::unique_ptr<const Observation> term<class RangeImageObservation>(TermReader& reader,
                                                                     TaskContext& context) {
  return make_image(reader, context, "range_image");
}

// Makes the observation of the returns of a 3D lidar or a depth camera as points.
template <>
std::unique_ptr<const Observation> term<class PointsObservation>(TermReader& reader, TaskContext& context) {
  // from the range image of a 3D lidar, or the depth of a camera
  const bool named = reader.has("sensor");
  const size_t given = named ? find_sensor(reader, context) : 0;
  const bool is_camera = named && has_image(*context.model.sensors[given].sensor, "depth");
  const std::string_view name = is_camera ? "depth" : "range_image";
  const SeenImage seen = read_seen_image(reader, context, find_view_sensor(reader, context, name), name);
  return std::make_unique<PointsImage>(context.model, seen.sensor, seen.image, seen.scheduled, seen.max);
}

}  // namespace mvsim
