#include "env/env_archive.h"

#include <algorithm>

#include "base/geometry_archive.h"

namespace mvsim {

template <typename Archive>
void visit(Archive& archive, ValueOf<Facts> auto& facts) {
  auto& [pose, heading, twist, to_goal, goal_distance, path_distance, clearance, collided] = facts;
  archive(pose, heading, twist, to_goal, goal_distance, path_distance, clearance, collided);
}

template <typename Archive>
void visit(Archive& archive, ValueOf<Stillness> auto& stillness) {
  auto& [anchor, time] = stillness;
  archive(anchor, time);
}

namespace {

// All but what chooses how to read: the variant, the simulation and the field. A field that is added to
// EnvState belongs into both lines, and kSnapshotVersion goes up.
template <typename Archive, typename Env>
void visit_episode(Archive& archive, Env& env) {
  auto& [simulation, variant, key, next_episode, started, finished, steps, end, success, diverged, before,
         now, goal, start, field, stillness, path_length, min_clearance, bad_actions, action, previous_action,
         reward_sums, history] = env;
  archive(key, next_episode, started, finished, steps, end, success, diverged, before, now, goal, start,
          stillness, path_length, min_clearance, bad_actions, action, previous_action, reward_sums, history);
}

bool fits(const EnvState& env, const Task& task) {
  const size_t actions = task.action_components.size();
  return env.end <= EpisodeEnd::kTruncated && env.action.size() == actions &&
         env.previous_action.size() == actions && env.reward_sums.size() == task.rewards.size() &&
         env.stillness.size() == task.stuck_distances.size() && env.history.size() == task.history_size;
}

// Where obstacles move, the field belongs to the world as it stood at the start: its free cells are kept.
std::shared_ptr<const GoalField> read_field(ArchiveReader& archive, const Task& task, const EnvState& env,
                                            const EnvState& like) {
  if (task.static_world) return task.fields->get(env.variant, task.grids[env.variant], env.goal);
  PlanningGrid grid = empty_planning_grid(env.simulation.model().bounds, task.start_and_goal.planning_cell());
  std::vector<uint8_t> free;
  archive(free);
  archive.check(free.size() == grid.free.size() &&
                std::all_of(free.begin(), free.end(), [](uint8_t f) { return f <= 1; }));
  if (like.field && like.variant == env.variant && like.field->goal() == env.goal &&
      like.field->grid().free == free)
    return like.field;
  grid.free = std::move(free);
  return std::make_shared<const GoalField>(std::make_shared<const PlanningGrid>(std::move(grid)), env.goal);
}

}  // namespace

uint64_t fingerprint(const Task& task) {
  ArchiveHasher hasher;
  for (const auto& model : task.models) hasher(model->fingerprint);
  hasher(task.vehicle, task.needs_path, task.static_world, task.start_and_goal.has_goal(),
         task.start_and_goal.planning_cell(), task.history_size, task.stuck_distances.size());
  for (const ActionComponent& c : task.action_components) hasher(c.name);
  for (const ObservationInfo& o : task.observation_infos) hasher(o.key, o.low.size());
  for (const WeightedReward& r : task.rewards) hasher(r.name);
  return hasher.value();
}

void write_env(ArchiveWriter& archive, const EnvState& env, const Task& task) {
  archive(uint64_t{env.variant}, env.simulation.is_finite());
  env.simulation.write(archive);
  visit_episode(archive, env);
  archive(env.field != nullptr);
  if (env.field && !task.static_world) archive(env.field->grid().free);
}

EnvState read_env(ArchiveReader& archive, const Task& task, const EnvState& like) {
  uint64_t variant = 0;
  bool finite = false, has_field = false;
  archive(variant, finite);
  archive.check(variant < task.models.size());
  if (!finite) archive.allow_non_finite();
  EnvState env(Simulation::read(task.models[variant], archive));
  env.variant = variant;
  visit_episode(archive, env);
  archive(has_field);
  const bool running = env.started && !env.finished;
  archive.check(fits(env, task) && (finite || !running) &&
                (running ? has_field == task.needs_path : task.needs_path || !has_field));
  if (has_field) env.field = read_field(archive, task, env, like);
  return env;
}

}  // namespace mvsim
