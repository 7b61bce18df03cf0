#include "model/transfer_params.h"

#include <iterator>

#include "model/compile_parts.h"

namespace mvsim {
namespace {

constexpr double kFarthestShift = 100, kLongestDelay = 10;  // m, s
constexpr double kMaxPush = 100, kLongestInterval = 1e6;    // m/s or rad/s, s

constexpr ParamInfo kVehicle[] = {
    {.name = "load/x", .fallback = 0, .min = -kFarthestShift, .max = kFarthestShift, .unit = "m"},
    {.name = "load/y", .fallback = 0, .min = -kFarthestShift, .max = kFarthestShift, .unit = "m"},
    {.name = "wheels/track", .fallback = 1, .min = 0.5, .max = 2},
    {.name = "steering/offset",
     .fallback = 0,
     .min = -45 * kDegree,
     .max = 45 * kDegree,
     .type = ParamType::kDegrees},
    {.name = "steering/rate", .fallback = 1, .min = 0.01, .max = 100},
    {.name = "action/delay", .fallback = 0, .min = 0, .max = kLongestDelay, .unit = "s"},
    {.name = "action/noise", .fallback = 0, .min = 0, .max = 1},
    {.name = "push/shortest", .fallback = 0, .min = 0, .max = kLongestInterval, .unit = "s"},
    {.name = "push/longest", .fallback = 0, .min = 0, .max = kLongestInterval, .unit = "s"},
    {.name = "push/vx", .fallback = 0, .min = 0, .max = kMaxPush, .unit = "m/s"},
    {.name = "push/vy", .fallback = 0, .min = 0, .max = kMaxPush, .unit = "m/s"},
    {.name = "push/omega", .fallback = 0, .min = 0, .max = kMaxPush, .unit = "rad/s"},
};
static_assert(std::size(kVehicle) == kTransferParamCount);

constexpr ParamInfo kSensor[] = {
    {.name = "delay", .fallback = 0, .min = 0, .max = kLongestDelay, .unit = "s"},
    {.name = "dropout", .fallback = 0, .min = 0, .max = 1},
    {.name = "mount/x", .fallback = 0, .min = -kFarthestShift, .max = kFarthestShift, .unit = "m"},
    {.name = "mount/y", .fallback = 0, .min = -kFarthestShift, .max = kFarthestShift, .unit = "m"},
    {.name = "mount/yaw", .fallback = 0, .min = -kPi, .max = kPi, .type = ParamType::kDegrees},
};
static_assert(std::size(kSensor) == kSensorTransferParamCount);

size_t add_with_fallbacks(Model& model, const std::string& prefix, std::span<const ParamInfo> table) {
  std::vector<double> values;
  for (const ParamInfo& info : table) values.push_back(info.fallback);
  return add_params(model, prefix, table, values);
}

// From half of its radius on, or from the smallest that the tire's parameters go with.
double smallest_radius(const VehicleModel& v, const std::vector<double>& tire, double radius) {
  double low = radius / 2, high = radius;
  if (!v.tire->check_radius(tire.data(), low)) return low;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (v.tire->check_radius(tire.data(), middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace

void add_transfer_params(VehicleModel& v, Model& model) {
  const std::string prefix = "vehicle:" + v.name + "/";
  std::vector<double> tire;
  for (size_t i = 0; i < v.tire->params().size(); ++i)
    tire.push_back(model.params[v.tire_params + i].nominal);
  v.transfer_params = add_with_fallbacks(model, prefix, kVehicle);
  for (const WheelModel& w : v.wheels) {
    const ParamInfo radius{.name = "radius",
                           .fallback = w.radius,
                           .min = smallest_radius(v, tire, w.radius),
                           .max = 2 * w.radius,
                           .unit = "m"};
    add_with_fallbacks(model, prefix + "wheels/" + w.tag + "/", {&radius, 1});
  }
}

void add_transfer_params(const std::string& owner, SensorModel& sensor, Model& model) {
  const size_t count = sensor.sensor->kind() == SensorKind::kState ? size_t{kMountX} : std::size(kSensor);
  sensor.transfer_params =
      add_with_fallbacks(model, owner + "sensor:" + sensor.name + "/", std::span(kSensor).first(count));
}

}  // namespace mvsim
