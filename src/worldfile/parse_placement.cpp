// Poses of objects: where they stand at the start, and <animation>, their poses by time.
#include <cstdio>

#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr double kMaxSpeed = 1e4;               // m/s
constexpr double kMaxTurnRate = 1e6 * kDegree;  // rad/s

void check_distance(double value, const NamedText& text) {
  check_range({.name = text.name, .min = -kFarthest, .max = kFarthest}, value, text.where);
}

double angle(double degrees, const NamedText& text) {
  const double radians = degrees * kDegree;
  check_range({.name = text.name, .min = -kMaxTurn, .max = kMaxTurn, .type = ParamType::kDegrees}, radians,
              text.where);
  return radians;
}

Pose3 parse_pose2(LoadState& state, const NamedText& text) {
  const std::vector<double> v = parse_numbers(text, 3, 3, "three numbers x y yaw (m, m, degrees)");
  warn_of_radians(state, v[2], text);
  return pose_of_numbers(text, v);
}

Pose3 parse_pose3(LoadState& state, const NamedText& text) {
  const std::vector<double> v = parse_numbers(text, 6, 6, "six numbers x y z yaw pitch roll (m, degrees)");
  warn_of_radians(state, v[3], text);
  return pose_of_numbers(text, v);
}

Twist2 parse_velocity(const NamedText& text) {
  const std::vector<double> v = parse_numbers(text, 3, 3, "three numbers vx vy omega (m/s, m/s, degrees/s)");
  for (size_t i = 0; i < 2; ++i)
    check_range({.name = text.name, .min = -kMaxSpeed, .max = kMaxSpeed}, v[i], text.where);
  const double omega = v[2] * kDegree;
  check_range({.name = text.name, .min = -kMaxTurnRate, .max = kMaxTurnRate, .type = ParamType::kDegrees},
              omega, text.where);
  return {v[0], v[1], omega};
}

// The nearest group decides; in it init_pose goes before init_pose3d.
void parse_pose(LoadState& state, const Fields& fields, PlacementSpec& out) {
  for (const FieldGroup& group : fields.groups())
    for (const std::string_view name : {"init_pose", "init_pose3d"}) {
      for (const Element& child : group.children) {
        if (child.tag() != name) continue;
        const NamedText text = text_of(state, child, fields.scope());
        out.pose = name == "init_pose" ? parse_pose2(state, text) : parse_pose3(state, text);
        out.has_pose = true;
        out.where = text.where;
        return;
      }
    }
}

}  // namespace

Pose3 pose_of_numbers(const NamedText& text, std::span<const double> v) {
  const bool is_3d = v.size() == 6;
  for (size_t i = 0; i < (is_3d ? 3U : 2U); ++i) check_distance(v[i], text);
  if (is_3d) return {v[0], v[1], v[2], angle(v[3], text), angle(v[4], text), angle(v[5], text)};
  return {v[0], v[1], 0, angle(v[2], text), 0, 0};
}

PlacementSpec parse_placement(LoadState& state, const Fields& fields, const SourceLocation& object) {
  PlacementSpec out;
  out.where = object;
  check_tags(state, fields, kPlacementTags);
  parse_pose(state, fields, out);
  if (const Element* e = fields.node("init_vel"))
    out.velocity = parse_velocity(text_of(state, *e, fields.scope()));
  out.adjust_elevation = !fields.node("skip_elevation_adjust");
  if (const Element* e = fields.node("animation")) out.animation = parse_animation(state, *e, fields.scope());
  if (const Element* e = fields.node("publish")) out.publication = parse_publish(state, *e, fields.scope());
  return out;
}

void warn_of_radians(LoadState& state, double number, const NamedText& text) {
  const double degrees = degrees_if_radians(number);
  if (degrees == 0) return;
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, "a yaw of %g is in degrees here: %g rad would be %g degrees", number,
                number, degrees);
  state.warnings.add("radians " + text.where.text(), text.where, "<" + text.name + ">: " + buffer);
}

void require_pose(const PlacementSpec& placement, std::string_view tag, std::string_view name) {
  if (!placement.has_pose)
    throw WorldFileError(placement.where, "<" + std::string(tag) + "> '" + std::string(name) +
                                              "' has no <init_pose> and no <init_pose3d>");
}

std::vector<Keyframe> parse_animation(LoadState& state, const Element& e, const Scope& scope) {
  constexpr size_t kMaxFrames = 10000;
  constexpr double kLongest = 1e6;  // s
  const NamedText type = required_attribute(state, e, "type", scope);
  if (trimmed(type.text) != "keyframes")
    throw WorldFileError(type.where,
                         "<animation>: found type '" + shortened(type.text) + "', expected keyframes");
  std::vector<Keyframe> out;
  for (const Element& child : children_of(e)) {
    const bool is_3d = child.tag() == "time_pose3d";
    if (!is_3d && child.tag() != "time_pose") {
      state.warnings.add("unknown in animation " + std::string(child.tag()), child.where(),
                         "<" + shortened(child.tag()) + "> is unknown in <animation> and ignored" +
                             did_you_mean(child.tag(), {"time_pose", "time_pose3d"}));
      continue;
    }
    const NamedText text = text_of(state, child, scope);
    const std::vector<double> v =
        is_3d ? parse_numbers(text, 7, 7, "7 numbers t x y z yaw pitch roll (s, m, degrees)")
              : parse_numbers(text, 4, 4, "4 numbers t x y yaw (s, m, m, degrees)");
    const double min = out.empty() ? 0 : out.back().time;
    check_range({.name = text.name, .min = min, .max = kLongest, .unit = "s"}, v[0], text.where);
    if (out.size() == kMaxFrames)
      throw WorldFileError(child.where(),
                           "<animation> has more than " + std::to_string(kMaxFrames) + " keyframes");
    out.push_back({v[0], pose_of_numbers(text, std::span(v).subspan(1))});
  }
  if (out.empty()) throw WorldFileError(e.where(), "<animation> has no <time_pose> and no <time_pose3d>");
  return out;
}

}  // namespace mvsim
