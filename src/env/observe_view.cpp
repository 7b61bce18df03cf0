// Images of cameras and 3D lidars: image, depth, labels, range_image.
#include <algorithm>

#include "base/vector_kernels.h"
#include "env/observe.h"
#include "env/observe_terms.h"
#include "model/sensor_layout.h"
#include "sensor/view_sensor.h"

namespace mvsim {
namespace {

// One image of a view sensor as it is read.
class ViewImageReading : public Picture {
 public:
  ViewImageReading(const Model& model, size_t sensor, size_t image, bool scheduled)
      : spec_(static_cast<const ViewSensor&>(*model.sensors[sensor].sensor).images()[image].reading),
        sensor_(sensor),
        image_(image),
        recipe_size_(state_memory_size(model, *model.sensors[sensor].sensor)),
        scheduled_(scheduled) {}
  std::vector<Interval> bounds() const override {
    return std::vector<Interval>(spec_.size(), {spec_.low, spec_.high});
  }
  DType dtype() const override { return spec_.dtype; }
  std::vector<size_t> shape() const override { return spec_.shape; }
  size_t recipe_size() const override { return recipe_size_; }
  std::optional<size_t> sensor() const override { return sensor_; }
  void record(EnvState& env, AgentState&, double* recipe) const override {
    if (scheduled_)
      std::ranges::copy(view_recipe_of(env.simulation, sensor_), recipe);
    else
      env.simulation.record_view(sensor_, recipe);
  }
  void draw(std::span<const Frame> frames) const final {
    draw_views(sensor_, image_, frames);
    for (const Frame& frame : frames) replace_zeros_of(*this, spec_.size(), frame.out);
  }
  std::optional<ViewImageIndex> image() const final { return ViewImageIndex{sensor_, image_}; }

 protected:
  const ReadingSpec& spec_;  // of the Model, which outlives the terms

 private:
  size_t sensor_, image_, recipe_size_;
  bool scheduled_;
};

// Distances up to `max`; where nothing is seen, `max`.
class DistanceImage final : public ViewImageReading {
 public:
  DistanceImage(const Model& model, size_t sensor, size_t image, bool scheduled, double max)
      : ViewImageReading(model, sensor, image, scheduled), max_(max) {}
  std::vector<Interval> bounds() const override { return std::vector<Interval>(spec_.size(), {0, max_}); }
  std::optional<float> in_place_of_zero() const override { return static_cast<float>(max_); }
  bool keeps_bounds() const override { return max_ >= spec_.high; }

 private:
  double max_;
};

bool has_image(const Sensor& sensor, std::string_view name) {
  const ViewSensor* const view = as_view_sensor(sensor);
  return view && std::ranges::any_of(view->images(), [&](const ViewImage& i) { return i.name == name; });
}

// The sensor that `sensor` names, by default the vehicle's first that has such an image.
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
  const size_t sensor = find_view_sensor(reader, context, name);
  const auto& view = static_cast<const ViewSensor&>(*context.model.sensors[sensor].sensor);
  const auto image =
      static_cast<size_t>(std::ranges::find(view.images(), name, &ViewImage::name) - view.images().begin());
  const bool scheduled = reader.choice("timing", {"control", "sensor"}) == 1;
  if (scheduled) context.needs.scheduled_sensors.push_back(sensor);
  const ReadingSpec& reading = view.images()[image].reading;
  if (view.images()[image].view.content != ViewContent::kDepth)
    return make_image_reading(context.model, sensor, image, scheduled);
  const double max = reader.number("max", reading.high, kPositive);
  return std::make_unique<DistanceImage>(context.model, sensor, image, scheduled, max);
}

}  // namespace

std::unique_ptr<const Observation> make_image_reading(const Model& model, size_t sensor, size_t image,
                                                      bool scheduled) {
  return std::make_unique<ViewImageReading>(model, sensor, image, scheduled);
}

std::unique_ptr<const Observation> make_image_observation(TermReader& reader, TaskContext& context) {
  return make_image(reader, context, "image");
}
std::unique_ptr<const Observation> make_depth_observation(TermReader& reader, TaskContext& context) {
  return make_image(reader, context, "depth");
}
std::unique_ptr<const Observation> make_labels_observation(TermReader& reader, TaskContext& context) {
  return make_image(reader, context, "labels");
}
std::unique_ptr<const Observation> make_range_image_observation(TermReader& reader, TaskContext& context) {
  return make_image(reader, context, "range_image");
}

}  // namespace mvsim
