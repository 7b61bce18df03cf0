#include "episode/quantities.h"

#include <algorithm>

#include "episode/episode.h"
#include "model/transfer_params.h"
#include "sim/place.h"
#include "task/track/localization.h"

namespace mvsim {

enum class Owner { kEnv, kAgent, kVehicle, kBlock, kBody };

struct Quantity {
  Owner owner;
  std::string_view name;
  size_t size;  // 0: one number a wheel of the vehicle, or a component of the action
  void (*read)(const Task& task, const EnvState& env, size_t index, double* out);
  // Both null: read only. `check` throws before anything has changed.
  void (*check)(const Task& task, const EnvState& env, size_t index, const std::string& name,
                const double* values) = nullptr;
  void (*write)(const Task& task, EnvState& env, size_t index, const double* values) = nullptr;
};

namespace {

void put(double* out, const Pose2& p) {
  out[0] = p.x, out[1] = p.y, out[2] = p.yaw;
}
void put(double* out, const Twist2& t) {
  out[0] = t.vx, out[1] = t.vy, out[2] = t.omega;
}
void put(double* out, Vec2 v) {
  out[0] = v.x, out[1] = v.y;
}
Pose2 pose_of(const double* v) {
  return {v[0], v[1], v[2]};
}
Twist2 twist_of(const double* v) {
  return {v[0], v[1], v[2]};
}

Twist2 block_twist(const SimView& s, size_t block) {
  const Twist2 world = block_world_twist(s, block);
  const Vec2 v = Rotation2(block_plane_pose(s, block).yaw).unrotate({world.vx, world.vy});
  return {v.x, v.y, world.omega};
}

// Reads what `of` computes of a vehicle or a block.
template <auto of>
void read_of(const Task&, const EnvState& env, size_t index, double* out) {
  put(out, of(env.simulation, index));
}

// Reads a value of each wheel of a vehicle.
template <auto member>
void read_wheels(const Task&, const EnvState& env, size_t vehicle, double* out) {
  for (const WheelState& wheel : wheel_states(env.simulation, vehicle)) *out++ = wheel.*member;
}
template <auto member>
void read_slips(const Task&, const EnvState& env, size_t vehicle, double* out) {
  const size_t count = env.simulation.model().vehicles[vehicle].wheels.size();
  for (size_t i = 0; i < count; ++i) *out++ = wheel_slip(env.simulation, vehicle, i).*member;
}

void check_goal(const Task&, const EnvState& env, size_t, const std::string& name, const double* v) {
  check_pose(env.simulation.model(), {v[0], v[1], 0}, name);
}

void check_vehicle_pose(const Task&, const EnvState& env, size_t index, const std::string& name,
                        const double* v) {
  const Model& m = env.simulation.model();
  check_not_animated(m, BodyKind::kVehicle, index);
  check_pose(m, pose_of(v), name);
}

void check_vehicle_twist(const Task&, const EnvState& env, size_t index, const std::string& name,
                         const double* v) {
  check_not_animated(env.simulation.model(), BodyKind::kVehicle, index);
  check_twist(twist_of(v), name);
}

void check_block_pose(const Task&, const EnvState& env, size_t index, const std::string& name,
                      const double* v) {
  const Model& m = env.simulation.model();
  check_not_animated(m, BodyKind::kBlock, index);
  check_placeable(m, index);
  check_pose(m, pose_of(v), name);
}

void check_block_twist(const Task&, const EnvState& env, size_t index, const std::string& name,
                       const double* v) {
  check_not_animated(env.simulation.model(), BodyKind::kBlock, index);
  check_can_move(env.simulation.model(), index);
  check_twist(twist_of(v), name);
}

void read_goal(const Task&, const EnvState& env, size_t agent, double* out) {
  put(out, env.agents[agent].goal);
}
void write_goal(const Task& task, EnvState& env, size_t agent, const double* v) {
  set_goal(task, env, agent, {v[0], v[1]});
}
// The heading of the goal, which follows from its position (task/terms.h).
void read_goal_yaw(const Task& task, const EnvState& env, size_t agent, double* out) {
  *out = task.agents[agent].start_and_goal.goal_poses()->heading(env.agents[agent].goal);
}
void read_action(const Task&, const EnvState& env, size_t agent, double* out) {
  std::ranges::copy(env.agents[agent].action, out);
}
void read_previous_action(const Task&, const EnvState& env, size_t agent, double* out) {
  std::ranges::copy(env.agents[agent].previous_action, out);
}

// The pose from which the agent's observations start: the true one without <localization>.
void read_estimated_pose(const Task& task, const EnvState& env, size_t agent, double* out) {
  const auto* const localization = find_tracker<LocalizationTracker>(task.trackers);
  put(out, localization ? localization->seen(env.agents[agent]) : env.agents[agent].now.pose);
}

// Checks the velocity of a body for the coming period, which only the policy `python` accepts.
void check_body_velocity(const Task& task, const EnvState&, size_t index, const std::string& name,
                         const double* v) {
  const Movers::Body& body = task.movers->bodies()[index];
  if (!task.movers->group_of(body).policy->is_moved_by_caller())
    throw Error(name + " is set by its policy, expected a body with policy=\"python\"");
  check_twist({v[0], v[1], 0}, name);
}

void check_speed(const Task&, const EnvState&, size_t, const std::string& name, const double* v) {
  constexpr double kFastest = 100;  // m/s
  if (!(*v >= 0 && *v <= kFastest)) throw Error(name + ": expected a speed from 0 to 100 m/s");
}

constexpr Quantity kQuantities[] = {
    {Owner::kEnv, "time", 1,
     [](const Task&, const EnvState& e, size_t, double* out) { *out = e.simulation.state().time; }},
    // of the first agent, or of the agent of the row
    {Owner::kEnv, "goal", 2, read_goal, check_goal, write_goal},
    {Owner::kEnv, "goal_yaw", 1, read_goal_yaw},
    {Owner::kEnv, "action", 0, read_action},
    {Owner::kEnv, "previous_action", 0, read_previous_action},
    {Owner::kAgent, "goal", 2, read_goal, check_goal, write_goal},
    {Owner::kAgent, "goal_yaw", 1, read_goal_yaw},
    {Owner::kAgent, "action", 0, read_action},
    {Owner::kAgent, "previous_action", 0, read_previous_action},
    {Owner::kAgent, "estimated_pose", 3, read_estimated_pose},
    {Owner::kVehicle, "pose", 3,
     [](const Task&, const EnvState& e, size_t i, double* out) {
       put(out, body_pose(e.simulation, e.simulation.model().vehicles[i].body));
     },
     check_vehicle_pose,
     [](const Task&, EnvState& e, size_t i, const double* v) { e.simulation.place_vehicle(i, pose_of(v)); }},
    {Owner::kVehicle, "twist", 3, read_of<vehicle_twist>, check_vehicle_twist,
     [](const Task&, EnvState& e, size_t i, const double* v) {
       e.simulation.set_vehicle_twist(i, twist_of(v));
     }},
    {Owner::kVehicle, "attitude", 3,
     [](const Task&, const EnvState& e, size_t i, double* out) {
       const VehicleState& v = e.simulation.state().vehicles[i];
       out[0] = v.z, out[1] = v.pitch, out[2] = v.roll;
     }},
    {Owner::kVehicle, "acceleration", 2, read_of<vehicle_acceleration>},
    {Owner::kVehicle, "odometry", 3,
     [](const Task&, const EnvState& e, size_t i, double* out) {
       put(out, e.simulation.state().vehicles[i].odometry);
     }},
    {Owner::kVehicle, "odometry_twist", 3, read_of<vehicle_odometry_twist>},
    {Owner::kVehicle, "collision", 1,
     [](const Task&, const EnvState& e, size_t i, double* out) {
       *out = had_collision(e.simulation, i) ? 1 : 0;
     }},
    {Owner::kVehicle, "wheel_spin", 0, read_wheels<&WheelState::spin>},
    {Owner::kVehicle, "wheel_steer", 0, read_wheels<&WheelState::steer>},
    {Owner::kVehicle, "wheel_torque", 0, read_wheels<&WheelState::torque>},
    {Owner::kVehicle, "wheel_load", 0, read_wheels<&WheelState::load>},
    {Owner::kVehicle, "wheel_slip_ratio", 0, read_slips<&WheelSlip::ratio>},
    {Owner::kVehicle, "wheel_slip_angle", 0, read_slips<&WheelSlip::angle>},
    {Owner::kBlock, "pose", 3, read_of<block_plane_pose>, check_block_pose,
     [](const Task&, EnvState& e, size_t i, const double* v) { e.simulation.place_block(i, pose_of(v)); }},
    {Owner::kBlock, "twist", 3, read_of<block_twist>, check_block_twist,
     [](const Task&, EnvState& e, size_t i, const double* v) {
       e.simulation.set_block_twist(i, twist_of(v));
     }},
    // of bodies that policies of the environment move
    {Owner::kBody, "pose", 3,
     [](const Task& t, const EnvState& e, size_t i, double* out) { put(out, t.movers->pose(e, i)); }},
    {Owner::kBody, "velocity", 2,
     [](const Task& t, const EnvState& e, size_t i, double* out) { put(out, t.movers->velocity(e, i)); },
     check_body_velocity,
     [](const Task&, EnvState& e, size_t i, const double* v) {
       e.movers[i].asked = {v[0], v[1]};
     }},
    {Owner::kBody, "goal", 2,
     [](const Task&, const EnvState& e, size_t i, double* out) { put(out, e.movers[i].goal); }, check_goal,
     [](const Task&, EnvState& e, size_t i, const double* v) {
       e.movers[i].goal = {v[0], v[1]};
     }},
    {Owner::kBody, "speed", 1,
     [](const Task&, const EnvState& e, size_t i, double* out) { *out = e.movers[i].speed; }, check_speed,
     [](const Task&, EnvState& e, size_t i, const double* v) { e.movers[i].speed = *v; }},
    {Owner::kBody, "radius", 1,
     [](const Task& t, const EnvState&, size_t i, double* out) { *out = t.movers->bodies()[i].radius; }},
};

// A parsed name: "agent:", "vehicle:", "block:" or "body:", the pattern of the name, and the quantity.
struct Asked {
  Owner owner = Owner::kEnv;
  std::string_view pattern, quantity;
};

Asked parse(std::string_view name) {
  const size_t slash = name.rfind('/');
  for (const auto& [prefix, owner] : {std::pair{std::string_view("agent:"), Owner::kAgent},
                                      {std::string_view("vehicle:"), Owner::kVehicle},
                                      {std::string_view("block:"), Owner::kBlock},
                                      {std::string_view("body:"), Owner::kBody}})
    if (name.starts_with(prefix) && slash != std::string_view::npos && slash >= prefix.size())
      return {owner, name.substr(prefix.size(), slash - prefix.size()), name.substr(slash + 1)};
  return {Owner::kEnv, "", name};
}

const Quantity* find_row(Owner owner, std::string_view name) {
  const auto* const it = std::find_if(std::begin(kQuantities), std::end(kQuantities),
                                      [&](const Quantity& q) { return q.owner == owner && q.name == name; });
  return it == std::end(kQuantities) ? nullptr : it;
}

// Whether a task lacks what a quantity of its agents is about: a goal, or a heading of the goal.
bool lacks(const Task& task, std::string_view quantity) {
  const StartAndGoal& places = task.agents.front().start_and_goal;
  return (quantity.ends_with("goal") && !places.has_goal()) ||
         (quantity.ends_with("goal_yaw") && !places.goal_poses());
}

template <typename Thing>
void add_matching(const std::vector<Thing>& things, const char* kind, const Asked& asked,
                  const Quantity& quantity, QuantityList& list) {
  for (size_t i = 0; i < things.size(); ++i)
    if (matches_pattern(asked.pattern, things[i].name))
      list.items.push_back({&quantity, i, kind + things[i].name + "/" + std::string(quantity.name)});
}

[[noreturn]] void fail_unknown(const Task& task, const EnvState& env, const std::string& name) {
  const Model& model = env.simulation.model();
  std::vector<std::string> known = quantity_names(task, env);
  for (const ParamEntry& entry : model.params) known.push_back(entry.path);
  const std::string meant = did_you_mean(name, known);
  throw Error("found '" + shortened(name, 120) + "', which this environment does not have" + meant +
              (meant.empty() ? ", expected for example time, goal, vehicle:" + model.vehicles.front().name +
                                   "/pose, block:*/pose, or a parameter (mvsim-gym parameters lists all)"
                             : ""));
}

size_t size_of(const QuantityRef& item, const EnvState& env) {
  if (!item.quantity) return 1;
  if (item.quantity->size > 0) return item.quantity->size;
  const Owner owner = item.quantity->owner;
  return owner == Owner::kEnv || owner == Owner::kAgent
             ? env.agents[item.index].action.size()
             : env.simulation.model().vehicles[item.index].wheels.size();
}

}  // namespace

std::vector<std::string> quantity_names(const Task& task, const EnvState& env) {
  const Model& model = env.simulation.model();
  std::vector<std::string> names;
  const auto add = [&](Owner owner, const std::string& thing) {
    for (const Quantity& q : kQuantities)
      if (q.owner == owner) names.push_back(thing + std::string(q.name));
  };
  add(Owner::kEnv, "");
  for (const AgentTask& agent : task.agents)
    add(Owner::kAgent, "agent:" + model.vehicles[agent.vehicle].name + "/");
  std::erase_if(names, [&](const std::string& name) { return lacks(task, name); });
  for (const VehicleModel& v : model.vehicles) add(Owner::kVehicle, "vehicle:" + v.name + "/");
  for (const BlockModel& b : model.blocks) add(Owner::kBlock, "block:" + b.name + "/");
  if (task.movers)
    for (const Movers::Body& b : task.movers->bodies()) add(Owner::kBody, "body:" + b.name + "/");
  return names;
}

QuantityList find_quantities(const Task& task, const EnvState& env, const std::string& name) {
  const Model& model = env.simulation.model();
  const Asked asked = parse(name);
  const Quantity* const row = find_row(asked.owner, asked.quantity);
  QuantityList list;
  list.is_pattern = name.find('*') != std::string::npos;
  if (row && (asked.owner == Owner::kEnv || asked.owner == Owner::kAgent) && lacks(task, asked.quantity)) {
    fail_unknown(task, env, name);
  } else if (row && asked.owner == Owner::kAgent) {
    for (size_t a = 0; a < task.agents.size(); ++a) {
      const std::string& vehicle = model.vehicles[task.agents[a].vehicle].name;
      if (matches_pattern(asked.pattern, vehicle))
        list.items.push_back({row, a, "agent:" + vehicle + "/" + std::string(row->name)});
    }
  } else if (row && asked.owner == Owner::kVehicle) {
    add_matching(model.vehicles, "vehicle:", asked, *row, list);
  } else if (row && asked.owner == Owner::kBlock) {
    add_matching(model.blocks, "block:", asked, *row, list);
  } else if (row && asked.owner == Owner::kBody) {
    if (task.movers) add_matching(task.movers->bodies(), "body:", asked, *row, list);
  } else if (row) {
    list.items.push_back({row, 0, name});
  } else {
    for (const size_t i : model.find_params(name)) list.items.push_back({nullptr, i, model.params[i].path});
  }
  if (list.items.empty()) fail_unknown(task, env, name);
  list.size = size_of(list.items[0], env);
  list.is_scalar = !row || row->size == 1;
  for (const QuantityRef& item : list.items)
    if (size_of(item, env) != list.size)
      throw Error(item.name + " has " + std::to_string(size_of(item, env)) + " numbers, " +
                  list.items[0].name + " has " + std::to_string(list.size) + ": expected one at a time");
  return list;
}

void read_quantities(const Task& task, const EnvState& env, const QuantityList& list, std::span<double> out,
                     size_t agent) {
  double* at = out.data();
  for (const QuantityRef& item : list.items) {
    if (item.quantity)
      item.quantity->read(task, env, item.quantity->owner == Owner::kEnv ? agent : item.index, at);
    else
      *at = given_value(env.simulation.model().params[item.index], env.simulation.state().params[item.index]);
    at += list.size;
  }
}

void check_quantities(const Task& task, const EnvState& env, const QuantityList& list,
                      std::span<const double> values) {
  const Model& model = env.simulation.model();
  const double* at = values.data();
  for (const QuantityRef& item : list.items) {
    if (!item.quantity) {
      static_cast<void>(settable_params(model, item.name));
      static_cast<void>(stored_value(model.params[item.index], *at));
    } else if (!item.quantity->check) {
      throw Error(item.name +
                  " follows from the rest and cannot be set, expected a pose, a twist, the goal "
                  "or a parameter");
    } else {
      item.quantity->check(task, env, item.index, item.name, at);
    }
    at += list.size;
  }
}

void write_quantities(const Task& task, EnvState& env, const QuantityList& list,
                      std::span<const double> values) {
  const double* at = values.data();
  for (const QuantityRef& item : list.items) {
    if (item.quantity)
      item.quantity->write(task, env, item.index, at);
    else
      env.simulation.set_param(item.index, stored_value(env.simulation.model().params[item.index], *at));
    at += list.size;
  }
  measure_again(task, env);
}

}  // namespace mvsim
