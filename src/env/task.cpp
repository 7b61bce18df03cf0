// One env's episode: reset, control period, observations.
#include "env/task.h"

#include <algorithm>
#include <cmath>

#include "base/vector_kernels.h"

namespace mvsim {
namespace {

void observe_facts(const Task& task, EnvState& env, bool collided) {
  const Simulation& s = env.simulation;
  const Pose3 pose = s.vehicle_pose(task.vehicle);
  Facts& f = env.now;
  f.pose = {pose.x, pose.y, pose.yaw};
  f.heading = Rotation2(pose.yaw);
  f.twist = s.vehicle_twist(task.vehicle);
  f.clearance = s.clearance(task.vehicle, task.clearance_limit);
  f.collided = collided;
  env.min_clearance = std::min(env.min_clearance, f.clearance);
  f.still_time += task.substeps * task.substep;
  if (norm(Vec2{pose.x, pose.y} - f.anchor) > task.stuck_distance) {
    f.anchor = {pose.x, pose.y};
    f.still_time = 0;
  }
  if (!task.start_and_goal.has_goal()) return;
  f.to_goal = env.goal - Vec2{pose.x, pose.y};
  f.goal_distance = norm(f.to_goal);
  if (env.field) f.path_distance = env.field->distance({pose.x, pose.y});
}

std::shared_ptr<const PlanningGrid> planning_grid(const Task& task, const EnvState& env, const Poll& poll) {
  if (!task.needs_path) return nullptr;
  if (task.static_world) return task.grids[env.variant];
  return std::make_shared<const PlanningGrid>(make_planning_grid(env.simulation, task.vehicle,
                                                                 task.start_and_goal.planning_cell(),
                                                                 task.start_and_goal.inflation(), poll));
}

void place_agent(const Task& task, EnvState& env, const Poll& poll) {
  const auto grid = planning_grid(task, env, poll);
  const auto field_of = [&](Vec2 goal) -> std::shared_ptr<const GoalField> {
    if (task.static_world) return task.fields->get(env.variant, grid, goal, poll);
    return std::make_shared<const GoalField>(grid, goal, poll);
  };
  task.start_and_goal.apply(env, grid.get(), field_of, poll);
}

void judge(const Task& task, EnvState& env) {
  bool won = false, lost = false;
  for (const auto& t : task.terminations) {
    if (!t->holds(env)) continue;
    (t->verdict() == Verdict::kSuccess ? won : lost) = true;
  }
  // a collision on the way into the goal is a collision
  env.success = won && !lost;
  if (won || lost)
    env.end = EpisodeEnd::kTerminated;
  else if (task.most_steps > 0 && env.steps >= task.most_steps)
    env.end = EpisodeEnd::kTruncated;
}

// Frames are clipped to their bounds, and mapped to [0, 1] or [-1, 1] if the term says so.
void clip_frame(const ObservationSlot& slot, float* frame) {
  const std::span<float> values(frame, slot.low.size());
  clip_values(slot.low.data(), slot.high.data(), values);
  if (slot.normalize) normalize_values(slot.low.data(), slot.high.data(), values);
}

}  // namespace

EnvState make_env(const Task& task, uint64_t key) {
  EnvState env(Simulation(task.models.front(), key));
  env.key = key;
  env.action.assign(task.action_components.size(), 0.0);
  env.previous_action = env.action;
  env.reward_sums.assign(task.rewards.size(), 0.0);
  env.history.assign(task.history_size, 0.0f);
  return env;
}

void start_episode(const Task& task, EnvState& env, const Poll& poll) {
  const uint32_t episode = env.next_episode++;
  env.started = true;
  env.finished = true;  // until all of what follows has worked
  if (task.models.size() > 1) {
    RandomStream pick(env.key, episode, StreamPurpose::kVariant);
    env.variant = pick.below(static_cast<uint32_t>(task.models.size()));
  }
  Simulation& s = env.simulation;
  if (&s.model() != task.models[env.variant].get())
    s = Simulation(task.models[env.variant], env.key, episode);
  else
    s.reset(env.key, episode);
  for (size_t i = 0; i < s.model().sensors.size(); ++i) s.set_sensor_scheduled(i, false);
  for (size_t i : task.scheduled_sensors) s.set_sensor_scheduled(i, true);
  for (size_t i = 0; i < task.randomizations.size(); ++i) {
    RandomStream random(env.key, episode, StreamPurpose::kRandomize, static_cast<uint16_t>(i));
    task.randomizations[i].apply(s, random);
  }
  for (size_t i = 0; i < task.resets.size(); ++i) {
    RandomStream random(env.key, episode, StreamPurpose::kPlaceBlocks, static_cast<uint16_t>(i));
    task.resets[i]->apply(env, random, poll);
  }
  place_agent(task, env, poll);

  env.steps = 0;
  env.end = EpisodeEnd::kNone;
  env.success = env.diverged = false;
  env.path_length = 0;
  env.min_clearance = task.clearance_limit;
  env.bad_actions = 0;
  std::fill(env.action.begin(), env.action.end(), 0.0);
  env.previous_action = env.action;
  std::fill(env.reward_sums.begin(), env.reward_sums.end(), 0.0);
  s.clear_collision_flags();
  env.now = {};
  env.now.anchor = env.start;
  env.now.still_time = -task.substeps * task.substep;  // the first look makes it 0
  observe_facts(task, env, false);
  env.before = env.now;
  env.finished = false;
}

bool step_period(const Task& task, EnvState& env, const std::function<bool()>& keep_going, double& reward) {
  Simulation& s = env.simulation;
  double values[kMostCommand];
  for (size_t i = 0; i < task.action_components.size(); ++i) {
    const ActionComponent& c = task.action_components[i];
    values[i] = c.low + 0.5 * (env.action[i] + 1) * (c.high - c.low);
  }
  task.action->apply(s, values);
  s.clear_collision_flags();
  s.refill_solver();  // from here on the state alone decides
  env.before = env.now;
  Vec2 last{env.now.pose.x, env.now.pose.y};
  for (int i = 0; i < task.substeps; ++i) {
    if (!keep_going()) return false;
    s.step(task.substep);
    if (!s.is_finite()) {
      env.diverged = true;
      break;
    }
    const Pose3 p = s.vehicle_pose(task.vehicle);
    env.path_length += norm(Vec2{p.x, p.y} - last);
    last = {p.x, p.y};
  }
  ++env.steps;
  reward = 0;
  if (env.diverged) {
    // no outcome of the task: the facts and observations stay those of the last sound state
    env.end = EpisodeEnd::kTruncated;
    return true;
  }
  observe_facts(task, env, s.had_collision(task.vehicle));
  judge(task, env);
  for (size_t i = 0; i < task.rewards.size(); ++i) {
    const double value = task.rewards[i].weight * task.rewards[i].term->value(env);
    env.reward_sums[i] += value;
    reward += value;
  }
  return true;
}

void write_observation(const ObservationSlot& slot, EnvState& env, bool first, Scratch& scratch, float* out) {
  const size_t n = slot.low.size();
  if (slot.history == 1) {
    slot.term->write(env, scratch, out);
    clip_frame(slot, out);
    return;
  }
  float* frames = env.history.data() + slot.first_history;
  float* latest = frames + n * static_cast<size_t>(slot.history - 1);
  if (!first) std::copy(frames + n, latest + n, frames);
  slot.term->write(env, scratch, latest);
  clip_frame(slot, latest);
  if (first)
    for (float* frame = frames; frame != latest; frame += n) std::copy(latest, latest + n, frame);
  std::copy(frames, latest + n, out);
}

double optimal_length(const Task& task, const EnvState& env) {
  if (env.field) return env.field->distance(env.start);
  // nothing planned so far: a grid fine enough that its corners cost less than a percent of an arena
  const Rect& r = env.simulation.model().bounds;
  const double cell = std::clamp(std::max(r.x_max - r.x_min, r.y_max - r.y_min) / 120, 0.05, 0.2);
  const auto grid = std::make_shared<const PlanningGrid>(
      make_planning_grid(env.simulation, task.vehicle, cell, task.start_and_goal.inflation()));
  return GoalField(grid, env.goal).distance(env.start);
}

}  // namespace mvsim
