
#include <algorithm>
#include <cstring>

#include "base/archive.h"
#include "episode/episode.h"
#include "sim/snapshot.h"

namespace mvsim {

template <typename Archive>
void visit(Archive& archive, ValueOf<HeldParam> auto& held) {
  auto& [pattern, value] = held;
  if constexpr (Archive::kReads) {
    std::vector<char> text;
    archive(text, value);
    pattern.assign(text.begin(), text.end());
  } else {
    archive(pattern, value);
  }
}

namespace {

// Visits EnvState without the fields that choose how to read (the variant, the simulation and the agents),
// and without `given` and `due`, which hold within a call only. Add a new field of EnvState to both lines,
// and increase kSnapshotVersion.
template <typename Archive, typename Env>
void visit_episode(Archive& archive, Env& env, const Task& task) {
  auto& [simulation, variant, key, next_episode, held, given, started, finished, diverged, due, steps, agents,
         movers] = env;
  archive(key, next_episode, held, started, finished, diverged, steps);
  if (task.movers) archive(movers);
}

// Visits AgentState but for the field, the frames, and `last`, which lives within a period only. `then` and
// `waits` are archived only if there are several agents.
template <typename Archive, typename Agent>
void visit_agent(Archive& archive, Agent& agent, const Task& task) {
  auto& [end, success, then, waits, bad_actions, before, now, goal, start, last, field, memory, path_length,
         min_clearance, action, previous_action, reward_sums, frames, recipes, transfer] = agent;
  archive(end, success, before, now, goal, start, path_length, min_clearance, bad_actions, reward_sums,
          recipes, transfer);
  for (auto& value : action) archive(value);
  for (auto& value : previous_action) archive(value);
  if (task.agents.size() > 1) archive(then, waits);
  for (auto& value : memory) archive(value);
}

// Calls work(slot, bytes) for the ring of each observation that keeps frames and is no picture. Pictures are
// drawn again from the recipes.
template <typename Agent, typename Work>
void for_rings(const AgentTask& task, Agent& agent, const Work& work) {
  for (const ObservationSlot& slot : task.observations)
    if (slot.history > 1 && !slot.is_picture())
      work(slot, std::span(agent.frames).subspan(slot.first_frame, slot.kept() * slot.frame_bytes));
}

// Checks the bounds of a ring. The bounds of a row begin with those of the latest frame, and all frames have
// the same.
bool ring_in_bounds(const Task& task, const ObservationSlot& slot, std::span<const uint8_t> ring) {
  const ObservationSpec& row = task.observation_specs[slot.index];
  const size_t size = slot.low.size();
  return in_bounds(slot.dtype, ring, std::span(row.low).first(size), std::span(row.high).first(size));
}

bool fits(const AgentState& agent, const Task& whole, const AgentTask& task) {
  return agent.end <= EpisodeEnd::kTruncated && agent.then <= Then::kEndAll &&
         agent.reward_sums.size() == task.rewards.size() && agent.recipes.size() == task.recipes_size &&
         fits(agent.transfer, whole, task);
}

// Reads the goal field. Where obstacles move, it belongs to the world at the start, so its free cells are
// stored.
std::shared_ptr<const GoalField> read_field(ArchiveReader& archive, const Task& task, const EnvState& env,
                                            const EnvState& like, size_t index) {
  const AgentTask& agent_task = task.agents[index];
  const Vec2 goal = env.agents[index].goal;
  if (task.static_world) return agent_task.fields->get(env.variant, agent_task.grids[env.variant], goal);
  PlanningGrid grid =
      empty_planning_grid(env.simulation.model().bounds, agent_task.start_and_goal.planning_cell());
  std::vector<uint8_t> free;
  archive(free);
  archive.check(free.size() == grid.free.size() &&
                std::all_of(free.begin(), free.end(), [](uint8_t f) { return f <= 1; }));
  const std::shared_ptr<const GoalField>& known = like.agents[index].field;
  if (known && like.variant == env.variant && known->goal() == goal && known->grid().free == free)
    return known;
  grid.free = std::move(free);
  return std::make_shared<const GoalField>(std::make_shared<const PlanningGrid>(std::move(grid)), goal);
}

}  // namespace

uint64_t fingerprint(const Task& task) {
  ArchiveHasher hasher;
  for (const auto& model : task.models) hasher(model->fingerprint);
  hasher(task.static_world, task.agents.size());
  for (const AgentTask& agent : task.agents) {
    hasher(agent.vehicle, agent.needs_path, agent.start_and_goal.has_goal(),
           agent.start_and_goal.planning_cell(), agent.memory_size);
    for (const ActionComponent& c : agent.action_components) hasher(c.name, c.low, c.high);
    for (const ObservationSlot& slot : agent.observations) {
      hasher(slot.history, slot.is_picture() ? slot.term->picture()->recipe_size() : size_t{0});
      if (slot.stride > 1) hasher(slot.stride);
    }
    for (const WeightedReward& r : agent.rewards) hasher(r.name);
  }
  for (const auto& tracker : task.trackers) tracker->hash(hasher);
  if (task.movers) hasher(task.movers->size());
  // the set of scheduled sensors is part of a state
  if (!task.scheduled_sensors.empty()) hasher(task.scheduled_sensors);
  for (const ObservationSpec& o : task.observation_specs) hasher(o.key, o.dtype, o.shape, o.low, o.high);
  return hasher.value();
}

void read_values(ArchiveReader& archive, DType dtype, std::span<uint8_t> out) {
  with_dtype(dtype, [&](auto value) { archive.fill<decltype(value)>(std::as_writable_bytes(out)); });
}

bool in_bounds(DType dtype, std::span<const uint8_t> values, std::span<const float> low,
               std::span<const float> high) {
  bool within = true;
  with_dtype(dtype, [&](auto value) {
    for (size_t at = 0; at < values.size(); at += low.size() * sizeof value)
      for (size_t i = 0; i < low.size(); ++i) {
        std::memcpy(&value, values.data() + at + i * sizeof value, sizeof value);
        const auto number = static_cast<float>(value);
        within &= number >= low[i] && number <= high[i];
      }
  });
  return within;
}

void write_env(ArchiveWriter& archive, const EnvState& env, const Task& task) {
  archive(uint64_t{env.variant}, is_finite(env.simulation));
  write_state(archive, env.simulation.state());
  visit_episode(archive, env, task);
  for (size_t a = 0; a < env.agents.size(); ++a) {
    const AgentState& agent = env.agents[a];
    visit_agent(archive, agent, task);
    for_rings(task.agents[a], agent, [&](const ObservationSlot&, std::span<const uint8_t> ring) {
      archive.raw(ring.data(), ring.size());
    });
    archive(agent.field != nullptr);
    if (agent.field && !task.static_world) archive(agent.field->grid().free);
  }
}

EnvState read_env(ArchiveReader& archive, const Task& task, const EnvState& like) {
  uint64_t variant = 0;
  bool finite = false;
  archive(variant, finite);
  archive.check(variant < task.models.size());
  if (!finite) archive.allow_non_finite();
  const std::shared_ptr<const Model>& model = task.models[variant];
  EnvState env(Simulation(model, read_state(*model, archive)));
  env.variant = variant;
  visit_episode(archive, env, task);
  archive.check(!task.movers || !env.started || env.movers.size() == task.movers->size());
  const bool running = env.started && !env.finished;
  archive.check(env.steps >= (env.diverged ? 1 : 0) && (finite || !running));
  for (size_t a = 0; a < task.agents.size(); ++a) {
    AgentState& agent = env.agents.emplace_back(make_agent(task.agents[a]));
    visit_agent(archive, agent, task);
    archive.check(fits(agent, task, task.agents[a]));
    for_rings(task.agents[a], agent, [&](const ObservationSlot& slot, std::span<uint8_t> ring) {
      read_values(archive, slot.dtype, ring);
      archive.check(!env.started || ring_in_bounds(task, slot, ring));
    });
    bool has_field = false;
    archive(has_field);
    const bool needs_path = task.agents[a].needs_path;
    archive.check(running ? has_field == needs_path : needs_path || !has_field);
    if (has_field) agent.field = read_field(archive, task, env, like, a);
  }
  return env;
}

}  // namespace mvsim
