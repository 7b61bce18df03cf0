// Compiles a task, checks it by driving it, and finds the keyword that an error comes from.

#include <algorithm>
#include <array>

#include "base/text.h"
#include "episode/episode.h"
#include "task/compile_parts.h"
#include "views/draw_views.h"

namespace mvsim {
namespace {

void refuse_warnings(const Task& task) {
  if (task.strict && !task.warnings.empty())
    throw Error("strict refuses a warning: " + task.warnings.front());
}

// Whether an error is in a file that a keyword names.
bool is_of_caller(const WorldFileError& error, const EnvSpec& spec) {
  const std::string path = error.where().path ? *error.where().path : std::string();
  if (path == spec.path) return false;
  if (spec.world.where.line == 0) return true;
  return std::any_of(spec.knobs.begin(), spec.knobs.end(), [&](const KnobSpec& knob) {
    return std::find(knob.choices.begin(), knob.choices.end(), path) != knob.choices.end();
  });
}

template <typename Work>
bool works(const Work& work) {
  try {
    work();
    return true;
  } catch (const Error&) {
    return false;
  }
}

WorldFileError blamed_on(const std::vector<std::string>& keywords, const WorldFileError& error) {
  std::string names = keywords.size() > 1 ? "keywords" : "keyword";
  for (size_t i = 0; i < keywords.size(); ++i) names += (i > 0 ? ", " : " ") + keywords[i];
  return {{std::make_shared<const std::string>(names), 0, 0}, error.what()};
}

// Finds randomisations that change nothing in an environment, such as the friction of tires that never slip.
// An episode is driven twice with the same random actions, once with the parameters at the lower end of their
// range and once at the upper end. Where both runs are equal to the bit, the task warns.

constexpr int kPeriods = 60, kHold = 6;  // control periods of a run, and of each action
constexpr int kMostSteps = 20'000;       // of a run; tasks with longer runs are not checked

void draw_action(int period, ActionValues& action) {
  RandomStream random(0, static_cast<uint32_t>(period / kHold), StreamPurpose::kActionNoise);
  for (double& value : action) value = random.uniform(-1, 1);
}

bool sees_wheels(const Task& task) {
  return std::ranges::any_of(task.spec.agents, [](const AgentSpec& agent) {
    return std::ranges::any_of(agent.observations, [](const TermSpec& term) {
      return term.params.class_name.find("wheel") != std::string::npos;
    });
  });
}

// Returns the motion of bodies and, if they are observed, of wheels, and the rewards of the agents, by
// period. Empty if no episode can start.
std::vector<double> run(const Task& task, const Randomization& randomization, Randomization::End end,
                        const Poll& poll) {
  std::vector<double> seen;
  try {
    EnvState env = make_env(task, 0);
    start_episode(task, env, poll);
    randomization.apply_end(env.simulation, end);
    std::vector<double> rewards(env.agents.size());
    for (int period = 0; period < kPeriods && !env.finished; ++period) {
      for (AgentState& agent : env.agents) {
        agent.previous_action = agent.action;
        draw_action(period, agent.action);
      }
      if (poll) poll();
      step_period(
          task, env, [] { return true; }, rewards);
      const SimState& s = env.simulation.state();
      for (const BodyState& b : s.bodies)
        seen.insert(seen.end(), {b.x, b.y, b.angle, double{b.vx}, double{b.vy}, double{b.omega}});
      if (sees_wheels(task))
        for (const WheelState& w : s.wheels) seen.insert(seen.end(), {w.spin, w.steer});
      seen.insert(seen.end(), rewards.begin(), rewards.end());
    }
  } catch (const Error&) {
    seen.clear();
  }
  return seen;
}

// Whether a parameter acts in free driving. Other parameters may act in a collision only.
bool acts_while_driving(const ParamEntry& entry) {
  return std::ranges::any_of(
      std::to_array<std::string_view>({"/friction/", "/wheels/", "/controller/"}),
      [&](std::string_view part) { return entry.path.find(part) != std::string::npos; });
}

// Returns the vehicle whose parameters a randomisation draws, or null if it draws other parameters, too.
const VehicleModel* vehicle_of(const Model& model, const Randomization& randomization) {
  const VehicleModel* found = nullptr;
  for (const size_t param : randomization.params()) {
    const ParamEntry& entry = model.params[param];
    const auto owner = std::ranges::find_if(model.vehicles, [&](const VehicleModel& v) {
      return entry.path.starts_with("vehicle:" + v.name + "/");
    });
    if (owner == model.vehicles.end() || !acts_while_driving(entry)) return nullptr;
    found = &*owner;
  }
  return found;
}

std::string reason(const VehicleModel& vehicle, const std::string& path) {
  if (vehicle.controller->imposes_twist())
    return "the controller '" + std::string(vehicle.controller->name()) + "' moves '" + vehicle.name +
           "' without its tires";
  if (path.find("/friction/") != std::string::npos)
    return "the tires of '" + vehicle.name + "' stay within their grip";
  return "'" + vehicle.name + "' drives the same with both";
}

}  // namespace

std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options) {
  return compile_task(spec, options, draw_by(options.camera_backend));
}

// An error that occurs only with the caller's keywords is reported at the keywords, not at the line of the
// file.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options,
                                   const ViewDrawerMaker& make_drawer) {
  try {
    std::unique_ptr<Task> task = assemble_task(spec, options, make_drawer);
    warn_of_no_effect(*task, options.poll);
    refuse_warnings(*task);
    return task;
  } catch (const WorldFileError& error) {
    if (!spec.as_written || error.where().line == 0 || is_of_caller(error, spec)) throw;
    if (!works([&] { assemble_task(*spec.as_written, options, make_drawer); })) throw;
    throw blamed_on(keywords_of(spec.overrides), error);
  }
}

// Returns the error with the keywords that cause it: those that each alone prevent a start, or all if there
// is none.
WorldFileError explain_start(const EnvSpec& spec, const EnvLoadOptions& options, uint64_t key,
                             uint32_t episode, const WorldFileError& error) {
  if (!spec.as_written || error.where().line == 0) return error;
  const auto starts_with = [&](const std::string& keyword) {
    std::vector<Override> own;
    for (const Override& change : spec.overrides)
      if (change.path[0] == keyword) own.push_back(change);
    return works([&] {
      EnvSpec other = *spec.as_written;
      apply_overrides(other, own);
      const std::unique_ptr<Task> task = assemble_task(other, options, draw_by(options.camera_backend));
      EnvState env = make_env(*task, key);
      env.next_episode = episode;
      start_episode(*task, env, options.poll);
    });
  };
  if (!starts_with("")) return error;
  std::vector<std::string> keywords = keywords_of(spec.overrides), binding;
  if (keywords.size() > 1)
    std::remove_copy_if(keywords.begin(), keywords.end(), std::back_inserter(binding), starts_with);
  return blamed_on(binding.empty() ? keywords : binding, error);
}

void warn_of_no_effect(Task& task, const Poll& poll) {
  if (task.substeps > kMostSteps / kPeriods) return;
  const Model& model = *task.models.front();
  for (size_t i = 0; i < task.randomizations.size(); ++i) {
    const Randomization& randomization = task.randomizations[i];
    const VehicleModel* const vehicle = vehicle_of(model, randomization);
    if (!vehicle || !randomization.has_range(model)) continue;
    const std::vector<double> low = run(task, randomization, Randomization::End::kLow, poll);
    if (low.empty() || low != run(task, randomization, Randomization::End::kHigh, poll)) continue;
    const ParamSet& term = task.spec.randomizations[i].params;
    task.warnings.push_back(printable(term.where.text() + ": <randomize> of '" +
                                      shortened(term.find("of")->text) +
                                      "' changes nothing: " + std::to_string(kPeriods) +
                                      " control periods of random actions are equal to the bit at both ends "
                                      "of its range, for " +
                                      reason(*vehicle, model.params[randomization.params().front()].path)));
  }
}

}  // namespace mvsim
