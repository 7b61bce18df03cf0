#include "task/compile_parts.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "model/compile_parts.h"
#include "task/track/localization.h"

namespace mvsim {
namespace {

constexpr int kMaxFrames = 1000;  // of a history

size_t find_vehicle(const EnvSpec& spec, const AgentSpec& agent, const Model& model) {
  if (model.vehicles.empty())
    throw WorldFileError(spec.world.where, about("world", spec.world.where) + "'" +
                                               shortened(spec.world.text) +
                                               "' has no vehicle, expected one to act with");
  if (agent.vehicle.empty()) return 0;
  try {
    return model.vehicle_index(agent.vehicle);
  } catch (const Error& e) {
    throw WorldFileError(agent.vehicle_where, about("vehicle", agent.vehicle_where) + e.what());
  }
}

// Returns the agents of a file, one for each vehicle that a pattern matches.
std::vector<AgentSpec> agents_of(const EnvSpec& spec, const Model& model) {
  std::vector<AgentSpec> out;
  for (const AgentSpec& agent : spec.agents) {
    const size_t before = out.size();
    if (agent.vehicles.empty()) {
      out.push_back(agent);
      continue;
    }
    std::vector<std::string> known;
    for (const VehicleModel& v : model.vehicles) {
      known.push_back(v.name);
      if (!matches_pattern(agent.vehicles, v.name)) continue;
      out.push_back(agent);
      out.back().vehicle = v.name;
    }
    if (out.size() == before)
      throw WorldFileError(agent.vehicle_where, "<agent>, vehicles: found '" + shortened(agent.vehicles) +
                                                    "', which matches no vehicle of the world" +
                                                    did_you_mean(agent.vehicles, known));
  }
  if (out.size() > kMaxAgents)
    throw WorldFileError(spec.agents.front().where, "<agent>: found " + std::to_string(out.size()) +
                                                        " agents, expected at most " +
                                                        std::to_string(kMaxAgents));
  return out;
}

// Reserves `count` values behind `size`, at a multiple of `alignment`. Returns the offset of the first.
size_t take(size_t& size, size_t count, size_t alignment = 1) {
  const size_t begin = (size + alignment - 1) / alignment * alignment;
  size = begin + count;
  return begin;
}

void check_bounds(const TermReader& reader, const Observation& term, const std::vector<Interval>& bounds) {
  size_t count = 1;
  for (const size_t n : term.shape()) count *= n;
  if (count != bounds.size()) reader.fail("class", "its shape and its bounds differ in size");
  if (const auto max = static_cast<double>(max_value_of(term.dtype())); max > 0)
    for (const Interval& b : bounds)
      if (b.low < 0 || b.high > max)
        reader.fail("class", "its bounds exceed the values of " + std::string(name_of(term.dtype())));
}

// Returns the spec of a row. One-dimensional frames are joined end to end; others get a leading dimension.
ObservationSpec row_spec(const std::string& key, const ObservationSlot& slot) {
  ObservationSpec out{.key = key, .dtype = slot.dtype, .shape = slot.term->shape(), .low = {}, .high = {}};
  const auto history = static_cast<size_t>(slot.history);
  if (out.shape.size() == 1)
    out.shape[0] *= history;
  else if (history > 1)
    out.shape.insert(out.shape.begin(), history);
  for (size_t h = 0; h < history; ++h)
    for (size_t i = 0; i < slot.low.size(); ++i) {
      if (slot.changes && h > 0) {
        const float range = !slot.normalize ? slot.high[i] - slot.low[i] : slot.low[i] < 0 ? 2.0f : 1.0f;
        out.low.push_back(-range), out.high.push_back(range);
        continue;
      }
      out.low.push_back(!slot.normalize ? slot.low[i] : slot.low[i] < 0 ? -1.0f : 0.0f);
      out.high.push_back(slot.normalize ? 1.0f : slot.high[i]);
    }
  return out;
}

ObservationSpec compile_observation(const TermSpec& term, TaskContext& context, LoadGuard& guard,
                                    AgentTask& agent) {
  TermReader reader(term);
  ObservationSlot slot;
  slot.term = make_term(reader, context, observation_classes(), more_observation_classes());
  slot.normalize = reader.boolean("normalize", false);
  slot.history = reader.integer("history", 1, 1, kMaxFrames);
  slot.stride = reader.integer("stride", 1, 1, kMaxFrames);
  slot.changes = reader.boolean("changes", false);
  reader.finish();
  slot.dtype = slot.term->dtype();
  if (slot.normalize && slot.dtype != DType::kFloat32)
    reader.fail("normalize", "its values are " + std::string(name_of(slot.dtype)) +
                                 ", expected an observation of float32");
  if (slot.changes && (slot.history == 1 || slot.dtype != DType::kFloat32))
    reader.fail("changes", "expected an observation of float32 with a history of 2 or more");
  if (slot.stride > 1 && slot.history == 1)
    reader.fail("stride", "found without a history, expected one of 2 frames or more");
  if (slot.kept() > size_t{kMaxFrames})
    reader.fail("stride", "found a history of " + std::to_string(slot.kept()) +
                              " control periods, expected at most " + std::to_string(kMaxFrames));
  const std::vector<Interval> bounds = slot.term->bounds();
  check_bounds(reader, *slot.term, bounds);
  // bounds, history and result of one env; for pictures also their recipes
  double bytes = static_cast<double>(bounds.size() * slot.kept()) *
                 static_cast<double>(2 * sizeof(float) + 2 * size_of(slot.dtype));
  if (const Picture* picture = slot.term->picture())
    bytes += static_cast<double>(picture->recipe_size() * sizeof(double) * slot.kept());
  guard.take(bytes, term.params.where, describe(term));
  const auto max = static_cast<double>(max_value_of(slot.dtype));
  slot.clips = max == 0;
  for (const Interval& b : bounds) {
    slot.low.push_back(static_cast<float>(b.low));
    slot.high.push_back(static_cast<float>(b.high));
    slot.clips = slot.clips || b.low > 0 || b.high < max;
  }
  slot.clips = slot.normalize || (slot.clips && !slot.term->keeps_bounds());
  slot.frame_bytes = bounds.size() * size_of(slot.dtype);
  if (slot.history > 1)
    slot.first_frame = take(agent.frames_size, slot.kept() * slot.frame_bytes, size_of(slot.dtype));
  if (slot.is_picture())
    slot.first_recipe = take(agent.recipes_size, slot.kept() * slot.term->picture()->recipe_size());
  slot.index = agent.observations.size();
  ObservationSpec spec = row_spec(term.name, slot);
  agent.observations.push_back(std::move(slot));
  return spec;
}

// Refuses <spawn> and <goal> beside <line_up>, which gives agents their starts and leaves no goals.
void refuse_two_starts(const std::vector<TermSpec>& resets) {
  const auto find = [&](std::string_view tag) {
    return std::find_if(resets.begin(), resets.end(), [&](const TermSpec& t) { return t.params.tag == tag; });
  };
  if (find("line_up") == resets.end()) return;
  for (const char* other : {"spawn", "goal"})
    if (const auto found = find(other); found != resets.end())
      throw WorldFileError(found->params.where,
                           describe(*found) + ": found beside <line_up>, expected one of them");
}

// Compiles the reset terms. Each agent has a start and a goal of its own; the other terms run once for the
// world.
void compile_resets(TaskContext& context, AgentTask& agent, bool is_first, Task& task) {
  refuse_two_starts(task.spec.resets);
  for (const TermSpec& term : task.spec.resets) {
    TermReader reader(term);
    if (term.params.tag == "spawn") {
      agent.start_and_goal.read_spawn(reader, context);
    } else if (term.params.tag == "goal") {
      agent.start_and_goal.read_goal(reader, context);
    } else if (term.params.tag == "line_up") {
      task.line_up.emplace(reader, context);
    } else {
      std::vector<std::string> known{"spawn", "goal", "line_up"};
      for (const auto& c : reset_classes()) known.emplace_back(c.name);
      if (std::find(known.begin(), known.end(), term.params.tag) == known.end()) {
        throw WorldFileError(term.params.where, "<reset>: found the unknown tag '" + term.params.tag + "', " +
                                                    expected_one_of(term.params.tag, known));
      }
      if (!is_first) continue;
      task.resets.push_back(make_term(reader, context, reset_classes()));
    }
    reader.finish();
  }
}

// Warns of actions with commands that are larger than the limits of a step (model/compile_parts.h).
void check_action_limits(const TermSpec& term, const TaskContext& context, Task& task) {
  const double most = kMostTravel / task.substep, most_turn = kMostTurn / task.substep;
  if (context.vx_max <= most && context.omega_max <= most_turn) return;
  char text[300];
  std::snprintf(
      text, sizeof text,
      ": found commands of up to %.3g m/s and %.3g rad/s, but a step of %.3g s moves a vehicle by at "
      "most 2 m and a quarter turn, that is %.3g m/s and %.3g rad/s; expected smaller limits or a "
      "smaller step",
      context.vx_max, context.omega_max, task.substep, most, most_turn);
  task.warnings.push_back(printable(term.params.where.text() + ": " + describe(term) + text));
}

Then read_then(TermReader& reader, const TaskContext& context) {
  const auto then = static_cast<Then>(reader.choice("then", {"stay", "leave", "end_all"}));
  const int group = context.model.bodies[context.model.vehicles[context.vehicle].body].joint_group;
  if (then == Then::kLeave && group >= 0 && context.model.joint_groups[static_cast<size_t>(group)].tied)
    reader.fail("then", "the robot is joined to a static block and cannot leave");
  return then;
}

std::vector<ObservationSpec> compile_agent(const AgentSpec& spec, std::span<const size_t> vehicles,
                                           Task& task, LoadGuard& guard) {
  const bool is_first = task.agents.empty();
  AgentTask& agent = task.agents.emplace_back();
  agent.vehicle = vehicles[task.agents.size() - 1];
  TaskNeeds needs;
  for (const auto& tracker : task.trackers) {
    agent.trackers.push_back(tracker.get());
    needs.memory_size += tracker->memory_size();
  }
  TaskContext context{.model = *task.models.front(),
                      .vehicle = agent.vehicle,
                      .agents = vehicles,
                      .control_period = task.control_period,
                      .trackers = task.trackers,
                      .needs = needs};
  compile_resets(context, agent, is_first, task);
  context.has_goal = agent.start_and_goal.has_goal();
  context.goal_poses = agent.start_and_goal.goal_poses();
  {
    TermReader reader(spec.action);
    agent.action = make_term(reader, context, action_classes());
    reader.finish();
    agent.action_components = agent.action->components();
    context.action_size = agent.action_components.size();
    for (size_t i = 0; i < context.action_size; ++i)
      if (agent.action_components[i].name == "steer")
        context.steer_component = i, context.steer_max = agent.action_components[i].high;
  }
  if (is_first) check_action_limits(spec.action, context, task);
  for (const TermSpec& term : spec.terminations) {
    TermReader reader(term);
    agent.terminations.push_back(make_term(reader, context, termination_classes()));
    agent.termination_names.push_back(term.name);
    agent.termination_then.push_back(read_then(reader, context));
    reader.finish();
  }
  if (context.goal_radius > 0) agent.goal_radius = context.goal_radius;
  agent.start_and_goal.finish(context);
  std::vector<ObservationSpec> observations;
  for (const TermSpec& term : spec.observations)
    observations.push_back(compile_observation(term, context, guard, agent));
  for (const TermSpec& term : spec.rewards) {
    TermReader reader(term);
    WeightedReward reward{term.name, reader.number("weight", 1), reader.number("share", 0, {0, 1}),
                          make_term(reader, context, reward_classes())};
    reader.finish();
    task.shares_rewards = task.shares_rewards || reward.share > 0;
    agent.rewards.push_back(std::move(reward));
  }
  agent.needs_path = needs.path || agent.start_and_goal.is_geodesic();
  if (const auto* const found = find_tracker<LocalizationTracker>(task.trackers);
      found && is_first && !needs.localization)
    task.warnings.push_back(
        printable(found->where().text() + ": <localization> has no effect: no observation needs a pose"));
  agent.clearance_limit = std::max(agent.clearance_limit, needs.clearance_limit);
  agent.memory_size = needs.memory_size;
  agent.own_trackers = std::move(needs.trackers);
  for (const auto& tracker : agent.own_trackers) agent.trackers.push_back(tracker.get());
  task.warnings.insert(task.warnings.end(), needs.warnings.begin(), needs.warnings.end());
  task.scheduled_sensors.insert(task.scheduled_sensors.end(), needs.scheduled_sensors.begin(),
                                needs.scheduled_sensors.end());
  return observations;
}

bool same(const ObservationSpec& a, const ObservationSpec& b) {
  return a.key == b.key && a.dtype == b.dtype && a.shape == b.shape && a.low == b.low && a.high == b.high;
}

bool same(const ActionComponent& a, const ActionComponent& b) {
  return a.name == b.name && a.low == b.low && a.high == b.high;
}

// Checks that all agents act and observe alike, since their rows are in one array. Each has a vehicle of its
// own.
void check_alike(const AgentSpec& spec, const Task& task, const std::vector<ObservationSpec>& observations) {
  const AgentTask &first = task.agents.front(), &agent = task.agents.back();
  for (size_t i = 0; i + 1 < task.agents.size(); ++i)
    if (task.agents[i].vehicle == agent.vehicle)
      throw WorldFileError(spec.vehicle_where,
                           "<agent>: found the vehicle '" +
                               task.models.front()->vehicles[agent.vehicle].name +
                               "' of another agent, expected one of its own (attribute 'vehicle')");
  const auto equal = [](const auto& a, const auto& b) { return same(a, b); };
  if (!std::equal(agent.action_components.begin(), agent.action_components.end(),
                  first.action_components.begin(), first.action_components.end(), equal))
    throw WorldFileError(spec.where,
                         "<agent>: found another action than that of the first agent, expected "
                         "the same components and limits");
  if (!std::equal(observations.begin(), observations.end(), task.observation_specs.begin(),
                  task.observation_specs.end(), equal))
    throw WorldFileError(spec.where,
                         "<agent>: found other observations than those of the first agent, "
                         "expected the same names, types, shapes and bounds");
}

// Checks shared rewards. Their shared part is the mean of one term over all agents, so all must have the
// term.
void check_shares(const AgentSpec& spec, const Task& task) {
  const std::vector<WeightedReward>&first = task.agents.front().rewards, &own = task.agents.back().rewards;
  for (size_t k = 0; k < std::max(first.size(), own.size()); ++k) {
    const bool both = k < first.size() && k < own.size();
    const bool shared = (k < first.size() && first[k].share > 0) || (k < own.size() && own[k].share > 0);
    if (shared && !(both && first[k].name == own[k].name && first[k].share == own[k].share))
      throw WorldFileError(spec.where,
                           "<reward>, share: found a reward that not all agents have alike, expected "
                           "it beside the agents, where it is of all");
  }
}

}  // namespace

void compile_agents(Task& task, LoadGuard& guard) {
  const std::vector<AgentSpec> agents = agents_of(task.spec, *task.models.front());
  std::vector<size_t> vehicles;
  for (const AgentSpec& spec : agents)
    vehicles.push_back(find_vehicle(task.spec, spec, *task.models.front()));
  for (const AgentSpec& spec : agents) {
    std::vector<ObservationSpec> observations = compile_agent(spec, vehicles, task, guard);
    if (task.agents.size() == 1)
      task.observation_specs = std::move(observations);
    else
      check_alike(spec, task, observations), check_shares(spec, task);
  }
  const std::vector<ObservationSlot>& slots = task.agents.front().observations;
  task.has_pictures =
      std::any_of(slots.begin(), slots.end(), [](const ObservationSlot& s) { return s.is_picture(); });
}

}  // namespace mvsim
