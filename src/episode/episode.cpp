#include "episode/episode.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/transfer_params.h"
#include "task/plan/shortest_path.h"

namespace mvsim {
namespace {

// m from the walls to robots that were taken out of the world, which is beyond the range of any lidar.
constexpr double kAway = 1000, kApartThere = 20;
constexpr Vec2 kNowhere{1e30, 1e30};

void look(const AgentTask& task, const EnvState& env, AgentState& agent, uint8_t contacts) {
  const Simulation& s = env.simulation;
  const Pose3 pose = vehicle_pose(s, task.vehicle);
  measure_motion(task, {pose.x, pose.y, pose.yaw}, vehicle_twist(s, task.vehicle), agent);
  agent.now.clearance = clearance(s, task.vehicle, task.clearance_limit);
  agent.now.contacts = contacts;
}

// Calls work(tracker, view) for each tracker of an agent.
template <typename Work>
void for_trackers(const Task& task, const AgentTask& agent_task, const EnvState& env, AgentState& agent,
                  const Work& work) {
  const TrackerView view{env, agent, agent_task.vehicle, task.substeps * task.substep, agent.now.pose};
  for (const Tracker* const tracker : agent_task.trackers) work(*tracker, view);
}

void measure(const Task& task, const AgentTask& agent_task, const EnvState& env, AgentState& agent,
             uint8_t contacts) {
  look(agent_task, env, agent, contacts);
  agent.min_clearance = std::min(agent.min_clearance, agent.now.clearance);
  for_trackers(task, agent_task, env, agent, [](const Tracker& t, const TrackerView& v) { t.measure(v); });
}

std::shared_ptr<const PlanningGrid> planning_grid(const Task& task, const AgentTask& agent_task,
                                                  const EnvState& env, const Poll& poll) {
  if (!agent_task.needs_path) return nullptr;
  if (task.static_world) return agent_task.grids[env.variant];
  const StartAndGoal& places = agent_task.start_and_goal;
  return std::make_shared<const PlanningGrid>(make_planning_grid(
      env.simulation, agent_task.vehicle, places.planning_cell(), places.inflation(), poll));
}

std::shared_ptr<const GoalField> goal_field(const Task& task, const AgentTask& agent_task,
                                            const EnvState& env,
                                            const std::shared_ptr<const PlanningGrid>& grid, Vec2 goal,
                                            const Poll& poll) {
  if (task.static_world) return agent_task.fields->get(env.variant, grid, goal, poll);
  return std::make_shared<const GoalField>(grid, goal, poll);
}

Pose2 away(const Rect& bounds, size_t agent) {
  return {bounds.x_max + kAway + kApartThere * static_cast<double>(agent), bounds.y_max + kAway, 0};
}

void place_agent(const Task& task, size_t index, EnvState& env, const Poll& poll) {
  const AgentTask& agent_task = task.agents[index];
  if (task.line_up) return task.line_up->place_one(env, index, poll);
  const auto grid = planning_grid(task, agent_task, env, poll);
  const auto field_of = [&](Vec2 goal) { return goal_field(task, agent_task, env, grid, goal, poll); };
  agent_task.start_and_goal.apply(env, index, grid.get(), field_of, poll);
}

// Places the agents. Those with a pose from the caller come first, so that the others keep away from them.
void place_agents(const Task& task, EnvState& env, const Poll& poll) {
  const size_t count = task.agents.size();
  if (count > 1)  // goals of the last episode must not be in the way
    for (size_t a = 0; a < count; ++a) env.agents[a].goal = given_start(env, a).goal.value_or(kNowhere);
  if (task.line_up) return task.line_up->place_all(env, poll);
  Simulation& s = env.simulation;
  const auto has_pose = [](const GivenStart& given) { return given.pose.has_value(); };
  if (count > 1 && std::ranges::any_of(env.given, has_pose))  // neither must agents that are placed later
    for (size_t a = 0; a < count; ++a)
      s.place_vehicle(task.agents[a].vehicle, env.given[a].pose.value_or(away(s.model().bounds, a)));
  for (const bool first : {true, false})
    for (size_t a = 0; a < count; ++a)
      if (has_pose(given_start(env, a)) == first) place_agent(task, a, env, poll);
}

// Evaluates the terminations. An agent that reaches its goal in a collision has failed.
void check_terminations(const AgentTask& task, const EnvState& env, AgentState& agent) {
  bool won = false, lost = false;
  for (size_t i = 0; i < task.terminations.size(); ++i) {
    const Termination& t = *task.terminations[i];
    if (!t.holds(env, agent)) continue;
    (t.verdict() == Verdict::kSuccess ? won : lost) = true;
    agent.then = std::max(agent.then, task.termination_then[i]);
  }
  agent.success = won && !lost;
  if (won || lost) agent.end = EpisodeEnd::kTerminated;
}

// Whether the ends of the agents of an env end its episode.
bool is_over(const Task& task, const std::vector<AgentState>& agents) {
  bool any = false, all = true;
  for (const AgentState& agent : agents) {
    const bool ended = agent.end != EpisodeEnd::kNone;
    if (ended && agent.then == Then::kEndAll) return true;
    any = any || ended;
    all = all && ended;
  }
  if (respawns(task)) return false;
  return task.spec.on_end == OnEnd::kEndAll ? any : all;
}

// Stops a robot at the end of its episode: its command becomes zero, or it is taken out of the world.
void set_aside(const Task& task, EnvState& env, size_t index) {
  const AgentTask& agent_task = task.agents[index];
  AgentState& agent = env.agents[index];
  Simulation& s = env.simulation;
  if (std::exchange(agent.waits, true)) return;
  double values[kMaxCommand];
  for (size_t i = 0; i < agent_task.action_components.size(); ++i)
    values[i] = std::clamp(0.0, agent_task.action_components[i].low, agent_task.action_components[i].high);
  agent_task.action->apply(s, values);
  if (agent.then != Then::kLeave) return;
  s.place_vehicle(agent_task.vehicle, away(s.model().bounds, index));
}

double sum_rewards(const AgentTask& task, const EnvState& env, AgentState& agent) {
  double reward = 0;
  for (size_t i = 0; i < task.rewards.size(); ++i) {
    const WeightedReward& r = task.rewards[i];
    const double value = (1 - r.share) * (r.weight * r.term->value(env, agent));
    agent.reward_sums[i] += value;
    reward += value;
  }
  return reward;
}

// Adds the shared part of each reward: the mean over the agents that took the step.
void pay_shares(const Task& task, EnvState& env, std::span<double> rewards) {
  const std::vector<WeightedReward>& terms = task.agents.front().rewards;  // the same in all agents
  for (size_t k = 0; k < terms.size(); ++k) {
    if (terms[k].share == 0) continue;
    double sum = 0, count = 0;
    for (size_t a = 0; a < env.agents.size(); ++a) {
      if (env.agents[a].waits) continue;
      const WeightedReward& own = task.agents[a].rewards[k];
      sum += own.weight * own.term->value(env, env.agents[a]);
      ++count;
    }
    for (size_t a = 0; a < env.agents.size(); ++a) {
      if (env.agents[a].waits) continue;
      const double part = terms[k].share * (sum / count);
      env.agents[a].reward_sums[k] += part;
      rewards[a] += part;
    }
  }
}

// Prepares the world for the episode: variant, parameters, blocks.
void prepare_world(const Task& task, EnvState& env, uint32_t episode, const Poll& poll) {
  if (task.models.size() > 1) {
    RandomStream pick(env.key, episode, StreamPurpose::kVariant);
    env.variant = pick.below(static_cast<uint32_t>(task.models.size()));
  }
  Simulation& s = env.simulation;
  if (&s.model() != task.models[env.variant].get())
    s.change_model(task.models[env.variant], env.key, episode);
  else
    s.reset(env.key, episode);
  for (size_t i = 0; i < s.model().sensors.size(); ++i) s.set_sensor_scheduled(i, false);
  for (size_t i : task.scheduled_sensors) s.set_sensor_scheduled(i, true);
  for (size_t i = 0; i < task.level_randomizations.size(); ++i) {
    RandomStream random(env.key, episode, StreamPurpose::kRandomizeLevel, static_cast<uint16_t>(i));
    task.level_randomizations[i].apply(s, random);
  }
  for (size_t i = 0; i < task.randomizations.size(); ++i) {
    RandomStream random(env.key, episode, StreamPurpose::kRandomize, static_cast<uint16_t>(i));
    task.randomizations[i].apply(s, random);
  }
  apply_held(env);
  for (size_t i = 0; i < task.resets.size(); ++i) {
    RandomStream random(env.key, episode, StreamPurpose::kPlaceBlocks, static_cast<uint16_t>(i));
    task.resets[i]->apply(env, random, poll);
  }
  if (task.movers) task.movers->start(env, poll);
}

void begin_period(AgentState& agent) {
  agent.before = {agent.now.goal_distance, agent.now.path_distance, agent.now.contacts};
  agent.last = {agent.now.pose.x, agent.now.pose.y};
}

void start_agent(const Task& task, const AgentTask& agent_task, const EnvState& env, AgentState& agent) {
  agent.end = EpisodeEnd::kNone;
  agent.success = agent.waits = false;
  agent.then = Then::kStay;
  agent.path_length = 0;
  agent.bad_actions = 0;
  std::fill(agent.action.begin(), agent.action.end(), 0.0);
  agent.previous_action = agent.action;
  std::fill(agent.reward_sums.begin(), agent.reward_sums.end(), 0.0);
  agent.now = {};
  agent.memory.assign(agent_task.memory_size, 0.0);  // knobs may have changed the set of trackers
  look(agent_task, env, agent, 0);
  agent.min_clearance = std::min(agent_task.clearance_limit, agent.now.clearance);
  for_trackers(task, agent_task, env, agent, [](const Tracker& t, const TrackerView& v) { t.start(v); });
  start_transfer(task, env, static_cast<size_t>(&agent - env.agents.data()), agent.transfer);
  begin_period(agent);
}

}  // namespace

bool take_action(AgentState& agent, const float* action) {
  const size_t n = agent.action.size();
  const bool good = std::all_of(action, action + n, [](float value) { return std::isfinite(value); });
  for (size_t k = 0; k < n; ++k)
    agent.action[k] = good ? std::clamp(static_cast<double>(action[k]), -1.0, 1.0) : 0.0;
  return good;
}

void apply_action(const AgentTask& task, const AgentState& agent, Simulation& simulation) {
  double values[kMaxCommand];
  for (size_t i = 0; i < task.action_components.size(); ++i) {
    const ActionComponent& c = task.action_components[i];
    values[i] = c.low + 0.5 * (agent.action[i] + 1) * (c.high - c.low);
  }
  task.action->apply(simulation, values);
}

void measure_motion(const AgentTask& task, const Pose2& pose, const Twist2& twist, AgentState& agent) {
  Measurements& m = agent.now;
  m.pose = pose;
  m.heading = Rotation2(pose.yaw);
  m.twist = twist;
  if (!task.start_and_goal.has_goal()) return;
  m.to_goal = agent.goal - Vec2{pose.x, pose.y};
  m.goal_distance = norm(m.to_goal);
  if (agent.field) m.path_distance = agent.field->distance({pose.x, pose.y});
}

bool respawns(const Task& task) {
  return task.spec.on_end == OnEnd::kRespawn && task.agents.size() > 1;
}

void respawn(const Task& task, EnvState& env, size_t agent, const Poll& poll) {
  place_agent(task, agent, env, poll);
  start_agent(task, task.agents[agent], env, env.agents[agent]);
}

// Truncates the agents that still go on when the episode of all ends.
void end_episode(const Task& task, EnvState& env) {
  const bool timeout = task.max_steps > 0 && env.steps >= task.max_steps;
  env.finished = env.diverged || timeout || is_over(task, env.agents);
  if (!env.finished) return;
  for (AgentState& agent : env.agents)
    if (agent.end == EpisodeEnd::kNone) agent.end = EpisodeEnd::kTruncated;
}

EnvState make_env(const Task& task, uint64_t key) {
  EnvState env(Simulation(task.models.front(), key));
  env.key = key;
  env.agents.reserve(task.agents.size());
  for (const AgentTask& agent : task.agents) env.agents.push_back(make_agent(agent));
  return env;
}

AgentState make_agent(const AgentTask& task) {
  AgentState agent;
  agent.action = agent.previous_action = ActionValues(task.action_components.size());
  agent.reward_sums.assign(task.rewards.size(), 0.0);
  agent.frames.assign(task.frames_size, 0);
  agent.recipes.assign(task.recipes_size, 0.0);
  agent.memory.assign(task.memory_size, 0.0);
  return agent;
}

void set_goal(const Task& task, EnvState& env, size_t index, Vec2 goal) {
  const AgentTask& agent_task = task.agents[index];
  AgentState& agent = env.agents[index];
  agent.goal = goal;
  if (const auto grid = planning_grid(task, agent_task, env, {}))
    agent.field = goal_field(task, agent_task, env, grid, goal, {});
}

void measure_again(const Task& task, EnvState& env) {
  for (size_t a = 0; a < task.agents.size(); ++a) {
    AgentState& agent = env.agents[a];
    look(task.agents[a], env, agent, agent.now.contacts);
    for_trackers(task, task.agents[a], env, agent,
                 [](const Tracker& t, const TrackerView& v) { t.moved(v); });
  }
}

void apply_held(EnvState& env) {
  Simulation& s = env.simulation;
  for (const HeldParam& held : env.held)
    for (const size_t i : s.model().find_params(held.pattern))
      s.set_param(i, stored_value(s.model().params[i], held.value));
}

void start_episode(const Task& task, EnvState& env, const Poll& poll) {
  const uint32_t episode = env.next_episode++;
  env.started = true;
  env.finished = true;  // stays true if a call below throws
  prepare_world(task, env, episode, poll);
  env.steps = 0;
  place_agents(task, env, poll);
  env.diverged = false;
  env.simulation.clear_collision_flags();
  for (size_t a = 0; a < task.agents.size(); ++a) start_agent(task, task.agents[a], env, env.agents[a]);
  for (const auto& tracker : task.trackers) tracker->all_started(env);
  env.finished = false;
}

bool step_period(const Task& task, EnvState& env, const std::function<bool()>& keep_going,
                 std::span<double> rewards) {
  Simulation& s = env.simulation;
  if (task.movers) task.movers->drive(env);
  const size_t count = task.agents.size();
  const AgentTask* const tasks = task.agents.data();
  AgentState* const agents = env.agents.data();
  for (size_t a = 0; a < count; ++a) {
    AgentState& agent = agents[a];
    if (agent.end != EpisodeEnd::kNone) {
      set_aside(task, env, a);
      continue;
    }
    if (agent.transfer.actions.active)
      send_action(task, env, a);
    else
      apply_action(tasks[a], agent, s);
    begin_period(agent);
  }
  for (size_t a = 0; a < count; ++a)
    if (!agents[a].waits)
      for_trackers(task, tasks[a], env, agents[a],
                   [](const Tracker& t, const TrackerView& v) { t.begin_period(v); });
  s.clear_collision_flags();
  s.refill_solver();  // Box2D forgets contacts, so results depend on the state alone
  const bool between = std::any_of(agents, agents + count, has_between);
  for (int i = 0; i < task.substeps; ++i) {
    if (!keep_going()) return false;
    for (size_t a = 0; between && a < count; ++a) act_between(task, env, a, i);
    s.step(task.substep);
    if (task.strict) refuse_cut_motion(s, task.substep);
    if (!is_finite(s)) {
      env.diverged = true;
      break;
    }
    for (size_t a = 0; a < count; ++a) {
      AgentState& agent = agents[a];
      if (agent.waits) continue;
      const Vec2 position = vehicle_position(s, tasks[a].vehicle);
      agent.path_length += norm(position - agent.last);
      agent.last = position;
    }
    for (size_t a = 0; between && a < count; ++a) look_between(task, env, a, i);
  }
  ++env.steps;
  if (!env.diverged) {
    for (size_t a = 0; a < count; ++a) {
      if (agents[a].waits) continue;
      measure(task, tasks[a], env, agents[a], contacts(s, tasks[a].vehicle));
      check_terminations(tasks[a], env, agents[a]);
    }
  }  // if it diverged, measurements and observations stay those of the last valid state
  end_episode(task, env);
  for (size_t a = 0; a < count; ++a)
    rewards[a] = env.diverged || agents[a].waits ? 0 : sum_rewards(tasks[a], env, agents[a]);
  if (task.shares_rewards && !env.diverged) pay_shares(task, env, rewards);
  return true;
}

double optimal_length(const AgentTask& task, const EnvState& env, const AgentState& agent, const Poll& poll) {
  if (agent.field) return agent.field->distance(agent.start);
  if (!task.start_and_goal.has_goal())
    for (const Tracker* const tracker : task.trackers)
      if (const std::optional<double> way = tracker->way(agent)) return *way;
  // no grid so far: cells so small that rounding at corners is below a percent in an arena
  const Rect& r = env.simulation.model().bounds;
  const double cell = std::clamp(std::max(r.x_max - r.x_min, r.y_max - r.y_min) / 120, 0.05, 0.2);
  return shortest_path_length(env.simulation,
                              {.agent = task.vehicle,
                               .cell = cell,
                               .inflation = task.start_and_goal.inflation(),
                               .start = agent.start,
                               .goal = agent.goal,
                               .expected = agent.path_length},
                              poll);
}

}  // namespace mvsim
