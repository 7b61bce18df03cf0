#include <algorithm>
#include <set>

#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMaxSensors = 1000;
constexpr std::string_view kNotParams[] = {"name", "visual", "publish", "include", "if", "for", "variable"};

// Unnamed sensors of some classes are numbered under another name than that of the class.
std::string automatic_name(const LoadState& state, const std::string& class_name, size_t number) {
  const auto& prefixes = state.options.sensor_prefixes;
  const auto row = std::ranges::find(prefixes, class_name, &SensorPrefix::class_name);
  return (row == prefixes.end() ? class_name : std::string(row->prefix)) + std::to_string(number);
}

// Owner of sensors: a vehicle, or the world.
struct Owner {
  std::string name;  // of the vehicle, "" of the world
  std::string text;  // of messages
  const std::vector<SensorSpec>& sensors;
  std::set<std::string>& taken;  // names
};

std::string sensor_name(LoadState& state, const Element& e, const std::string& class_name,
                        const Owner& owner) {
  const Scope scope{{"PARENT_NAME", owner.name}};
  if (owner.sensors.size() == kMaxSensors)
    throw WorldFileError(e.where(),
                         owner.text + " has more than " + std::to_string(kMaxSensors) + " sensors");
  const std::optional<NamedText> given = object_name(state, e, scope);
  std::string name =
      given ? given->text
            : automatic_name(state, class_name, owner.sensors.size() + (owner.name.empty() ? 0 : 1));
  if (!owner.taken.insert(name).second)
    throw WorldFileError(given ? given->where : e.where(),
                         "the name '" + name + "' is given to a second <sensor> of " + owner.text);
  return name;
}

// Checks and removes the values that only a viewer uses, so that sensors never see them.
void drop_viewer_values(LoadState& state, const Element& e, const Scope& scope, ParamSet& params) {
  const Fields fields(state, scope, e);
  check_tags(state, fields, kSensorViewerTags);
  for (const Element& child : children_of(e))
    if (child.tag().starts_with("viz_") && !find_tag(kSensorViewerTags, child.tag()))
      warn_no_effect(state, child.tag(), child.where());
  std::erase_if(params.values, [](const NamedText& value) { return value.name.starts_with("viz_"); });
}

SensorSpec parse_sensor(LoadState& state, const Element& e, const Owner& owner) {
  SensorSpec out;
  const std::string class_name = required_attribute(state, e, "class", {{"PARENT_NAME", owner.name}}).text;
  out.name = sensor_name(state, e, class_name, owner);
  const Scope scope{{"NAME", out.name}, {"PARENT_NAME", owner.name}};
  out.params = read_param_set(state, e, scope, kNotParams);
  drop_viewer_values(state, e, scope, out.params);
  out.visuals = parse_visuals(state, Fields(state, scope, e));
  for (const Element& child : children_of(e)) {
    const std::string_view tag = child.tag();
    if (tag == "publish") out.publish_topic = parse_sensor_publish(state, child, scope);
    if (tag == "include" || tag == "if" || tag == "for" || tag == "variable")
      state.warnings.add("flow in sensor " + std::string(tag), child.where(),
                         "<" + std::string(tag) + "> is ignored in <sensor>");
  }
  return out;
}

}  // namespace

void parse_sensors(LoadState& state, const Fields& fields, VehicleSpec& vehicle) {
  std::set<std::string> taken;
  const Owner owner{vehicle.name, "vehicle '" + vehicle.name + "'", vehicle.sensors, taken};
  for (const Element& e : fields.nodes("sensor")) vehicle.sensors.push_back(parse_sensor(state, e, owner));
}

void parse_standalone_sensor(LoadState& state, const Element& e) {
  const Owner owner{"", "the world", state.world.sensors, state.sensor_names};
  state.world.sensors.push_back(parse_sensor(state, e, owner));
}

}  // namespace mvsim
