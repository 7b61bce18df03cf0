#include <algorithm>

#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMaxWheels = 64;

bool is_wheel(std::string_view tag) {
  return tag.ends_with("_wheel");
}

// A part of the vehicle's drawing may turn with the wheel.
void read_linked_yaw(const NamedText& linked, const VehicleSpec& vehicle, WheelSpec& out) {
  const std::vector<std::string> names = names_in(vehicle.visuals);
  out.linked_yaw = trimmed(linked.text);
  if (std::find(names.begin(), names.end(), out.linked_yaw) != names.end()) return;
  throw WorldFileError(linked.where,
                       "<linked_yaw> of <" + out.tag + "> of the vehicle '" + vehicle.name + "': found '" +
                           shortened(out.linked_yaw) + "', expected the name of one of its visuals" +
                           (names.empty() ? "; it has none" : did_you_mean(out.linked_yaw, names)));
}

WheelSpec parse_wheel(LoadState& state, const Element& e, const Scope& scope, const VehicleSpec& vehicle) {
  const Fields fields(state, scope, e);
  WheelSpec out;
  out.tag = e.tag();
  out.where = e.where();
  if (const std::optional<NamedText> pos = fields.scalar("pos")) {
    const std::vector<double> v = parse_numbers(*pos, 2, 3, "x y and optionally the yaw (m, m, degrees)");
    for (size_t i = 0; i < 2; ++i)
      check_range({.name = "pos", .min = -kMaxLength, .max = kMaxLength}, v[i], pos->where);
    out.position = Vec2{v[0], v[1]};
    if (v.size() == 3) {
      warn_of_radians(state, v[2], *pos);
      out.yaw = v[2] * kDegree;
      check_range({.name = "pos", .min = -kMaxTurn, .max = kMaxTurn, .type = ParamType::kDegrees}, out.yaw,
                  pos->where);
    }
  }
  read_tags(state, fields, kWheelTags, out);
  if (const std::optional<NamedText> linked = fields.scalar("linked_yaw"))
    read_linked_yaw(*linked, vehicle, out);
  out.visuals = parse_visuals(state, fields);
  fields.warn_unknown(e.tag(), tag_names(kWheelTags));
  return out;
}

ChassisSpec parse_chassis(LoadState& state, const Element& e, const Scope& scope, VehicleSpec& vehicle) {
  const Fields fields(state, scope, e);
  ChassisSpec out;
  out.where = out.shape_where = e.where();
  read_tags(state, fields, kChassisTags, out);
  for (VisualSpec& visual : parse_visuals(state, fields)) vehicle.visuals.push_back(std::move(visual));
  const Element* derived = fields.node("shape_from_visual");
  if (derived && fields.node("shape")) {
    state.warnings.add("shape wins", derived->where(),
                       "<shape_from_visual> has no effect beside <shape>: the footprint is that of <shape>");
  } else if (derived) {
    if (vehicle.visuals.empty())
      throw WorldFileError(derived->where(),
                           "<shape_from_visual> in <chassis> of a vehicle without <visual>, expected a "
                           "<visual> with <model_uri>, or the footprint as <shape>");
    out.shape_from_visual = true;
  }
  if (const Element* shape = fields.node("shape")) {
    out.shape_where = shape->where();
    out.shape = parse_polygon(state, *shape, kMaxShapePoints, scope);
    if (out.shape->size() < 3) throw WorldFileError(shape->where(), "<shape> has fewer than 3 points <pt>");
    warn_of_crossing(state, *shape, *out.shape);
  }
  fields.warn_unknown("chassis", tag_names(kChassisTags));
  return out;
}

ParamSet parse_controller(LoadState& state, const Element& e, const Scope& scope) {
  ParamSet out = read_param_set(state, e, scope, {});
  if (out.class_name.empty())
    throw WorldFileError(e.where(), "<controller> has no class, expected class=\"...\"");
  return out;
}

// The children of <drivetrain> go into the dynamics' values as drivetrain/NAME.
void add_drivetrain(LoadState& state, const Element& e, const Scope& scope, ParamSet& dynamics) {
  const ParamSet drivetrain = read_param_set(state, e, scope, {});
  for (const pugi::xml_attribute& attribute : e.node.attributes())
    if (std::string_view(attribute.name()) == "class")
      state.warnings.add("drivetrain class", e.where(attribute), "<drivetrain> has a type, not a class");
  for (NamedText value : drivetrain.values) {
    value.name = "drivetrain/" + value.name;
    dynamics.values.push_back(std::move(value));
  }
}

void parse_dynamics(LoadState& state, const Element& e, const Scope& scope, VehicleSpec& out) {
  out.dynamics = {
      "dynamics", std::string(trimmed(required_attribute(state, e, "class", scope).text)), e.where(), {}};
  for (const pugi::xml_attribute& attribute : e.node.attributes())
    if (std::string_view(attribute.name()) != "class")
      out.dynamics.values.push_back(text_of(state, e, attribute, scope));
  bool has_chassis = false, has_controller = false;
  for (const Element& child : children_of(e)) {
    state.budget.work(1, child);
    const std::string_view tag = child.tag();
    if (is_wheel(tag)) {
      const bool again = std::any_of(out.wheels.begin(), out.wheels.end(),
                                     [&](const WheelSpec& wheel) { return wheel.tag == tag; });
      if (again) throw WorldFileError(child.where(), "<" + std::string(tag) + "> is given twice");
      if (out.wheels.size() == kMaxWheels)
        throw WorldFileError(child.where(),
                             "<dynamics> has more than " + std::to_string(kMaxWheels) + " wheels");
      out.wheels.push_back(parse_wheel(state, child, scope, out));
    } else if (tag == "chassis") {
      if (!has_chassis) out.chassis = parse_chassis(state, child, scope, out);
      has_chassis = true;
    } else if (tag == "controller") {
      if (!has_controller) out.controller = parse_controller(state, child, scope);
      has_controller = true;
    } else if (tag == "drivetrain") {
      add_drivetrain(state, child, scope, out.dynamics);
    } else if (tag == "include" || tag == "if" || tag == "for" || tag == "variable") {
      state.warnings.add("flow in dynamics " + std::string(tag), child.where(),
                         "<" + std::string(tag) + "> is ignored in <dynamics>");
    } else {
      out.dynamics.values.push_back(text_of(state, child, scope));
    }
  }
  if (!has_chassis) out.chassis.where = out.chassis.shape_where = e.where();
  if (!has_controller) out.controller = {"controller", "raw", e.where(), {}};
}

ParamSet parse_friction(LoadState& state, const Element& e, const Scope& scope) {
  ParamSet out = read_param_set(state, e, scope, {});
  if (out.class_name.empty())
    throw WorldFileError(e.where(), "<friction> has no class, expected class=\"...\"");
  return out;
}

ParamSet parse_load_transfer(LoadState& state, const Element& e, const Scope& scope) {
  const std::string_view text = trimmed(e.node.text().get());
  if (!text.empty())
    throw WorldFileError(e.where(), "<load_transfer>: found '" + shortened(text) +
                                        "', expected no text: the tag itself switches it on");
  return read_param_set(state, e, scope, {});
}

void parse_odometry(LoadState& state, const Element& e, const Scope& scope, VehicleSpec& out) {
  const Fields fields(state, scope, e);
  read_tags(state, fields, kOdometryTags, out.odometry);
  fields.warn_unknown("odometry", tag_names(kOdometryTags));
}

std::string vehicle_name(LoadState& state, const Element& e) {
  const std::optional<NamedText> given = object_name(state, e, {});
  std::string name = given ? given->text : "";
  while (name.empty() || (!given && state.vehicle_names.contains(name)))
    name = "veh" + std::to_string(++state.vehicle_count);
  if (!state.vehicle_names.insert(name).second)
    throw WorldFileError(given->where, "the name '" + name + "' is given to a second <vehicle>");
  return name;
}

// A world cannot make anything write: this chooses vehicles where the caller names a folder for logs.
void warn_of_recording(LoadState& state, const Fields& fields, const VehicleSpec& out) {
  if (out.auto_start_recording.value_or(false))
    state.warnings.add("no effect auto_start_recording", fields.scalar("auto_start_recording")->where,
                       "<auto_start_recording> has no effect but where the caller names a folder for logs");
}

void check_coupled_sides(const Fields& fields, const VehicleSpec& out) {
  if (out.coupled_sides.value_or(false) && out.dynamics.class_name != "differential_4_wheels")
    throw WorldFileError(
        fields.scalar("coupled_sides")->where,
        "<coupled_sides>: found dynamics '" + out.dynamics.class_name + "', expected differential_4_wheels");
}

// Where instance, its includes and its class are searched, in that order.
Fields vehicle_fields(LoadState& state, const Element& e, const VehicleSpec& out) {
  Fields fields(state, {{"NAME", out.name}});
  ObjectBody body = read_body(state, e, BodyInclude::kSeparate);
  if (!body.included.empty()) fields.add({std::nullopt, std::move(body.included)});
  fields.add({e, std::move(body.own)});
  fields.add_class(e, out.class_name, state.vehicle_classes);
  return fields;
}

}  // namespace

void parse_vehicle(LoadState& state, const Element& e) {
  state.budget.body(kVehicleBytes, e.where());
  VehicleSpec out;
  out.where = e.where();
  out.order = state.order++;
  out.name = vehicle_name(state, e);
  out.class_name = class_of(state, e);
  const Fields fields = vehicle_fields(state, e, out);
  fields.warn_unknown("vehicle", tag_names(kPlacementTags, kVehicleTags));
  const Element* dynamics = fields.node("dynamics");
  if (!dynamics) throw WorldFileError(out.where, "<vehicle> '" + out.name + "' has no <dynamics>");
  out.visuals = parse_visuals(state, fields);
  parse_dynamics(state, *dynamics, fields.scope(), out);
  out.placement = parse_placement(state, fields, out.where);
  require_pose(out.placement, "vehicle", out.name);
  const Element* friction = fields.node("friction");
  out.friction = friction ? parse_friction(state, *friction, fields.scope())
                          : ParamSet{"friction", "default", out.where, {}};
  if (const Element* transfer = fields.node("load_transfer"))
    out.load_transfer = parse_load_transfer(state, *transfer, fields.scope());
  if (const Element* odometry = fields.node("odometry"))
    parse_odometry(state, *odometry, fields.scope(), out);
  parse_drive(state, fields, out);
  read_tags(state, fields, kVehicleTags, out);
  warn_of_recording(state, fields, out);
  check_coupled_sides(fields, out);
  parse_sensors(state, fields, out);
  state.world.vehicles.push_back(std::move(out));
}

}  // namespace mvsim
