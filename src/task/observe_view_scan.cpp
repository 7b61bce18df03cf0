// `scan` of a depth camera or a 3D lidar: the scan of a 2D lidar in its place, computed from some of its
// rows.
#include <algorithm>
#include <cmath>

#include "task/observe_view.h"

namespace mvsim {
namespace {

// A range of image rows, both included.
struct Rows {
  int first, last;
};

Rows read_rows(TermReader& reader, int height) {
  const auto last = static_cast<double>(height - 1);
  const Interval found = reader.interval("rows", {0, last}).value_or(Interval{0, last});
  if (found.low != std::floor(found.low) || found.high != std::floor(found.high))
    reader.fail("rows", "found '" + reader.text("rows", "") +
                            "', expected two whole numbers, the first and the last row");
  return {static_cast<int>(found.low), static_cast<int>(found.high)};
}

// The nearest return in each sector of the columns, from right to left. Its distance is measured in the plane
// of the camera's axis and its rows, or in that of the lidar's level ring.
class ViewScan final : public ViewImageReading {
 public:
  ViewScan(TermReader& reader, const TaskContext& context, const SeenImage& seen)
      : ViewImageReading(context.model, seen.sensor, seen.image, seen.scheduled),
        max_(static_cast<float>(seen.max)) {
    const View& view = image_of(context.model, seen.sensor, seen.image).view;
    rows_ = read_rows(reader, view.height);
    const int sectors = reader.integer("sectors", view.width, 1, view.width);
    for (int s = 0; s < sectors; ++s)
      ends_.push_back(static_cast<int>(static_cast<int64_t>(view.width) * (s + 1) / sectors));
    is_mirrored_ = view.is_pinhole();  // its columns go from left to right
    column_scales_.assign(static_cast<size_t>(view.width), 1.0F);
    row_scales_.assign(static_cast<size_t>(view.height), 1.0F);
    if (view.is_pinhole())
      for (size_t column = 0; column < column_scales_.size(); ++column) {
        const double aside = (static_cast<double>(column) - view.cx) / view.fx;
        column_scales_[column] = static_cast<float>(std::sqrt(1 + aside * aside));
      }
    else
      std::ranges::transform(view.rings, row_scales_.begin(),
                             [](const SinCos& ring) { return static_cast<float>(ring.cos); });
  }
  std::vector<Interval> bounds() const override {
    return std::vector<Interval>(ends_.size(), {0, static_cast<double>(max_)});
  }
  bool keeps_bounds() const override { return true; }
  std::vector<size_t> shape() const override { return {ends_.size()}; }
  // None, since the observation is not an image of the sensor and is drawn separately.
  std::optional<ViewImageIndex> image() const override { return std::nullopt; }
  void draw(std::span<const Frame> frames) const override {
    const std::vector<std::byte> pixels = drawn(frames);
    for (size_t i = 0; i < frames.size(); ++i)
      reduce(reinterpret_cast<const float*>(pixels.data() + i * spec_.bytes()),
             reinterpret_cast<float*>(frames[i].out));
  }

 private:
  void reduce(const float* pixels, float* out) const {
    const auto width = static_cast<int>(column_scales_.size());
    int begin = 0;
    for (const int end : ends_) {
      float least = max_;
      for (int i = begin; i < end; ++i)
        least = std::min(least, nearest(pixels, is_mirrored_ ? width - 1 - i : i));
      *out++ = least;
      begin = end;
    }
  }
  float nearest(const float* pixels, int column) const {
    const size_t width = column_scales_.size();
    float least = max_;
    for (int row = rows_.first; row <= rows_.last; ++row) {
      const auto r = static_cast<size_t>(row), c = static_cast<size_t>(column);
      const float distance = pixels[r * width + c] * row_scales_[r] * column_scales_[c];
      if (distance > 0) least = std::min(least, distance);  // 0: no return
    }
    return least;
  }

  float max_;
  Rows rows_{0, 0};
  bool is_mirrored_ = false;
  std::vector<int> ends_;                          // end column of each sector, counted from the right
  std::vector<float> column_scales_, row_scales_;  // factor from an image value to the distance in the plane
};

}  // namespace

std::unique_ptr<const Observation> make_view_scan(TermReader& reader, TaskContext& context, size_t sensor) {
  const Sensor& seen = *context.model.sensors[sensor].sensor;
  const char* const name = has_image(seen, "depth") ? "depth" : "range_image";
  if (!has_image(seen, name))
    reader.fail("sensor", "found a sensor of class '" +
                              std::string(context.model.sensors[sensor].class_name) +
                              "', expected a lidar, a 3D lidar or a camera with depth");
  return std::make_unique<ViewScan>(reader, context, read_seen_image(reader, context, sensor, name));
}

}  // namespace mvsim
