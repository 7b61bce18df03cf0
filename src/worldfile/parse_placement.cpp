#include "worldfile/parse.h"

namespace mvsim {
namespace {

void check_distance(double value, const NamedText& text) {
  check_range({.name = text.name, .min = -kFarthest, .max = kFarthest}, value, text.where);
}

Pose3 parse_pose2(const NamedText& text) {
  const std::vector<double> v = parse_numbers(text, 3, 3, "three numbers x y yaw (m, m, degrees)");
  for (size_t i = 0; i < 2; ++i) check_distance(v[i], text);
  return {v[0], v[1], 0, v[2] * kDegree, 0, 0};
}

Pose3 parse_pose3(const NamedText& text) {
  const std::vector<double> v = parse_numbers(text, 6, 6, "six numbers x y z yaw pitch roll (m, degrees)");
  for (size_t i = 0; i < 3; ++i) check_distance(v[i], text);
  return {v[0], v[1], v[2], v[3] * kDegree, v[4] * kDegree, v[5] * kDegree};
}

// The nearest group decides; in it init_pose goes before init_pose3d.
void parse_pose(LoadState& state, const Fields& fields, PlacementSpec& out) {
  for (const FieldGroup& group : fields.groups())
    for (const std::string_view name : {"init_pose", "init_pose3d"}) {
      for (const Element& child : group.children) {
        if (child.tag() != name) continue;
        const NamedText text = text_of(state, child, fields.scope());
        out.pose = name == "init_pose" ? parse_pose2(text) : parse_pose3(text);
        out.has_pose = true;
        out.where = text.where;
        return;
      }
    }
}

}  // namespace

PlacementSpec parse_placement(LoadState& state, const Fields& fields, const SourceLocation& object) {
  PlacementSpec out;
  out.where = object;
  if (const Element* animation = fields.node("animation")) refuse(*animation, "<animation>");
  parse_pose(state, fields, out);
  if (const Element* e = fields.node("init_vel")) {
    const std::vector<double> v = parse_numbers(text_of(state, *e, fields.scope()), 3, 3,
                                                "three numbers vx vy omega (m/s, m/s, degrees/s)");
    out.velocity = {v[0], v[1], v[2] * kDegree};
  }
  out.adjust_elevation = !fields.node("skip_elevation_adjust");
  if (const Element* publish = fields.node("publish")) check_publish(state, *publish, fields.scope());
  return out;
}

void require_pose(const PlacementSpec& placement, std::string_view tag, std::string_view name) {
  if (!placement.has_pose)
    throw WorldFileError(placement.where, "<" + std::string(tag) + "> '" + std::string(name) +
                                              "' has no <init_pose> and no <init_pose3d>");
}

}  // namespace mvsim
