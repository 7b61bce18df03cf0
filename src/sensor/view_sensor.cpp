#include "sensor/view_sensor.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/vector_kernels.h"

namespace mvsim {
namespace {

constexpr double kMaxPixels = 1 << 26;

}  // namespace

void ViewSensor::finish(size_t image, const SensorOwn& own, std::byte* pixels) const {
  const ImageFinish how = finish_of(image);
  if (how.kind == ImageFinish::kOwn) finish_own(image, own, pixels);
  if (how.kind == ImageFinish::kDistanceNoise)
    disturb_distances(own, images_[image].reading.size(), how.low, how.high, how.keeps_far,
                      reinterpret_cast<float*>(pixels));
}

Pinhole::Pinhole(const double* values, double near_plane, double far_plane)
    : width(static_cast<int>(values[0])),
      height(static_cast<int>(values[1])),
      cx(values[2]),
      cy(values[3]),
      fx(values[4]),
      fy(values[5]),
      near(near_plane),
      far(far_plane) {}

View Pinhole::view(ViewContent content, const Frame3& T_sensor_view) const {
  View view;
  view.content = content;
  view.width = width, view.height = height;
  view.fx = fx, view.fy = fy, view.cx = cx, view.cy = cy;
  view.near = near, view.far = far;
  view.T_sensor_view = T_sensor_view;
  return view;
}

void disturb_distances(const SensorOwn& own, size_t count, float low, float high, bool keeps_far,
                       float* distances) {
  constexpr size_t kAtOnce = 128;
  double deviates[kAtOnce];
  const double sigma = own.params[0];
  if (!(sigma > 0)) {
    if (low <= 0 && keeps_far) return;  // all stay
    const float limit = keeps_far ? std::numeric_limits<float>::infinity() : high;
    keep_between(low, limit, {distances, count});
    return;
  }
  for (size_t begin = 0; begin < count; begin += kAtOnce) {
    const size_t some = std::min(kAtOnce, count - begin);
    float* const piece = distances + begin;
    if (std::all_of(piece, piece + some, [](float distance) { return distance == 0; })) {
      own.noise->skip_normals(some);  // nothing is seen there, such as a piece of the sky
      continue;
    }
    own.noise->normals({deviates, some});
    disturb_returns(sigma, {deviates, some}, low, high, keeps_far, piece);
  }
}

ReadingSpec image_reading(ViewContent content, int width, int height, double high) {
  const std::vector<size_t> shape{static_cast<size_t>(height), static_cast<size_t>(width)};
  switch (content) {
    case ViewContent::kColor:
      return {DType::kUint8, {shape[0], shape[1], 3}, 0, 255, ""};
    case ViewContent::kDepth:
      return {DType::kFloat32, shape, 0, high, "m"};
    case ViewContent::kLabels:
      return {DType::kUint16, shape, 0, std::numeric_limits<uint16_t>::max(), ""};
    case ViewContent::kIntensity:
      return {DType::kFloat32, shape, 0, 1, ""};
  }
  return {};
}

void check_view(const SensorSpec& spec, const View& view, std::string_view near_tag) {
  const double pixels = static_cast<double>(view.width) * view.height;
  if (pixels > kMaxPixels)
    throw WorldFileError(spec.params.where, "<sensor>: found an image of " + std::to_string(view.width) +
                                                " x " + std::to_string(view.height) +
                                                " pixels, expected at most " +
                                                std::to_string(static_cast<int>(kMaxPixels)) + " in all");
  const NamedText* const given = spec.params.find(near_tag);
  check_range({.name = near_tag, .min = 0, .max = view.far, .is_max_excluded = true, .unit = "m"}, view.near,
              given ? given->where : spec.params.where);
}

}  // namespace mvsim
