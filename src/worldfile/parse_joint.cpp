// <joint>: a link between two bodies that stand before it in the file.
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMaxJoints = 10000;
NamedText required(const Fields& fields, const Element& e, std::string_view name) {
  std::optional<NamedText> value = fields.scalar(name);
  if (value) value->text = trimmed(value->text);
  if (!value || value->text.empty())
    throw WorldFileError(value ? value->where : e.where(), "<joint> has no " + std::string(name));
  return *value;
}

JointType parse_type(const NamedText& type) {
  if (type.text == "distance" || type.text == "rope") return JointType::kDistance;
  if (type.text == "revolute" || type.text == "pin") return JointType::kRevolute;
  throw WorldFileError(type.where, "<joint>: found type '" + shortened(type.text) +
                                       "', expected revolute (pin) or distance (rope)" +
                                       did_you_mean(type.text, {"distance", "rope", "revolute", "pin"}));
}

template <typename Object>
std::optional<size_t> find(const std::vector<Object>& objects, const std::string& name) {
  for (size_t i = 0; i < objects.size(); ++i)
    if (objects[i].name == name) return i;
  return std::nullopt;
}

[[noreturn]] void fail_unknown(const LoadState& state, const NamedText& name) {
  constexpr size_t kMaxNames = 500;  // bounds the cost of the suggestion
  std::vector<std::string> known;
  for (const auto* names : {&state.vehicle_names, &state.block_names})
    for (const std::string& known_name : *names)
      if (known.size() < kMaxNames) known.push_back(known_name);
  throw WorldFileError(name.where, "<joint>: no vehicle or block '" + shortened(name.text) +
                                       "' stands before it in the file" + did_you_mean(name.text, known));
}

JointEndSpec parse_end(LoadState& state, const Fields& fields, const Element& e, char side) {
  const std::string suffix(1, side);
  const NamedText name = required(fields, e, "body_" + suffix);
  const WorldSpec& world = state.world;
  state.budget.work(static_cast<int64_t>(world.vehicles.size() + world.blocks.size()), name.where);
  const std::optional<size_t> vehicle = find(world.vehicles, name.text);
  const std::optional<size_t> block = find(world.blocks, name.text);
  if (!vehicle && !block) fail_unknown(state, name);
  if (vehicle && block)
    throw WorldFileError(name.where, "<joint>: '" + shortened(name.text) +
                                         "' is the name of a vehicle and of a block, expected one of them");
  if (block && world.blocks[*block].intangible)
    throw WorldFileError(name.where, "<joint>: the block '" + shortened(name.text) +
                                         "' is intangible: it has no body that a joint could hold");
  JointEndSpec out;
  out.is_vehicle = vehicle.has_value();
  out.index = vehicle ? *vehicle : *block;
  out.where = name.where;
  const NamedText anchor = required(fields, e, "anchor_" + suffix);
  const std::vector<double> xy = parse_numbers(anchor, 2, 2, "two numbers x y (m)");
  for (const double v : xy)
    check_range({.name = anchor.name, .min = -kMaxLength, .max = kMaxLength}, v, anchor.where);
  out.anchor = {xy[0], xy[1]};
  return out;
}

void check_limits(const Element& e, const JointSpec& joint) {
  if (joint.min_length > joint.max_length)
    throw WorldFileError(e.where(), "<joint>: min_length is above max_length");
  if (joint.lower_angle > joint.upper_angle)
    throw WorldFileError(e.where(), "<joint>: lower_angle_deg is above upper_angle_deg");
}

// Warns of parameters that have no effect on this type of joint.
void warn_without_use(LoadState& state, const Fields& fields, const JointSpec& joint) {
  const bool is_distance = joint.type == JointType::kDistance;
  fields.warn_unknown("joint", tag_names(kJointTags, kDistanceJointTags, kRevoluteJointTags));
  const auto warn = [&](std::string_view name, const std::string& why) {
    if (const std::optional<NamedText> value = fields.scalar(name))
      state.warnings.add("joint " + std::string(name) + why, value->where,
                         "<joint>: " + std::string(name) + " has no effect " + why);
  };
  for (const Tag<JointSpec>& tag : is_distance ? kRevoluteJointTags : kDistanceJointTags)
    warn(tag.name(), is_distance ? "in a distance joint" : "in a revolute joint");
  if (is_distance && joint.stiffness == 0) warn("damping", "without stiffness");
  if (!is_distance && !joint.limited)
    for (const std::string_view name : {"lower_angle_deg", "upper_angle_deg"})
      warn(name, "without enable_limit=\"true\"");
}

}  // namespace

void parse_joint(LoadState& state, const Element& e) {
  if (state.world.joints.size() == kMaxJoints)
    throw WorldFileError(e.where(), "the world has more than " + std::to_string(kMaxJoints) + " joints");
  const Fields fields(state, {}, e);
  JointSpec out;
  out.where = e.where();
  out.type = parse_type(required(fields, e, "type"));
  out.a = parse_end(state, fields, e, 'a');
  out.b = parse_end(state, fields, e, 'b');
  if (out.a.is_vehicle == out.b.is_vehicle && out.a.index == out.b.index)
    throw WorldFileError(out.b.where, "<joint>: body_a and body_b are the same body, expected two");
  const bool is_distance = out.type == JointType::kDistance;
  read_tags(state, fields, is_distance ? kDistanceJointTags : kRevoluteJointTags, out);
  check_limits(e, out);
  warn_without_use(state, fields, out);
  state.world.joints.push_back(out);
}

}  // namespace mvsim
