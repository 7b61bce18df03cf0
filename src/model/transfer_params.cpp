#include "model/transfer_params.h"

#include <cmath>
#include <iterator>

#include "base/text.h"

namespace mvsim {
namespace {

double unit_of(const ParamInfo& info) {
  return info.type == ParamType::kDegrees ? kDegree : 1.0;
}

// "there are vehicle:r1/friction/mu, ...": those that agree with the pattern up to its last "/", else to the
// one before it, and so on.
std::string parameters_near(std::string pattern, const Model& model) {
  constexpr size_t kMost = 12;
  std::vector<size_t> found;
  while (found.empty() && !pattern.empty()) {
    const size_t cut = pattern.find_last_of("/:");
    pattern.erase(cut == std::string::npos ? 0 : cut);
    found = model.find_params(pattern + "*");
  }
  std::string out = "there are ";
  for (size_t i = 0; i < found.size() && i < kMost; ++i)
    out += (i == 0 ? "" : ", ") + model.params[found[i]].path;
  return out + (found.size() > kMost ? " and " + std::to_string(found.size() - kMost) + " more" : "");
}

// Static geometry is compiled at its size.
void check_scale(const Model& model, size_t index) {
  for (const BlockModel& block : model.blocks)
    if (index == block.params + kBlockScale && block.traits.is_static && !block.placed &&
        !block.traits.intangible)
      throw Error("block '" + block.name +
                  "' is part of the model's static geometry: only blocks that an environment declares as "
                  "placed can be resized");
}

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

std::string unknown_parameter(const Model& model, const std::string& pattern) {
  std::vector<std::string> known;
  for (const ParamEntry& entry : model.params) known.push_back(entry.path);
  const std::string meant = did_you_mean(pattern, known);
  return "found '" + pattern + "', which is no parameter of the simulation" + meant +
         (meant.empty() ? "; " : " ") + parameters_near(pattern, model) + " (mvsim-gym parameters lists all)";
}

std::vector<size_t> settable_params(const Model& model, const std::string& pattern) {
  std::vector<size_t> found = model.find_params(pattern);
  if (found.empty()) throw Error("parameter: " + unknown_parameter(model, pattern));
  for (const size_t index : found) check_scale(model, index);
  return found;
}

double stored_value(const ParamEntry& entry, double given) {
  const ParamInfo& info = entry.info;
  const double value = given * unit_of(info);
  const bool whole =
      info.type == ParamType::kNumber || info.type == ParamType::kDegrees || given == std::floor(given);
  const bool is_bool = info.type == ParamType::kBool;
  if (std::isfinite(value) && whole && (is_bool ? value == 0 || value == 1 : in_range(info, value)))
    return value;
  throw Error("parameter " + entry.path + ": found " + short_number(given) + ", expected " +
              (is_bool ? "0 or 1"
                       : (whole || !std::isfinite(value) ? "a value " : "an integer ") + range_text(info)));
}

double given_value(const ParamEntry& entry, double stored) {
  return stored / unit_of(entry.info);
}

double choice_value(const Model& model, const std::string& pattern, const std::string& name) {
  const std::vector<size_t> found = settable_params(model, pattern);
  const ParamEntry& entry = model.params[found[0]];
  const auto choices = entry.info.choices;
  if (choices.empty())
    throw Error("parameter " + entry.path + ": found '" + shortened(name) + "', expected a number");
  const auto it = std::find(choices.begin(), choices.end(), name);
  if (it != choices.end()) return static_cast<double>(it - choices.begin());
  throw Error("parameter " + entry.path + ": found '" + shortened(name) + "', expected one of its choices" +
              did_you_mean(name, {choices.begin(), choices.end()}));
}

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
