#include "episode/episode.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/transfer_params.h"

namespace mvsim {
namespace {

constexpr uint32_t kMostPeriods = 64;  // largest delay

const double* vehicle_params(const Task& task, const EnvState& env, size_t agent) {
  const Simulation& s = env.simulation;
  return s.state().params.data() + s.model().vehicles[task.agents[agent].vehicle].transfer_params;
}

// Returns the random stream of one event of an agent, which does not depend on other draws.
RandomStream stream_of(const EnvState& env, size_t agent, StreamPurpose purpose, uint64_t event) {
  return {env.key + kStepKeys * event, env.next_episode - 1, purpose, static_cast<uint16_t>(agent)};
}

Delay delay_of(const Task& task, double seconds, const std::string& what) {
  const auto steps = static_cast<uint64_t>(std::llround(seconds / task.substep));
  const auto count = static_cast<uint64_t>(task.substeps);
  if (steps > kMostPeriods * count)
    throw Error(what + ": found " + std::to_string(seconds) + " s, expected at most " +
                std::to_string(kMostPeriods) + " control periods of " + std::to_string(task.control_period) +
                " s");
  return {static_cast<uint32_t>(steps / count), static_cast<uint32_t>(steps % count)};
}

// Returns the place in a ring of the event `back` before the latest.
size_t place_in(const Delay& delay, uint64_t count, uint64_t back) {
  return static_cast<size_t>((count - 1 - back) % (delay.periods + 1));
}

void start_actions(const Task& task, const EnvState& env, size_t index, LateActions& actions) {
  const double* const p = vehicle_params(task, env, index);
  const AgentTask& agent = task.agents[index];
  const std::string& name = env.simulation.model().vehicles[agent.vehicle].name;
  actions.delay = delay_of(task, p[kActionDelay], "vehicle:" + name + "/action/delay");
  actions.active = actions.delay.any() || p[kActionNoise] > 0 || p[kSteerOffset] != 0;
  actions.count = 0;
  actions.values.assign(
      actions.active ? (actions.delay.periods + 1) * agent.action_components.size() : size_t{0}, 0.0);
}

// Returns the delay of an observation, and whether it may drop out as a whole.
LateFrames late_frames(const Task& task, const EnvState& env, const ObservationSlot& slot) {
  LateFrames out;
  const std::optional<size_t> source = slot.term->sensor();
  if (!source) return out;
  const SensorModel& sensor = env.simulation.model().sensors[*source];
  const double* const p = env.simulation.state().params.data() + sensor.transfer_params;
  out.delay = delay_of(task, p[kReadingDelay], "sensor '" + sensor.name + "', delay");
  const bool drops = p[kReadingDropout] > 0 && sensor.sensor->kind() != SensorKind::kRay;
  out.active = out.delay.any() || drops;
  if (!out.active) return out;
  const size_t places = out.delay.periods + 1;
  if (slot.is_picture())
    out.recipes.assign(places * slot.term->picture()->recipe_size(), 0.0);
  else
    out.frames.assign(places * slot.frame_bytes, 0);
  return out;
}

void start_frames(const Task& task, const EnvState& env, size_t index, std::vector<LateFrames>& frames) {
  frames.clear();
  const std::vector<ObservationSlot>& slots = task.agents[index].observations;
  for (size_t k = 0; k < slots.size(); ++k) {
    LateFrames late = late_frames(task, env, slots[k]);
    if (!late.active) continue;
    frames.resize(slots.size());
    frames[k] = std::move(late);
  }
}

// Returns the time in the episode of the env at the start of a time step, s.
double time_of(const Task& task, const EnvState& env, int step) {
  return static_cast<double>(env.steps) * task.control_period + step * task.substep;
}

double draw_interval(const double* p, RandomStream& random) {
  const double shortest = std::min(p[kPushShortest], p[kPushLongest]);
  return random.uniform(shortest, p[kPushLongest]);
}

void start_pushes(const Task& task, const EnvState& env, size_t index, Pushes& pushes) {
  const double* const p = vehicle_params(task, env, index);
  // a respawned agent continues the pushes of the episode, so that none repeats
  if (env.steps == 0) pushes.count = 0;
  pushes.active = p[kPushLongest] > 0 && (p[kPushX] > 0 || p[kPushY] > 0 || p[kPushYaw] > 0);
  pushes.due = 0;
  if (!pushes.active) return;
  RandomStream random = stream_of(env, index, StreamPurpose::kPush, pushes.count);
  pushes.due = time_of(task, env, 0) + draw_interval(p, random);
}

void push_if_due(const Task& task, EnvState& env, size_t index, int step) {
  constexpr double kEarly = 1e-9;  // s
  Pushes& pushes = env.agents[index].transfer.pushes;
  const double now = time_of(task, env, step);
  if (!pushes.active || now < pushes.due - kEarly) return;
  const double* const p = vehicle_params(task, env, index);
  RandomStream random = stream_of(env, index, StreamPurpose::kPush, pushes.count);
  draw_interval(p, random);  // the interval that ends now
  const double vx = random.uniform(-p[kPushX], p[kPushX]), vy = random.uniform(-p[kPushY], p[kPushY]);
  const double omega = random.uniform(-p[kPushYaw], p[kPushYaw]);
  RandomStream next = stream_of(env, index, StreamPurpose::kPush, ++pushes.count);
  pushes.due = now + draw_interval(p, next);
  env.simulation.push_vehicle(task.agents[index].vehicle, {vx, vy, omega});
}

// Applies the action that was sent Delay::periods ago.
void deliver_action(const Task& task, EnvState& env, size_t index) {
  const AgentTask& agent_task = task.agents[index];
  const LateActions& actions = env.agents[index].transfer.actions;
  if (actions.count <= actions.delay.periods) return;
  const size_t size = agent_task.action_components.size();
  const double* const from =
      actions.values.data() + size * place_in(actions.delay, actions.count, actions.delay.periods);
  double values[kMaxCommand];
  for (size_t i = 0; i < size; ++i) {
    const ActionComponent& c = agent_task.action_components[i];
    values[i] = c.low + 0.5 * (from[i] + 1) * (c.high - c.low);
    if (c.name == "steer")
      values[i] = std::clamp(values[i] + vehicle_params(task, env, index)[kSteerOffset], c.low, c.high);
  }
  agent_task.action->apply(env.simulation, values);
}

// Whether the current frame repeats the one before. Readings at a sensor's own period drop out elsewhere.
bool is_dropped(const ObservationSlot& slot, EnvState& env, const LateFrames& late) {
  const size_t sensor = *slot.term->sensor();
  return late.count > 0 && !env.simulation.state().sensors[sensor].scheduled &&
         env.simulation.drops_out(sensor);
}

void take_frame(const ObservationSlot& slot, EnvState& env, AgentState& agent, LateFrames& late,
                Scratch& scratch) {
  const bool dropped = is_dropped(slot, env, late);
  const size_t size = slot.frame_bytes, before = late.count > 0 ? place_in(late.delay, late.count, 0) : 0;
  uint8_t* const to = late.frames.data() + size * place_in(late.delay, ++late.count, 0);
  if (dropped)
    std::memmove(to, late.frames.data() + size * before, size);
  else
    slot.term->write_frame(env, agent, scratch, reinterpret_cast<std::byte*>(to));
}

void take_recipe(const ObservationSlot& slot, EnvState& env, AgentState& agent, LateFrames& late) {
  const Picture& picture = *slot.term->picture();
  const bool dropped = is_dropped(slot, env, late);
  const size_t size = picture.recipe_size();
  const size_t before = late.count > 0 ? place_in(late.delay, late.count, 0) : 0;
  double* const to = late.recipes.data() + size * place_in(late.delay, ++late.count, 0);
  if (dropped)
    std::memmove(to, late.recipes.data() + size * before, size * sizeof(double));
  else
    picture.record(env, agent, to);
}

LateFrames* late_frames_of(const ObservationSlot& slot, AgentState& agent) {
  std::vector<LateFrames>& all = agent.transfer.frames;
  return all.empty() || !all[slot.index].active ? nullptr : &all[slot.index];
}

// Returns the place of the frame that arrives. Before the first one it is the frame of the start.
size_t arriving(const LateFrames& late) {
  return place_in(late.delay, late.count, std::min<uint64_t>(late.delay.periods, late.count - 1));
}

}  // namespace

void start_transfer(const Task& task, const EnvState& env, size_t agent, TransferState& transfer) {
  start_actions(task, env, agent, transfer.actions);
  start_frames(task, env, agent, transfer.frames);
  start_pushes(task, env, agent, transfer.pushes);
}

void send_action(const Task& task, EnvState& env, size_t index) {
  AgentState& agent = env.agents[index];
  LateActions& actions = agent.transfer.actions;
  const size_t size = agent.action.size();
  const double noise = vehicle_params(task, env, index)[kActionNoise];
  RandomStream random =
      stream_of(env, index, StreamPurpose::kActionNoise, static_cast<uint64_t>(env.steps) + 1);
  double* const to = actions.values.data() + size * place_in(actions.delay, ++actions.count, 0);
  for (size_t i = 0; i < size; ++i)
    to[i] = noise > 0 ? std::clamp(agent.action[i] + noise * random.normal(), -1.0, 1.0) : agent.action[i];
  if (actions.delay.steps == 0) deliver_action(task, env, index);
}

bool has_between(const AgentState& agent) {
  const TransferState& t = agent.transfer;
  return t.pushes.active || (t.actions.active && t.actions.delay.steps > 0) || !t.frames.empty();
}

void act_between(const Task& task, EnvState& env, size_t index, int step) {
  AgentState& agent = env.agents[index];
  if (agent.end != EpisodeEnd::kNone) return;
  const LateActions& actions = agent.transfer.actions;
  if (actions.active && actions.delay.steps > 0 && step == static_cast<int>(actions.delay.steps))
    deliver_action(task, env, index);
  push_if_due(task, env, index, step);
}

void look_between(const Task& task, EnvState& env, size_t index, int step) {
  AgentState& agent = env.agents[index];
  if (agent.end != EpisodeEnd::kNone || agent.transfer.frames.empty()) return;
  Scratch scratch;
  for (const ObservationSlot& slot : task.agents[index].observations) {
    LateFrames* const late = late_frames_of(slot, agent);
    if (!late || late->delay.steps == 0) continue;
    if (step + 1 != task.substeps - static_cast<int>(late->delay.steps)) continue;
    if (slot.is_picture())
      take_recipe(slot, env, agent, *late);
    else
      take_frame(slot, env, agent, *late, scratch);
  }
}

void arriving_frame(const ObservationSlot& slot, EnvState& env, AgentState& agent, bool first,
                    Scratch& scratch, std::byte* out) {
  LateFrames* const late = late_frames_of(slot, agent);
  if (!late) return slot.term->write_frame(env, agent, scratch, out);
  if (first || late->delay.steps == 0) take_frame(slot, env, agent, *late, scratch);
  std::memcpy(out, late->frames.data() + slot.frame_bytes * arriving(*late), slot.frame_bytes);
}

void arriving_recipe(const ObservationSlot& slot, EnvState& env, AgentState& agent, bool first, double* out) {
  LateFrames* const late = late_frames_of(slot, agent);
  const Picture& picture = *slot.term->picture();
  if (!late) return picture.record(env, agent, out);
  if (first || late->delay.steps == 0) take_recipe(slot, env, agent, *late);
  std::copy_n(late->recipes.data() + picture.recipe_size() * arriving(*late), picture.recipe_size(), out);
}

bool fits(const TransferState& t, const Task& task, const AgentTask& agent) {
  const auto is_delay = [&](const Delay& d) {
    return d.periods <= kMostPeriods && d.steps < static_cast<uint32_t>(task.substeps);
  };
  const LateActions& a = t.actions;
  const size_t wanted = a.active ? (a.delay.periods + 1) * agent.action_components.size() : 0;
  if (!is_delay(a.delay) || a.values.size() != wanted) return false;
  for (const double value : a.values)
    if (!(std::fabs(value) <= 1)) return false;
  if (!t.frames.empty() && t.frames.size() != agent.observations.size()) return false;
  for (size_t k = 0; k < t.frames.size(); ++k) {
    const LateFrames& late = t.frames[k];
    const ObservationSlot& slot = agent.observations[k];
    const size_t places = late.active ? late.delay.periods + 1 : 0;
    const bool is_picture = slot.is_picture();
    if (!is_delay(late.delay) || late.frames.size() != (is_picture ? 0 : places * slot.frame_bytes) ||
        late.recipes.size() != (is_picture ? places * slot.term->picture()->recipe_size() : 0) ||
        (late.active && !slot.term->sensor()))
      return false;
  }
  return true;
}

}  // namespace mvsim
