// <joint>: a link between two bodies that stand before it in the file.
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMostJoints = 10000;
constexpr double kMostLength = 1e6, kMostStiffness = 1e9;
constexpr double kLeastLength = 0.01;  // m; Box2D takes less than half a centimetre for none

constexpr std::string_view kCommonTags[] = {"type", "body_a", "body_b", "anchor_a", "anchor_b"};
constexpr std::string_view kDistanceTags[] = {"max_length", "min_length", "stiffness", "damping"};
constexpr std::string_view kRevoluteTags[] = {"enable_limit", "lower_angle_deg", "upper_angle_deg"};

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
  constexpr size_t kMostNames = 500;  // bounds the cost of the suggestion
  std::vector<std::string> known;
  for (const auto* names : {&state.vehicle_names, &state.block_names})
    for (const std::string& known_name : *names)
      if (known.size() < kMostNames) known.push_back(known_name);
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
    check_range({.name = anchor.name, .min = -kMostLength, .max = kMostLength}, v, anchor.where);
  out.anchor = {xy[0], xy[1]};
  return out;
}

void parse_distance(const Fields& fields, const Element& e, JointSpec& out) {
  fields.read({.name = "max_length", .min = kLeastLength, .max = kMostLength}, out.max_length);
  fields.read({.name = "min_length", .min = 0, .max = kMostLength}, out.min_length);
  fields.read({.name = "stiffness", .min = 0, .max = kMostStiffness}, out.stiffness);
  fields.read({.name = "damping", .min = 0, .max = kMostStiffness}, out.damping);
  if (out.min_length > out.max_length)
    throw WorldFileError(e.where(), "<joint>: min_length is above max_length");
}

void parse_revolute(const Fields& fields, const Element& e, JointSpec& out) {
  const auto angle = [&](std::string_view name, double& value) {
    fields.read({.name = name, .min = -kMostTurn, .max = kMostTurn, .type = ParamType::kDegrees}, value);
  };
  fields.read("enable_limit", out.limited);
  angle("lower_angle_deg", out.lower_angle);
  angle("upper_angle_deg", out.upper_angle);
  if (out.lower_angle > out.upper_angle)
    throw WorldFileError(e.where(), "<joint>: lower_angle_deg is above upper_angle_deg");
}

// What is of no use to this joint is said, not dropped silently.
void warn_without_use(LoadState& state, const Fields& fields, const JointSpec& joint) {
  const bool is_distance = joint.type == JointType::kDistance;
  std::vector<std::string_view> known(std::begin(kCommonTags), std::end(kCommonTags));
  known.insert(known.end(), std::begin(kDistanceTags), std::end(kDistanceTags));
  known.insert(known.end(), std::begin(kRevoluteTags), std::end(kRevoluteTags));
  fields.warn_unknown("joint", known);
  const auto warn = [&](std::string_view name, const std::string& why) {
    if (const std::optional<NamedText> value = fields.scalar(name))
      state.warnings.add("joint " + std::string(name) + why, value->where,
                         "<joint>: " + std::string(name) + " has no effect " + why);
  };
  if (is_distance)
    for (const std::string_view name : kRevoluteTags) warn(name, "in a distance joint");
  else
    for (const std::string_view name : kDistanceTags) warn(name, "in a revolute joint");
  if (is_distance && joint.stiffness == 0) warn("damping", "without stiffness");
  if (!is_distance && !joint.limited)
    for (const std::string_view name : {"lower_angle_deg", "upper_angle_deg"})
      warn(name, "without enable_limit=\"true\"");
}

}  // namespace

void parse_joint(LoadState& state, const Element& e) {
  if (state.world.joints.size() == kMostJoints)
    throw WorldFileError(e.where(), "the world has more than " + std::to_string(kMostJoints) + " joints");
  const Fields fields(state, {}, e);
  JointSpec out;
  out.where = e.where();
  out.type = parse_type(required(fields, e, "type"));
  out.a = parse_end(state, fields, e, 'a');
  out.b = parse_end(state, fields, e, 'b');
  if (out.a.is_vehicle == out.b.is_vehicle && out.a.index == out.b.index)
    throw WorldFileError(out.b.where, "<joint>: body_a and body_b are the same body, expected two");
  if (out.type == JointType::kDistance)
    parse_distance(fields, e, out);
  else
    parse_revolute(fields, e, out);
  warn_without_use(state, fields, out);
  state.world.joints.push_back(out);
}

}  // namespace mvsim
