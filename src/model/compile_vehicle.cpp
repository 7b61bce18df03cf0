#include "model/compile_parts.h"
#include "model/transfer_params.h"

#include <algorithm>

#include "model/mesh_outline.h"
#include "model/shape.h"
#include "sensor/sensor.h"
#include "vehicle/dynamics.h"
#include "vehicle/wheel.h"
#include "worldfile/expression.h"
#include "worldfile/tags.h"

namespace mvsim {
namespace {

constexpr double kNearlyNone = 1e-9;

// Finds a registered class by name or throws, naming the known ones.
template <class T>
const T& find_class(std::span<const T* const> known, const ParamSet& set) {
  std::vector<std::string> names;
  for (const T* c : known) {
    if (c->name() == set.class_name) return *c;
    if constexpr (requires { c->alias(); })
      if (!set.class_name.empty() && c->alias() == set.class_name) return *c;
    names.emplace_back(c->name());
  }
  unknown_class(set, names);
}

// The parameters of a class as the world gives them.
size_t add_class_params(Model& model, const std::string& prefix, std::span<const ParamInfo> table,
                        const ParamSet& set, std::span<const std::string_view> also_known) {
  std::vector<double> values(table.size());
  read_params(set, table, values, also_known, model.warnings);
  return add_params(model, prefix, table, values);
}

std::vector<std::string_view> names_of(std::span<const ParamInfo> table) {
  std::vector<std::string_view> names;
  for (const ParamInfo& info : table) names.push_back(info.name);
  return names;
}

// Many MVSim files give a <drivetrain> to dynamics that have none: one warning instead of one a value.
ParamSet without_idle_drivetrain(const ParamSet& set, const Dynamics& dynamics,
                                 std::vector<std::string>& warnings) {
  const auto of_drivetrain = [](std::string_view name) { return name.starts_with("drivetrain/"); };
  for (const ParamInfo& info : dynamics.params())
    if (of_drivetrain(info.name)) return set;
  ParamSet out = set;
  std::erase_if(out.values, [&](const NamedText& value) { return of_drivetrain(value.name); });
  if (out.values.size() < set.values.size())
    warnings.push_back(set.where.text() + ": <drivetrain> has no effect in dynamics '" +
                       std::string(dynamics.name()) + "'");
  return out;
}

// A vehicle whose user chooses the controller gives the parameters of all of them.
std::vector<std::string_view> controller_params(const Dynamics& dynamics) {
  std::vector<std::string_view> names{"I_MAX"};  // in many MVSim files, and without effect there
  for (const Controller* controller : dynamics.controllers())
    for (const ParamInfo& info : controller->params()) names.push_back(info.name);
  return names;
}

WheelModel compile_wheel(const WheelSlot& slot, const VehicleSpec& vehicle,
                         std::vector<std::string>& warnings) {
  WheelSpec spec;
  spec.where = vehicle.dynamics.where;
  for (const WheelSpec& w : vehicle.wheels)
    if (w.tag == slot.tag) spec = w;
  if (slot.expected && spec.tag.empty())
    warnings.push_back(spec.where.text() + ": <dynamics> has no <" + std::string(slot.tag) +
                       ">: its defaults are taken");
  return {.tag = std::string(slot.tag),
          .position = spec.position.value_or(slot.default_position),
          .yaw = spec.yaw,
          .width = spec.width,
          .radius = spec.diameter / 2,
          .mass = spec.mass,
          .inertia = spec.inertia > 0 ? spec.inertia : spec.mass * spec.diameter * spec.diameter / 8};
}

std::vector<WheelModel> compile_wheels(const VehicleSpec& spec, const VehicleModel& v,
                                       std::vector<std::string>& warnings) {
  std::vector<std::string> tags;
  std::vector<WheelModel> wheels;
  for (const WheelSlot& slot : v.dynamics->wheel_slots()) {
    tags.emplace_back(slot.tag);
    wheels.push_back(compile_wheel(slot, spec, warnings));
  }
  for (const WheelSpec& w : spec.wheels)
    if (std::find(tags.begin(), tags.end(), w.tag) == tags.end())
      throw WorldFileError(w.where, "<" + w.tag + ">: not a wheel of dynamics '" + spec.dynamics.class_name +
                                        "'" + did_you_mean(w.tag, tags));
  const std::span<const ParamInfo> geometry = v.dynamics->geometry();
  std::vector<double> numbers(geometry.size());
  read_params(spec.dynamics, geometry, numbers);  // its names are checked with the parameters
  v.dynamics->place_wheels(numbers.data(), wheels);
  for (size_t i = 0; i < wheels.size(); ++i)
    for (size_t j = i + 1; j < wheels.size(); ++j)
      if (norm(wheels[i].position - wheels[j].position) < 1e-6)
        throw WorldFileError(spec.dynamics.where, "<dynamics>: wheels " + wheels[i].tag + " and " +
                                                      wheels[j].tag + " are at the same place");
  const std::string_view wrong = v.dynamics->check_wheels(wheels, *v.controller);
  if (!wrong.empty()) throw WorldFileError(spec.dynamics.where, "<dynamics>: " + std::string(wrong));
  return wheels;
}

void add_body_params(const VehicleSpec& spec, VehicleModel& v, Model& model) {
  ChassisSpec chassis = spec.chassis;
  chassis.mass = chassis.mass.value_or(v.dynamics->default_mass());
  chassis.com_x = chassis.com_x.value_or(v.chassis.centroid.x);
  chassis.com_y = chassis.com_y.value_or(v.chassis.centroid.y);
  const OdometrySpec& odometry = spec.odometry;
  v.odometry_drawn = {!odometry.x, !odometry.y, !odometry.yaw};
  const std::string prefix = "vehicle:" + spec.name;
  v.body_params = add_tag_params(model, prefix + "/chassis/", kChassisTags, chassis);
  add_tag_params(model, prefix + "/odometry/", kOdometryTags,
                 {odometry.x.value_or(1), odometry.y.value_or(1), odometry.yaw.value_or(1)});
}

void add_load_transfer(const VehicleSpec& spec, VehicleModel& v, Model& model) {
  const std::optional<double> com_z = spec.chassis.com_z;
  if (!spec.load_transfer) {
    if (com_z)
      model.warnings.push_back(spec.chassis.where.text() + ": <com_z> has no effect without <load_transfer>");
    return;
  }
  const double fallback = com_z.value_or((v.z_min + v.z_max) / 2);
  const ParamInfo table[] = {{.name = "cg_height", .fallback = fallback, .min = 0, .max = 100, .unit = "m"}};
  if (!spec.load_transfer->find("cg_height") && !in_range(table[0], table[0].fallback))
    throw WorldFileError(spec.load_transfer->where,
                         "<load_transfer>: the middle of zmin and zmax, " + number_text(table[0].fallback) +
                             " m, is no height of a centre of mass, expected <cg_height> from 0 to 100 m");
  v.load_transfer =
      add_class_params(model, "vehicle:" + spec.name + "/load_transfer/", table, *spec.load_transfer, {});
}

// Absent: that of friction which is the same in all directions (tire/skid_tire.cpp).
void set_icr_expansion(const VehicleSpec& spec, const VehicleModel& v, Model& model) {
  const std::span<const ParamInfo> table = v.tire->params();
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].name != "icr_expansion") continue;
    const double spread = WheelStance(v.wheels).spread_ratio();
    const NamedText* const given = spec.friction.find(table[i].name);
    if (given && !(spread > 0))
      throw WorldFileError(given->where, "<icr_expansion>: found " + given->text +
                                             " for wheels side by side, expected wheels before and behind "
                                             "each other: only these skid in a turn");
    if (!given) model.params[v.tire_params + i].nominal = spread > 0 ? std::min(1 + spread, table[i].max) : 2;
  }
}

// Outline and heights of a block without <shape> and <geometry> that asks for those of its meshes.
std::optional<MeshOutline> outline_of_meshes(const BlockSpec& spec, MeshOutlines& outlines) {
  if (!spec.shape_from_visual) return std::nullopt;
  HeightRange window;
  if (spec.z_min && spec.z_max) window = {*spec.z_min, *spec.z_max};
  return outlines.of(spec.visuals, window, spec.where);
}

// The outline is the first of these: <shape>, the meshes, the known outline of a class whose meshes are
// absent, the default.
void set_chassis(const VehicleSpec& spec, MeshOutlines& outlines, VehicleModel& v) {
  const ChassisSpec& chassis = spec.chassis;
  v.z_min = chassis.z_min.value_or(v.dynamics->default_z_min());
  v.z_max = chassis.z_max.value_or(v.dynamics->default_z_max());
  const SourceLocation& where = chassis.shape ? chassis.shape_where : spec.where;
  Polygon outline = chassis.shape.value_or(v.dynamics->default_shape());
  if (chassis.shape_from_visual) {
    std::optional<MeshOutline> meshes = outlines.of(spec.visuals, {}, where);
    if (!meshes) meshes = known_footprint(spec.class_name);
    if (meshes) {
      outline = std::move(meshes->outline);
      v.z_min = meshes->heights.low;
      v.z_max = meshes->heights.high;
    }
  }
  v.chassis = make_shape(outline, where);
  check_for_solver(v.chassis, 1, where);
}

}  // namespace

void unknown_class(const ParamSet& set, const std::vector<std::string>& names) {
  const std::string found =
      set.class_name.empty() ? "no class attribute" : "class '" + shortened(set.class_name) + "'";
  throw WorldFileError(set.where,
                       "<" + set.tag + ">: found " + found + ", " + expected_one_of(set.class_name, names));
}

size_t add_params(Model& model, const std::string& prefix, std::span<const ParamInfo> table,
                  std::span<const double> values) {
  const size_t first = model.params.size();
  for (size_t i = 0; i < table.size(); ++i) {
    std::string name;
    name.reserve(prefix.size() + table[i].name.size());
    name.append(prefix).append(table[i].name);
    model.params.push_back({std::move(name), values[i], table[i]});
  }
  return first;
}

Pose3 settle(GroundIndex& ground, const PlacementSpec& placement, double query_height) {
  Pose3 pose = placement.pose;
  if (!placement.adjust_elevation) return pose;
  try {
    pose.z = ground.highest_under({pose.x, pose.y}, pose.z + query_height);
  } catch (const WorldFileError&) {
    throw;
  } catch (const Error& e) {
    throw WorldFileError(placement.where, e.what());
  }
  return pose;
}

void add_tire(const VehicleSpec& spec, VehicleModel& v, Model& model) {
  v.tire = &find_class(tire_models(), spec.friction);
  const std::span<const ParamInfo> table = v.tire->params();
  v.tire_params = add_class_params(model, "vehicle:" + spec.name + "/friction/", table, spec.friction, {});
  set_icr_expansion(spec, v, model);
  std::vector<double> values;
  for (size_t i = 0; i < table.size(); ++i) values.push_back(model.params[v.tire_params + i].nominal);
  for (size_t i = 0; i < v.wheels.size(); ++i)
    if (const std::optional<TooLarge> check_radius =
            v.tire->check_radius(values.data(), v.wheels[i].radius)) {
      const NamedText& text = *spec.friction.find(check_radius->name);
      throw WorldFileError(text.where, "<" + text.name + ">: found " + text.text + ", expected at most " +
                                           number_text(check_radius->max) + ", the radius of the wheel <" +
                                           std::string(v.dynamics->wheel_slots()[i].tag) + ">");
    }
}

void compile_vehicle(const VehicleSpec& spec, GroundIndex& ground, MeshOutlines& outlines, LoadGuard& guard,
                     Model& model) {
  VehicleModel v;
  v.name = spec.name;
  v.class_name = spec.class_name;
  v.where = spec.where;
  v.auto_start_recording = spec.auto_start_recording;
  v.publication = spec.placement.publication;
  v.dynamics = &find_class(dynamics_classes(), spec.dynamics);
  v.controller = &find_class(v.dynamics->controllers(), spec.controller);
  v.wheels = compile_wheels(spec, v, model.warnings);
  set_chassis(spec, outlines, v);
  if (!(v.z_max > v.z_min))
    throw WorldFileError(spec.chassis.where, "<chassis>: zmax is not above zmin, expected a height above 0");
  v.radius = v.chassis.radius;
  for (const WheelModel& w : v.wheels)
    v.radius = std::max(v.radius, norm(w.position) + norm(Vec2{w.radius, w.width / 2}));
  add_body_params(spec, v, model);
  const std::string prefix = "vehicle:" + spec.name;
  add_tire(spec, v, model);
  v.controller_params = add_class_params(model, prefix + "/controller/", v.controller->params(),
                                         spec.controller, controller_params(*v.dynamics));
  v.dynamics_params = add_class_params(model, prefix + "/dynamics/", v.dynamics->params(),
                                       without_idle_drivetrain(spec.dynamics, *v.dynamics, model.warnings),
                                       names_of(v.dynamics->geometry()));
  add_load_transfer(spec, v, model);
  add_drive(spec, v, model);
  add_transfer_params(v, model);
  v.controller_state = model.memory_size;
  model.memory_size += v.controller->state_size();
  v.first_wheel = model.wheel_count;
  model.wheel_count += v.wheels.size();
  v.initial_pose = settle(ground, spec.placement, v.z_max / 2);
  if (const std::optional<double> top = ground.highest_map({v.initial_pose.x, v.initial_pose.y});
      top && *top > v.initial_pose.z + kNearlyNone && spec.placement.adjust_elevation)
    model.warnings.push_back(
        spec.placement.where.text() + ": vehicle '" + v.name +
        "' starts under the elevation map: it is put onto the highest ground below its pose, give "
        "<init_pose3d> with a z above the map");
  v.initial_twist = spec.placement.velocity;
  v.body = model.bodies.size();
  model.bodies.push_back({BodyKind::kVehicle, model.vehicles.size()});
  compile_sensors(spec, model.vehicles.size(), guard, model);
  model.vehicles.push_back(std::move(v));
}

void compile_block(const BlockSpec& spec, BlockRole role, GroundIndex& ground, MeshOutlines& outlines,
                   Model& model) {
  const bool placed = role.placed;
  BlockModel b;
  b.name = spec.name;
  b.where = spec.where;
  b.traits = spec;
  // nothing else moves it
  b.traits.is_static = spec.is_static || role.driven || !spec.placement.animation.empty();
  b.is_wall = spec.is_wall;
  b.placed = placed;
  b.is_person = spec.is_person;
  b.is_driven = role.driven;
  const std::optional<MeshOutline> meshes = outline_of_meshes(spec, outlines);
  b.shape = make_shape(meshes ? meshes->outline : block_contour(spec), spec.where,
                       spec.is_static && !placed ? kFarthestFixedPoint : kFarthestPoint);
  if (!b.traits.intangible) check_for_solver(b.shape, 1, spec.where);
  b.z_min = spec.z_min.value_or(0);
  b.z_max = spec.z_max.value_or(1);
  if (!(spec.z_min && spec.z_max) && spec.geometry != GeometryType::kPolygon) {
    // the natural extent of a simple geometry
    b.z_min = spec.geometry == GeometryType::kSphere ? -spec.radius : 0;
    b.z_max = spec.geometry == GeometryType::kSphere     ? spec.radius
              : spec.geometry == GeometryType::kCylinder ? spec.length
                                                         : spec.size.z;
  }
  if (meshes) b.z_min = meshes->heights.low, b.z_max = meshes->heights.high;
  if (!(b.z_max > b.z_min))
    throw WorldFileError(spec.where, "<block>: zmax is not above zmin, expected a height above 0");
  b.top = block_top(spec, b.shape, b.z_max);
  static constexpr ParamInfo kScale{.name = "scale", .fallback = 1, .min = 0.01, .max = 100};
  const std::string prefix = "block:" + spec.name + "/";
  b.params = add_params(model, prefix, {&kScale, 1}, {&kScale.fallback, 1});
  add_tag_params(model, prefix, kBlockTags, spec);
  if (placed && !b.traits.intangible) {
    // obstacles of one make follow each other, and the search for their smallest scale is long
    const BlockModel* const last = model.blocks.empty() ? nullptr : &model.blocks.back();
    const bool is_like_last =
        last && last->placed && !last->traits.intangible && last->shape.outline == b.shape.outline;
    double& min = model.params[b.params + kBlockScale].info.min;
    min = is_like_last ? model.params[last->params + kBlockScale].info.min : min_scale(b.shape, min);
  }
  b.initial_pose = settle(ground, spec.placement, b.z_max / 2);
  b.initial_twist = spec.placement.velocity;
  b.publication = spec.placement.publication;
  if (!spec.intangible) {
    b.body = static_cast<int>(model.bodies.size());
    model.bodies.push_back({BodyKind::kBlock, model.blocks.size()});
  }
  if (b.is_driven) model.driven_blocks.push_back(model.blocks.size());
  model.blocks.push_back(std::move(b));
  const BlockModel& added = model.blocks.back();
  const Pose3& p = added.initial_pose;
  ground.add(PlacedTop{&added.top, {p.x, p.y, p.yaw}, p.z});
}

}  // namespace mvsim
