#include <algorithm>

#include "model/compile_parts.h"
#include "model/model.h"
#include "model/transfer_params.h"
#include "scene/scene.h"
#include "sensor/sensors.h"

namespace mvsim {
namespace {

[[noreturn]] void unknown(const SensorSpec& spec) {
  std::vector<std::string> names;
  for (const auto& some : {sensor_classes(), more_sensor_classes()})
    for (const SensorClass& c : some) names.emplace_back(c.name);
  unknown_class(spec.params, names);
}

double period_of(const SensorSpec& spec) {
  const NamedText* const text = spec.params.find("sensor_period");
  if (!text) return SensorModel{}.period;
  const double period = parse_number(*text);
  check_range({.name = "sensor_period", .min = kShortestPeriod, .max = 1e6}, period, text->where);
  return period;
}

// `owner` is the beginning of the names of its parameters, e.g. "vehicle:r1/".
SensorModel compile(const SensorSpec& spec, const std::string& owner, LoadGuard& guard, Model& model) {
  const SensorClass* const known = find_sensor_class(spec.params.class_name);
  if (!known) unknown(spec);
  SensorModel sensor;
  sensor.name = spec.name;
  sensor.publish_topic = spec.publish_topic;
  sensor.class_name = known->name;
  sensor.sensor = known->compile(spec, guard, model.warnings);
  sensor.period = period_of(spec);
  sensor.params = add_params(model, owner + "sensor:" + spec.name + "/", sensor.sensor->params(),
                             sensor.sensor->nominal_params());
  add_transfer_params(owner, sensor, model);
  return sensor;
}

constexpr std::string_view kProperty = "gps_no_coverage";

CoverageRegion read_region(const PropertyRegionSpec& spec) {
  if (spec.value.name != "value_bool")
    throw WorldFileError(spec.where, "<element class=\"property_region\">: found <" + spec.value.name +
                                         ">, expected <value_bool> of the property '" + spec.property + "'");
  return {spec.extent, spec.z_min, spec.z_max, parse_bool(spec.value)};
}

}  // namespace

void compile_sensors(const VehicleSpec& spec, size_t vehicle, LoadGuard& guard, Model& model) {
  for (const SensorSpec& s : spec.sensors) {
    guard.poll();
    SensorModel sensor = compile(s, "vehicle:" + spec.name + "/", guard, model);
    sensor.vehicle = vehicle;
    model.sensors.push_back(std::move(sensor));
  }
}

void compile_standalone_sensors(const WorldSpec& spec, LoadGuard& guard, Model& model) {
  for (const SensorSpec& s : spec.sensors) {
    guard.poll();
    model.sensors.push_back(compile(s, "", guard, model));
  }
}

bool is_coverage(const PropertyRegionSpec& region) {
  return region.property == kProperty;
}

void compile_site(const WorldSpec& spec, const LoadGuard& guard, Model& model) {
  std::vector<CoverageRegion> regions;
  for (const PropertyRegionSpec& region : spec.regions) {
    guard.poll();
    if (is_coverage(region)) regions.push_back(read_region(region));
  }
  const bool is_placed =
      spec.georeference && (spec.georeference->latitude != 0 || spec.georeference->longitude != 0);
  if (is_placed) {
    const GeoreferenceSpec& at = *spec.georeference;
    const Geodetic reference{at.latitude, at.longitude, at.height};
    const Vec2 origin = at.is_utm ? utm(reference) : Vec2{};
    model.site = Site{.reference = reference,
                      .rotation = at.rotation * kDegree,
                      .origin = {origin.x, origin.y, at.is_utm ? at.height : 0},
                      .plane = TangentPlane(reference),
                      .regions = std::move(regions)};
    return;
  }
  for (const VehicleSpec& vehicle : spec.vehicles)
    for (const SensorSpec& sensor : vehicle.sensors)
      if (sensor.params.class_name == "gnss") {
        model.warnings.push_back(sensor.params.where.text() +
                                 ": <sensor class=\"gnss\"> has no readings without <georeference> and its "
                                 "<latitude> and <longitude>");
        return;
      }
}

size_t state_memory_size(const Model& model, const Sensor& sensor) {
  if (sensor.kind() != SensorKind::kView) return sensor.memory_size();
  return kViewRecipeHead + sensor.params().size() + model.recipe_frames.frames.size() * kScenePoseNumbers;
}

void find_recipe_frames(Model& model) {
  RecipeFrames& out = model.recipe_frames;
  out.place.assign(model.scene->frame_count, 0);
  out.place[kWorldFrame] = -1;
  for (size_t i = 0; i < model.blocks.size(); ++i) {
    const BlockModel& block = model.blocks[i];
    if (block.frame != kWorldFrame)
      out.blocks.push_back(i);
    else if (block.body >= 0)
      out.place[frame_of_body(static_cast<size_t>(block.body))] = -1;
  }
  for (size_t frame = 0; frame < out.place.size(); ++frame) {
    if (out.place[frame] < 0) continue;
    out.place[frame] = static_cast<int>(out.frames.size());
    out.frames.push_back(static_cast<uint32_t>(frame));
  }
}

void lay_out_sensors(Model& model) {
  constexpr size_t kWord = 4;  // bytes of which a state holds a whole number
  const auto round_up = [](size_t size, size_t to) { return (size + to - 1) / to * to; };
  for (SensorModel& s : model.sensors) {
    s.values = model.reading_count;
    s.bytes = model.reading_bytes;
    s.memory = model.memory_size;
    model.memory_size += state_memory_size(model, *s.sensor);
    if (s.sensor->kind() == SensorKind::kView) continue;
    const ReadingSpec& reading = s.sensor->reading();
    s.bytes = round_up(s.bytes, std::max(kWord, size_of(reading.dtype)));
    model.reading_count += reading.size();
    model.reading_bytes = round_up(s.bytes + reading.bytes(), kWord);
  }
}

}  // namespace mvsim
