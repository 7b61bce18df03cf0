// <animation>: poses by time, of anything that has a pose.
#include "worldfile/parse.h"

namespace mvsim {

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
