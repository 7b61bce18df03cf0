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
  check_tags(state, fields, placement_tags());
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

}  // namespace mvsim
