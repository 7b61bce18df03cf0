// Common tags of cameras and 3D lidars.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/params.h"
#include "sensor/view_sensor.h"
#include "worldfile/world_spec.h"

namespace mvsim {

constexpr ParamInfo pixels_param(std::string_view name, double fallback) {
  return {.name = name, .fallback = fallback, .min = 1, .max = 16384, .type = ParamType::kInt};
}
constexpr ParamInfo distance_param(std::string_view name, double fallback) {
  return {.name = name, .fallback = fallback, .min = 0, .max = 1e5, .unit = "m"};
}
constexpr ParamInfo positive_param(std::string_view name, double fallback, std::string_view unit = {}) {
  return {.name = name, .fallback = fallback, .min = 0, .open_min = true, .unit = unit};
}
constexpr ParamInfo number_param(std::string_view name, double fallback, std::string_view unit = {}) {
  return {.name = name, .fallback = fallback, .unit = unit};
}
constexpr ParamInfo flag_param(std::string_view name, bool fallback) {
  return {.name = name, .fallback = fallback ? 1.0 : 0.0, .type = ParamType::kBool};
}

// Six rows of a table: columns, rows, cx, cy, fx, fy, as they are read into `values`.
struct Pinhole {
  int width = 0, height = 0;
  double cx = 0, cy = 0, fx = 1, fy = 1;  // px
  double near = 0, far = 1;               // m

  // `values`: width, height, cx, cy, fx, fy
  Pinhole(const double* values, double near_plane, double far_plane);
  View view(ViewContent content, const Frame3& T_sensor_view) const;
};

// Adds noise (sigma: the first of own.params) to every distance but 0. Results of `low` or less become 0.
// Results beyond `high` become 0, or the distance without noise if `keeps_far`.
void disturb_distances(const SensorOwn& own, size_t count, float low, float high, bool keeps_far,
                       float* distances);

// Returns the type and bounds of an image of this content; `high`: upper bound of distances, m.
ReadingSpec image_reading(ViewContent content, int width, int height, double high = 0);

// Throws if an image has too many pixels, or if the near plane (tag `near_tag`) is not before the far one.
void check_view(const SensorSpec& spec, const View& view, std::string_view near_tag);

}  // namespace mvsim
