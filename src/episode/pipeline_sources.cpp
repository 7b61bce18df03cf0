#include "episode/pipeline_sources.h"

#include <algorithm>
#include <array>

namespace mvsim {
namespace {

struct ClassNeeds {
  std::string_view name;
  std::string_view needs;  // words
  std::string_view privileged{}, instead{};
};

constexpr std::string_view kOfWorlds = "the positions of bodies differ between the worlds of the environment";

constexpr auto kClasses = std::to_array<ClassNeeds>({
    {"scan", "sensor"},
    {"gnss", "sensor"},
    {"imu", "sensor"},
    {"image", "sensor"},
    {"depth", "sensor"},
    {"labels", "sensor"},
    {"range_image", "sensor"},
    {"points", "sensor"},
    {"reading", "sensor"},
    {"goal", "pose goal"},
    {"waypoint", "pose goal"},
    {"velocity", "velocity"},
    {"odometry", "odometry"},
    {"attitude", "attitude"},
    {"steer", "steer"},
    {"height_scan", "pose attitude"},
    {"centreline", "pose"},
    {"row_index", "pose"},
    {"row_parity", "pose"},
    {"last_action", ""},
    {"neighbours", "", "exact poses and speeds of others", "the tracks of a detector of people or robots"},
    {"opponent", "", "the exact pose and speed of the other", "the track of a detector"},
    {"wheels", "", "exact slip and forces of the wheels",
     "an estimate from wheel speeds and the speed over ground"},
});

// Whether a class reads bodies of the world, which differ if there are several worlds.
bool differs_by_world(std::string_view name) {
  return name == "height_scan" || name == "row_index" || name == "row_parity";
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

void set_attribute(ParamSet& params, const std::string& name, const std::string& text) {
  for (NamedText& value : params.values)
    if (value.name == name) {
      value.text = text;
      return;
    }
  params.values.push_back({name, text, params.where});
}

const ClassNeeds* find_class(std::string_view name) {
  const auto found = std::ranges::find(kClasses, name, &ClassNeeds::name);
  return found == kClasses.end() ? nullptr : &*found;
}

ObservationSource source_of(const ObservationSlot& slot, const ObservationSpec& spec,
                            const std::string& class_name, const Model& model, bool one_world) {
  ObservationSource out;
  out.key = spec.key;
  out.class_name = class_name;
  const ClassNeeds* const known = find_class(class_name);
  if (!known) {
    out.privileged = "this version does not know what the class needs";
    out.instead = "its values";
    return out;
  }
  out.needs = words_of(known->needs);
  out.privileged = known->privileged;
  out.instead = known->instead;
  if (!one_world && differs_by_world(class_name)) {
    out.privileged = kOfWorlds;
    out.instead = "its values by a counter or a map of the robot, or one world (variants=1)";
  }
  out.sensor_index = slot.term->sensor();
  const bool from_sensor = known->needs == "sensor";
  // a scan that is read at the control period has no sensor of its own
  if (from_sensor && out.sensor_index) out.sensor = model.sensors[*out.sensor_index].name;
  return out;
}

}  // namespace

std::vector<ObservationSource> observation_sources(const Task& task, const EnvSpec& spec, size_t agent) {
  const AgentTask& own = task.agents.at(agent);
  // agents of one pattern have one description
  const AgentSpec& described = spec.agents[std::min(agent, spec.agents.size() - 1)];
  std::vector<ObservationSource> out;
  for (size_t k = 0; k < own.observations.size(); ++k)
    out.push_back(source_of(own.observations[k], task.observation_specs[k],
                            described.observations.at(k).params.class_name, *task.models.front(),
                            spec.variants == 1));
  return out;
}

void read_from_state(EnvSpec& spec) {
  for (AgentSpec& agent : spec.agents)
    for (TermSpec& term : agent.observations) {
      const ClassNeeds* const known = find_class(term.params.class_name);
      if (known && known->needs == "sensor") set_attribute(term.params, "timing", "sensor");
      if (known && known->needs == "velocity") set_attribute(term.params, "source", "body");
    }
}

}  // namespace mvsim
