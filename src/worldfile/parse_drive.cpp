// Reads the drive of a vehicle as datasheets have it: limits of commands, motors, steering servos.
#include <array>

#include "worldfile/parse.h"

namespace mvsim {
namespace {

// Scalars of an element, all of them in one table.
template <typename Spec>
Spec parse_scalars(LoadState& state, const Element& e, const Scope& scope, Tags<Spec> tags) {
  const Fields fields(state, scope, e);
  Spec out;
  if constexpr (requires { out.where; }) out.where = e.where();
  read_tags(state, fields, tags, out);
  fields.warn_unknown(e.tag(), tag_names(tags));
  return out;
}

LimitsSpec parse_limits(LoadState& state, const Element& e, const Scope& scope) {
  const Fields fields(state, scope, e);
  LimitsSpec out;
  out.where = e.where();
  const Element* const linear = fields.node("linear");
  const Element* const angular = fields.node("angular");
  if (!linear && !angular)
    throw WorldFileError(e.where(), "<limits> is empty, expected <linear> or <angular> with limits");
  if (linear) out.linear = parse_scalars(state, *linear, scope, kLinearLimitTags);
  if (angular) out.angular = parse_scalars(state, *angular, scope, kAngularLimitTags);
  fields.warn_unknown("limits", std::array<std::string_view, 2>{"linear", "angular"});
  return out;
}

MotorSpec parse_motor(LoadState& state, const Element& e, const Scope& scope) {
  MotorSpec out = parse_scalars(state, e, scope, kMotorTags);
  const auto need = [&](const std::optional<double>& value, const char* tag, const char* what) {
    if (!value)
      throw WorldFileError(e.where(), "<motor> has no <" + std::string(tag) + ">, expected " + what);
  };
  need(out.stall_torque, "stall_torque", "the torque of the rotor at rest in N m");
  need(out.no_load_speed, "no_load_speed", "the speed of the free rotor in rad/s");
  return out;
}

}  // namespace

void parse_drive(LoadState& state, const Fields& fields, VehicleSpec& out) {
  const Scope& scope = fields.scope();
  if (const Element* e = fields.node("limits")) out.limits = parse_limits(state, *e, scope);
  if (const Element* e = fields.node("kinematics"))
    out.kinematics = parse_scalars(state, *e, scope, kKinematicsTags);
  if (const Element* e = fields.node("motor")) out.motor = parse_motor(state, *e, scope);
  if (const Element* e = fields.node("servo")) out.servo = parse_scalars(state, *e, scope, kServoTags);
  if (const std::optional<NamedText> delay = fields.scalar("command_delay"))
    out.command_delay_where = delay->where;
}

}  // namespace mvsim
