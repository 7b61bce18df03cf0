#include "batch/batch_options.h"

#include <algorithm>

#include "episode/episode.h"

namespace mvsim {
namespace {

constexpr size_t kMaxIdle = 64;  // tasks that no env uses

bool same(const std::vector<Override>& a, const std::vector<Override>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Override& x, const Override& y) {
    return x.path == y.path && x.value == y.value;
  });
}

void check_names(const EnvSpec& spec, const std::vector<Override>& knobs) {
  std::vector<std::string> known;
  for (const KnobSpec& knob : spec.knobs) known.push_back(knob.value.name);
  for (const Override& change : knobs) {
    const std::string& name = change.path.at(0);
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error("knobs: found '" + shortened(name) + "', " +
                (known.empty() ? "this environment has none" : expected_one_of(name, known)));
  }
}

// Names the first difference in layout between two tasks; "" if there is none.
std::string difference(const AgentTask& a, const AgentTask& b) {
  const auto same_action = [](const ActionComponent& x, const ActionComponent& y) {
    return x.name == y.name && x.low == y.low && x.high == y.high;
  };
  const auto same_reward = [](const WeightedReward& x, const WeightedReward& y) { return x.name == y.name; };
  if (!std::equal(a.action_components.begin(), a.action_components.end(), b.action_components.begin(),
                  b.action_components.end(), same_action))
    return "the action";
  if (!std::equal(a.rewards.begin(), a.rewards.end(), b.rewards.begin(), b.rewards.end(), same_reward))
    return "the names of rewards";
  if (a.termination_names != b.termination_names) return "the names of terminations";
  if (a.frames_size != b.frames_size || a.recipes_size != b.recipes_size) return "the observations";
  if (a.start_and_goal.has_goal() != b.start_and_goal.has_goal()) return "whether there is a goal";
  return a.vehicle != b.vehicle ? "the vehicle" : "";
}

std::string difference(const Task& a, const Task& b) {
  const auto same_observation = [](const ObservationSpec& x, const ObservationSpec& y) {
    return x.key == y.key && x.dtype == y.dtype && x.shape == y.shape && x.low == y.low && x.high == y.high;
  };
  const auto same_vehicle = [](const VehicleModel& x, const VehicleModel& y) {
    return x.name == y.name && x.wheels.size() == y.wheels.size() && x.controller == y.controller;
  };
  const Model &m = *a.models.front(), &n = *b.models.front();
  if (!std::equal(m.vehicles.begin(), m.vehicles.end(), n.vehicles.begin(), n.vehicles.end(), same_vehicle))
    return "the vehicles of the world";
  if (!std::equal(a.observation_specs.begin(), a.observation_specs.end(), b.observation_specs.begin(),
                  b.observation_specs.end(), same_observation))
    return "the observations";
  if (a.control_period != b.control_period) return "the control period";
  if (a.agents.size() != b.agents.size()) return "the number of agents";
  for (size_t i = 0; i < a.agents.size(); ++i)
    if (const std::string found = difference(a.agents[i], b.agents[i]); !found.empty()) return found;
  return "";
}

}  // namespace

std::shared_ptr<const Task> KnobTasks::get(const std::vector<Override>& knobs, const Poll& poll) {
  if (knobs.empty()) return base_;
  const auto known =
      std::find_if(made_.begin(), made_.end(), [&](const auto& task) { return same(task->knobs, knobs); });
  if (known != made_.end()) {
    made_.splice(made_.begin(), made_, known);
    return made_.front();
  }
  check_names(*base_->given, knobs);
  EnvSpec spec = *base_->given;
  apply_overrides(spec, knobs);
  EnvLoadOptions load = load_;
  load.poll = poll;
  std::shared_ptr<Task> task = compile_task(spec, load);
  if (const std::string found = difference(*base_, *task); !found.empty())
    throw Error("knobs: '" + knobs.front().path[0] + "' changes " + found +
                ", expected knobs that leave it as it is: make another environment for that");
  task->knobs = knobs;
  made_.push_front(task);
  if (made_.size() > kMaxIdle)  // tasks in use are kept by their envs
    made_.remove_if([&, index = size_t{0}](const auto& held) mutable {
      return index++ >= kMaxIdle && held.use_count() == 1;
    });
  return task;
}

}  // namespace mvsim
