#include "sim/simulation.h"

#include <algorithm>
#include <cmath>

#include "sim/body_mass.h"
#include "sim/body_twist.h"
#include "sim/rigid_body_solver.h"

namespace mvsim {
namespace {

constexpr double kUnmeasured = -1;  // free distance of a vehicle that may touch something as it stands

bool has_movable_blocks(const Model& m) {
  return std::any_of(m.blocks.begin(), m.blocks.end(),
                     [](const BlockModel& b) { return b.body >= 0 && !b.is_static; });
}

}  // namespace

Simulation::Simulation(std::shared_ptr<const Model> model, uint64_t key, uint32_t episode)
    : model_(std::move(model)) {
  reset(key, episode);
}

// A copy shares the model and owns its state; its solver is filled anew at its next step.
Simulation::Simulation(const Simulation& other) : state_(other.state_), model_(other.model_) {}

Simulation& Simulation::operator=(const Simulation& other) {
  if (this == &other) return *this;
  state_ = other.state_;
  model_ = other.model_;
  solver_.reset();
  scene_.forget();
  return *this;
}

Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

void Simulation::reset(uint64_t key, uint32_t episode) {
  const Model& m = *model_;
  forget_solver();
  SimState& s = state_;
  s.key = key;
  s.episode = episode;
  s.time = s.time_error = s.owed = 0;
  s.step_count = 0;
  s.params.resize(m.params.size());
  for (size_t i = 0; i < m.params.size(); ++i) s.params[i] = m.params[i].nominal;
  s.wheels.assign(m.wheel_count, {});
  s.memory.assign(m.memory_size, 0.0);
  s.readings.bytes.assign(m.reading_bytes, {});
  s.reading_valid.assign(m.reading_count, 0);
  s.bodies.assign(m.bodies.size(), {});
  s.inertias.assign(m.bodies.size(), {});
  s.free_distances.assign(m.vehicles.size(), kUnmeasured);
  // movable blocks may overlap at first: let Box2D settle that
  s.in_contact = s.always_solver || has_movable_blocks(m) || !m.joints.empty();
  s.block_z.resize(m.blocks.size());
  s.intangible_poses.resize(m.blocks.size());
  s.vehicles.assign(m.vehicles.size(), {});
  // whether a sensor keeps its period belongs to the caller's set-up, not to the episode
  s.sensors.resize(m.sensors.size());
  for (size_t i = 0; i < m.sensors.size(); ++i) {
    const bool scheduled = s.sensors[i].scheduled;
    s.sensors[i] = {};
    s.sensors[i].scheduled = scheduled;
    s.sensors[i].noise = RandomStream(key, episode, StreamPurpose::kSensorNoise, static_cast<uint16_t>(i));
  }
  for (size_t i = 0; i < m.vehicles.size(); ++i) reset_vehicle(i);
  for (size_t i = 0; i < m.blocks.size(); ++i) reset_block(i);
}

void Simulation::reset_vehicle(size_t index) {
  const VehicleModel& v = model_->vehicles[index];
  VehicleState& state = state_.vehicles[index];
  RandomStream random(state_.key, state_.episode, StreamPurpose::kOdometryMultiplier,
                      static_cast<uint16_t>(index));
  for (size_t i = 0; i < 3; ++i) {
    const double drawn = 1 + 0.02 * random.normal();
    if (v.odometry_drawn[i]) state_.params[v.body_params + kOdometryX + i] = drawn;
  }
  v.controller->initial_command(state_.params.data() + v.controller_params, state.command);
  BodyState& body = state_.bodies[v.body];
  update_inertia(v.body);
  body = placed_at({v.initial_pose.x, v.initial_pose.y, v.initial_pose.yaw}, v.body);
  set_body_twist(body, v.initial_twist, state_.inertias[v.body]);
  state.z = v.initial_pose.z;
  state.pitch = v.initial_pose.pitch;
  state.roll = v.initial_pose.roll;
  const Twist2 twist = vehicle_world_twist(index);
  state.last_velocity = {twist.vx, twist.vy};
  for (size_t i = 0; i < v.wheels.size(); ++i) state_.wheels[v.first_wheel + i].steer = v.wheels[i].yaw;
  update_loads(index);
}

BodyState Simulation::placed_at(const Pose2& pose, size_t body) const {
  const Vec2 origin = model_->origin;
  return place_body({pose.x - origin.x, pose.y - origin.y, pose.yaw}, state_.inertias[body]);
}

Pose2 Simulation::pose_of(size_t body) const {
  return body_pose(state_.bodies[body], model_->origin);
}

// Mass properties from the parameters; the reference point stays where it is.
void Simulation::update_inertia(size_t body) {
  const BodyModel& kind = model_->bodies[body];
  BodyInertia& inertia = state_.inertias[body];
  inertia = kind.kind == BodyKind::kVehicle ? vehicle_inertia(model_->vehicles[kind.index], state_.params)
                                            : block_inertia(model_->blocks[kind.index], state_.params);
  BodyState& state = state_.bodies[body];
  const BodyState placed = place_body({state.x, state.y, state.angle}, inertia);
  state.cx = placed.cx;
  state.cy = placed.cy;
}

// After a change from outside: what was known of contacts and distances no longer holds.
void Simulation::forget_solver() {
  solver_.reset();
  scene_.forget();
  std::fill(state_.free_distances.begin(), state_.free_distances.end(), kUnmeasured);
}

void Simulation::reset_block(size_t index) {
  const BlockModel& b = model_->blocks[index];
  const Pose3& p = b.initial_pose;
  state_.block_z[index] = p.z;
  state_.intangible_poses[index] = {p.x, p.y, p.yaw};
  if (b.body < 0) return;
  const auto index_of_body = static_cast<size_t>(b.body);
  update_inertia(index_of_body);
  BodyState& body = state_.bodies[index_of_body];
  body = placed_at({p.x, p.y, p.yaw}, index_of_body);
  if (!b.is_static) set_body_twist(body, b.initial_twist, state_.inertias[index_of_body]);
}

void Simulation::place_vehicle(size_t index, const Pose2& pose) {
  place_joined(index, pose);
  put_vehicle(index, pose);
}

void Simulation::put_vehicle(size_t index, const Pose2& pose) {
  const VehicleModel& v = model_->vehicles[index];
  VehicleState& state = state_.vehicles[index];
  state_.bodies[v.body] = placed_at(pose, v.body);
  for (size_t i = 0; i < v.wheels.size(); ++i) state_.wheels[v.first_wheel + i].spin = 0;
  state.last_velocity = {};
  state.has_last_pose = false;
  forget_solver();
  snap_to_ground(index);
}

void Simulation::place_block(size_t index, const Pose2& pose) {
  const BlockModel& b = model_->blocks[index];
  if (b.is_static && !b.placed && !b.intangible)
    throw Error("block '" + b.name +
                "' is part of the model's static geometry: only blocks that an environment "
                "declares as placed can be moved");
  state_.intangible_poses[index] = pose;
  if (const std::optional<double> z = highest_map(model_->terrain, {pose.x, pose.y}))
    state_.block_z[index] = *z;
  if (b.body < 0) return;
  const auto body = static_cast<size_t>(b.body);
  state_.bodies[body] = placed_at(pose, body);
  if (!b.is_static) state_.in_contact = true;  // it may overlap another one
  forget_solver();
}

void Simulation::refill_solver() {
  solver_.reset();
}

void Simulation::set_param(size_t index, double value) {
  const ParamInfo& info = model_->params.at(index).info;
  if (!std::isfinite(value) || !in_range(info, value))
    throw Error("parameter " + model_->params[index].path + ": " + std::to_string(value) +
                " is out of range");
  state_.params[index] = value;
  forget_solver();
  for (size_t body = 0; body < model_->bodies.size(); ++body) {
    const BodyModel& kind = model_->bodies[body];
    const bool is_vehicle = kind.kind == BodyKind::kVehicle;
    const size_t first =
        is_vehicle ? model_->vehicles[kind.index].body_params : model_->blocks[kind.index].params;
    const size_t count = is_vehicle ? size_t{kVehicleParamCount} : size_t{kBlockParamCount};
    if (index < first || index >= first + count) continue;
    update_inertia(body);
    if (is_vehicle) update_loads(kind.index);
  }
}

void Simulation::update_loads(size_t index) {
  const VehicleModel& v = model_->vehicles[index];
  if (v.load_transfer) {
    transfer_load(index);
    return;
  }
  const double share = state_.params[v.body_params + kChassisMass] / static_cast<double>(v.wheels.size());
  for (size_t i = 0; i < v.wheels.size(); ++i)
    state_.wheels[v.first_wheel + i].load = share * model_->gravity;
}

void Simulation::set_twist(size_t index, double vx, double omega) {
  const VehicleModel& v = model_->vehicles.at(index);
  if (!v.controller->accepts_twist())
    throw Error("vehicle '" + v.name + "': controller '" + std::string(v.controller->name()) +
                "' takes no twist command");
  const double command[] = {vx, omega};
  set_command(index, command);
}

void Simulation::set_command(size_t index, std::span<const double> command) {
  const VehicleModel& v = model_->vehicles.at(index);
  const size_t expected = v.controller->command().size();
  if (command.size() != expected)
    throw Error("vehicle '" + v.name + "': found a command of " + std::to_string(command.size()) +
                " values, controller '" + std::string(v.controller->name()) + "' expects " +
                std::to_string(expected));
  for (size_t i = 0; i < expected; ++i)
    if (!std::isfinite(command[i]))
      throw Error("vehicle '" + v.name + "': command value '" + std::string(v.controller->command()[i].name) +
                  "' is not finite");
  std::copy(command.begin(), command.end(), state_.vehicles[index].command);
}

void Simulation::set_sensor_scheduled(size_t sensor, bool scheduled) {
  state_.sensors.at(sensor).scheduled = scheduled;
}

void Simulation::clear_collision_flags() {
  for (VehicleState& v : state_.vehicles) v.in_collision = v.had_collision = false;
}

// ---------------------------------------------------------------- state

bool Simulation::is_finite() const {
  for (const BodyState& b : state_.bodies)
    if (!std::isfinite(b.x + b.y + b.angle + b.vx + b.vy + b.omega)) return false;
  for (const WheelState& w : state_.wheels)
    if (!std::isfinite(w.spin)) return false;
  return true;
}

Pose3 Simulation::vehicle_pose(size_t index) const {
  const Pose2 p = pose_of(model_->vehicles.at(index).body);
  const VehicleState& v = state_.vehicles[index];
  return {p.x, p.y, v.z, p.yaw, v.pitch, v.roll};
}

Twist2 Simulation::vehicle_twist(size_t index) const {
  const size_t body = model_->vehicles.at(index).body;
  const BodyState& b = state_.bodies[body];
  return body_twist(b, state_.inertias[body], Rotation2(b.angle));
}

Twist2 Simulation::vehicle_world_twist(size_t index) const {
  const size_t body = model_->vehicles[index].body;
  const BodyState& b = state_.bodies[body];
  return world_twist(b, state_.inertias[body], Rotation2(b.angle));
}

Twist2 Simulation::vehicle_odometry_twist(size_t index) const {
  return odometry_twist(model_->vehicles.at(index).wheels, wheels(index));
}

std::span<const WheelState> Simulation::wheels(size_t index) const {
  const VehicleModel& v = model_->vehicles.at(index);
  return {state_.wheels.data() + v.first_wheel, v.wheels.size()};
}

Pose2 Simulation::block_plane_pose(size_t index) const {
  const int body = model_->blocks[index].body;
  return body < 0 ? state_.intangible_poses[index] : pose_of(static_cast<size_t>(body));
}

Pose3 Simulation::block_pose(size_t index) const {
  const BlockModel& b = model_->blocks.at(index);
  const Pose2 p = block_plane_pose(index);
  return {p.x, p.y, state_.block_z[index], p.yaw, b.initial_pose.pitch, b.initial_pose.roll};
}

Twist2 Simulation::block_world_twist(size_t index) const {
  const BlockModel& b = model_->blocks.at(index);
  if (b.body < 0) return {};
  const BodyState& s = state_.bodies[static_cast<size_t>(b.body)];
  const BodyInertia& inertia = state_.inertias[static_cast<size_t>(b.body)];
  const Vec2 center = Rotation2(s.angle).rotate({inertia.center_x, inertia.center_y});
  return {s.vx + s.omega * center.y, s.vy - s.omega * center.x, s.omega};
}

}  // namespace mvsim
