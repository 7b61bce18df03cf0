#include "episode/pipeline_sources.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/math.h"
#include "task/track/localization.h"

namespace mvsim {
namespace {

constexpr std::string_view kOfTrailer = "the exact pose of the trailer";
constexpr std::string_view kOfWorlds = "the positions of bodies differ between the worlds of the environment";

// Whether a class measures where the robot's trailer is, which the pose of the robot does not say.
bool needs_trailer(std::string_view name, const EnvSpec& spec) {
  if (name != "dock") return false;
  return std::ranges::any_of(spec.trackers, [](const TermSpec& term) {
    const NamedText* const of = term.params.tag == "dock" ? term.params.find("of") : nullptr;
    return of && of->text == "trailer";
  });
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

// Returns the needs of a class, whose `inputs` are null if there is no such class.
RobotNeeds needs_of(std::string_view name) {
  for (const auto& some : {observation_classes(), more_observation_classes()})
    for (const TermClass<Observation>& c : some)
      if (c.name == name) return c.needs;
  return {};
}

bool needs_only(std::string_view name, std::string_view input) {
  const char* const inputs = needs_of(name).inputs;
  return inputs && inputs == input;
}

ObservationSource source_of(const ObservationSlot& slot, const ObservationSpec& spec,
                            const std::string& class_name, const Model& model, const EnvSpec& env) {
  ObservationSource out;
  out.key = spec.key;
  out.class_name = class_name;
  const RobotNeeds known = needs_of(class_name);
  if (!known.inputs) {
    out.privileged = "this version does not know what the class needs";
    out.instead = "its values";
    return out;
  }
  out.needs = words_of(known.inputs);
  out.privileged = known.privileged;
  out.instead = known.instead;
  if (needs_trailer(class_name, env)) {
    out.needs.clear();
    out.privileged = kOfTrailer;
    out.instead = "the pose of the robot and the angle of the hitch, or a sensor that sees the dock";
  }
  if (env.variants != 1 && known.reads_bodies_of_world) {
    out.privileged = kOfWorlds;
    out.instead = "its values by a counter or a map of the robot, or one world (variants=1)";
  }
  out.sensor_index = slot.term->sensor();
  const bool from_sensor = needs_only(class_name, "sensor");
  // a scan that is read at the control period has no sensor of its own
  if (from_sensor && out.sensor_index) out.sensor = model.sensors[*out.sensor_index].name;
  return out;
}

// Whether the environment of `spec` computes the observation from the true pose or the true velocity.
bool is_exact(const ObservationSource& source, const ParamSet& term, bool has_localization) {
  const auto needs = [&](const char* name) { return std::ranges::count(source.needs, name) > 0; };
  const NamedText* const from = term.find("source");
  const bool by_wheels = from ? from->text == "odometry" : has_localization;
  return (needs("pose") && !has_localization) || (needs("velocity") && !by_wheels);
}

constexpr double kTurn = 2 * kPi;

// Evenly spaced directions, addressed by fractional index.
struct EvenAngles {
  double first = 0, step = 0;  // rad, step not 0
  size_t count = 0;

  double angle(size_t i) const { return first + static_cast<double>(i) * step; }
  // Calls work(i) for each direction whose cell contains `angle`, modulo full turns. In a full circle an
  // angle may be in two cells.
  template <typename Work>
  void each_near(double angle, const Work& work) const {
    const double turn = kTurn / std::fabs(step);
    const double index = (angle - first) / step, base = index - turn * std::floor((index + 0.5) / turn);
    for (double at = base; at < static_cast<double>(count) - 0.5; at += turn)
      work(static_cast<size_t>(std::max(0.0, std::floor(at + 0.5))));
  }
};

EvenAngles fan_of(std::span<const double> angles) {
  const size_t n = angles.size();
  return {angles.front(), n > 1 ? (angles.back() - angles.front()) / static_cast<double>(n - 1) : kTurn, n};
}

// Returns the range, m, infinite without a return; none if there is no reading.
std::optional<double> reading_of(const GivenScan& given, size_t i) {
  const auto range = static_cast<double>(given.ranges[i]);
  if (std::isnan(range) || range <= 0 || range < given.range_min) return std::nullopt;
  return range > given.range_max ? std::numeric_limits<double>::infinity() : range;
}

// Whether two fans have the same beams. In a full circle the first and the last beam point the same way, so
// angles alone do not tell them apart.
bool are_same_beams(const EvenAngles& a, const EvenAngles& b, double turned) {
  constexpr double kNear = 1e-5;  // rad; messages hold angles in single precision
  if (a.count != b.count) return false;
  return std::fabs(a.angle(0) + turned - b.angle(0)) < kNear &&
         std::fabs(a.angle(a.count - 1) + turned - b.angle(b.count - 1)) < kNear;
}

bool stand_at_one_place(const Pose2& a, const Pose2& b) {
  constexpr double kNear = 1e-6;  // m
  return math::hypot(a.x - b.x, a.y - b.y) < kNear;
}

}  // namespace

std::vector<ObservationSource> observation_sources(const Task& task, const EnvSpec& spec, size_t agent) {
  const AgentTask& own = task.agents.at(agent);
  // agents of one pattern have one description
  const AgentSpec& described = spec.agents[std::min(agent, spec.agents.size() - 1)];
  const bool has_localization = std::ranges::any_of(
      spec.trackers, [](const TermSpec& term) { return term.params.tag == kLocalizationTag; });
  std::vector<ObservationSource> out;
  for (size_t k = 0; k < own.observations.size(); ++k) {
    const ParamSet& term = described.observations.at(k).params;
    out.push_back(source_of(own.observations[k], task.observation_specs[k], term.class_name,
                            *task.models.front(), spec));
    out.back().is_exact = is_exact(out.back(), term, has_localization);
  }
  return out;
}

void read_from_state(EnvSpec& spec) {
  for (AgentSpec& agent : spec.agents)
    for (TermSpec& term : agent.observations) {
      if (needs_only(term.params.class_name, "sensor")) set_attribute(term.params, "timing", "sensor");
      if (needs_only(term.params.class_name, "velocity")) set_attribute(term.params, "source", "body");
    }
}

ScanFit fit_scan(const GivenScan& given, const FittedLidar& lidar, float* ranges, uint8_t* valid) {
  if (given.ranges.empty() || !(std::fabs(given.angle_increment) > 0) || !std::isfinite(given.angle_min) ||
      !(std::fabs(given.angle_increment) <= kTurn))
    throw Error("scan: found " + std::to_string(given.ranges.size()) +
                " ranges, angle_min=" + std::to_string(given.angle_min) +
                " and angle_increment=" + std::to_string(given.angle_increment) +
                ", expected at least one range, a finite angle and an increment in rad that is not 0");
  const EvenAngles to = fan_of(lidar.angles),
                   from{given.angle_min, given.angle_increment, given.ranges.size()};
  const Pose2 &own = lidar.T_vehicle_lidar, &other = given.T_vehicle_scan;
  const double turned = other.yaw - own.yaw;
  const bool same_place = stand_at_one_place(own, other);
  const bool same_beams = same_place && are_same_beams(from, to, turned);
  const Vec2 shift = transform_back(own, {other.x, other.y});
  ScanFit fit;
  std::vector<double> nearest(to.count, -1);
  const auto put = [&](double angle, double range) {
    to.each_near(angle, [&](size_t k) { nearest[k] = nearest[k] < 0 ? range : std::min(nearest[k], range); });
  };
  for (size_t i = 0; i < from.count; ++i) {
    const std::optional<double> range = reading_of(given, i);
    if (!range) {
      ++fit.invalid;
      continue;
    }
    const double angle = from.angle(i) + turned;
    if (same_beams) {
      nearest[i] = *range;
    } else if (same_place || std::isinf(*range)) {
      put(angle, *range);
    } else {
      const SinCos way = sin_cos(angle);
      const Vec2 point = shift + *range * Vec2{way.cos, way.sin};
      put(math::atan2(point.y, point.x), norm(point));
    }
  }
  for (size_t k = 0; k < to.count; ++k) {
    if (nearest[k] < 0 && same_place && !same_beams)
      from.each_near(to.angle(k) - turned, [&](size_t i) {
        if (const std::optional<double> range = reading_of(given, i))
          nearest[k] = nearest[k] < 0 ? *range : std::min(nearest[k], *range);
      });
    if (nearest[k] < 0) ++fit.uncovered;
    const bool hit = nearest[k] >= 0 && nearest[k] < lidar.high;
    ranges[k] = static_cast<float>(hit ? nearest[k] : lidar.high);
    valid[k] = hit ? 1 : 0;
  }
  return fit;
}

}  // namespace mvsim
