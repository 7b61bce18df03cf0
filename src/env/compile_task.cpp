// EnvSpec -> Task.
#include <algorithm>
#include <cmath>

#include "env/compile_worlds.h"

namespace mvsim {
namespace {

void set_times(Task& task) {
  const EnvSpec& spec = task.spec;
  const double timestep = task.models.front()->timestep;
  constexpr double kMostSubsteps = 1e6, kLongestStep = 1;  // s
  const auto fail = [&](const std::string& found, const std::string& expected) {
    throw WorldFileError(spec.control_where, about("control_period", spec.control_where) + "found " + found +
                                                 ", expected " + expected);
  };
  if (spec.substeps == 0 && spec.control_period > kMostSubsteps * timestep)
    fail(std::to_string(spec.control_period) + " s",
         "at most 1000000 of the world's time steps of " + std::to_string(timestep) + " s");
  task.control_period = spec.control_period;
  task.substeps =
      spec.substeps > 0 ? spec.substeps : static_cast<int>(std::lround(spec.control_period / timestep));
  const double rest = std::fabs(task.substeps * timestep - spec.control_period);
  if (spec.substeps == 0 && (task.substeps < 1 || rest > 1e-6))
    fail(std::to_string(spec.control_period) + " s", "a multiple of the world's time step of " +
                                                         std::to_string(timestep) +
                                                         " s (or the attribute 'substeps')");
  task.substep = spec.control_period / task.substeps;
  if (!(task.substep >= kShortestPeriod && task.substep <= kLongestStep))
    fail(std::to_string(task.substeps) + " time steps of " + std::to_string(task.substep) + " s",
         "steps from 1e-06 to 1 s");
  if (spec.time_limit > 0) {
    task.most_steps =
        std::max<int64_t>(1, std::llround(std::ceil(spec.time_limit / spec.control_period - 1e-9)));
  }
}

size_t find_vehicle(const EnvSpec& spec, const Model& model) {
  if (model.vehicles.empty())
    throw WorldFileError(spec.world.where, about("world", spec.world.where) + "'" + spec.world.text +
                                               "' has no vehicle, expected one to act with");
  if (spec.vehicle.empty()) return 0;
  try {
    return model.vehicle_index(spec.vehicle);
  } catch (const Error& e) {
    throw WorldFileError(spec.vehicle_where, about("vehicle", spec.vehicle_where) + e.what());
  }
}

void compile_observation(const TermSpec& term, TaskContext& context, Task& task, size_t& history_size) {
  TermReader reader(term);
  ObservationSlot slot;
  slot.term = make_term(reader, context, observation_classes());
  slot.normalize = reader.boolean("normalize", false);
  slot.history = reader.integer("history", 1, 1, 1000);
  reader.finish();
  const std::vector<Interval> bounds = slot.term->bounds();
  for (const Interval& b : bounds) {
    slot.low.push_back(static_cast<float>(b.low));
    slot.high.push_back(static_cast<float>(b.high));
  }
  if (slot.history > 1) {
    slot.first_history = history_size;
    history_size += bounds.size() * static_cast<size_t>(slot.history);
  }
  ObservationInfo info;
  info.key = term.name;
  for (int h = 0; h < slot.history; ++h) {
    for (const Interval& b : bounds) {
      const double low = b.low < 0 ? -1 : 0;
      info.low.push_back(static_cast<float>(slot.normalize ? low : b.low));
      info.high.push_back(static_cast<float>(slot.normalize ? 1 : b.high));
    }
  }
  task.observations.push_back(std::move(slot));
  task.observation_infos.push_back(std::move(info));
}

void compile_resets(const EnvSpec& spec, TaskContext& context, Task& task) {
  for (const TermSpec& term : spec.resets) {
    TermReader reader(term);
    if (term.params.tag == "spawn") {
      task.start_and_goal.read_spawn(reader, context);
    } else if (term.params.tag == "goal") {
      task.start_and_goal.read_goal(reader, context);
    } else {
      std::vector<std::string> known{"spawn", "goal"};
      for (const auto& c : reset_classes()) known.emplace_back(c.name);
      if (std::find(known.begin(), known.end(), term.params.tag) == known.end()) {
        std::string expected;
        for (const std::string& k : known) expected += (expected.empty() ? "" : ", ") + k;
        throw WorldFileError(term.params.where, "<reset>: found the unknown tag '" + term.params.tag +
                                                    "', expected one of " + expected +
                                                    did_you_mean(term.params.tag, known));
      }
      task.resets.push_back(make_term(reader, context, reset_classes()));
    }
    reader.finish();
  }
}

void compile_terms(Task& task) {
  const EnvSpec& spec = task.spec;
  TaskNeeds needs;
  TaskContext context{.model = *task.models.front(),
                      .vehicle = task.vehicle,
                      .control_period = task.control_period,
                      .needs = needs};
  compile_resets(spec, context, task);
  context.has_goal = task.start_and_goal.has_goal();
  {
    TermReader reader(spec.action);
    task.action = make_term(reader, context, action_classes());
    reader.finish();
    task.action_components = task.action->components();
    context.action_size = task.action_components.size();
  }
  for (const TermSpec& term : spec.terminations) {
    TermReader reader(term);
    task.terminations.push_back(make_term(reader, context, termination_classes()));
    reader.finish();
  }
  if (context.goal_radius > 0) task.goal_radius = context.goal_radius;
  task.start_and_goal.finish(context);
  size_t history_size = 0;
  for (const TermSpec& term : spec.observations) compile_observation(term, context, task, history_size);
  for (const TermSpec& term : spec.rewards) {
    TermReader reader(term);
    WeightedReward reward{term.name, reader.number("weight", 1),
                          make_term(reader, context, reward_classes())};
    reader.finish();
    task.rewards.push_back(std::move(reward));
  }
  for (const TermSpec& term : spec.randomizations) {
    TermReader reader(term);
    task.randomizations.emplace_back(reader, context.model);
    reader.finish();
  }
  task.history_size = history_size;
  task.needs_path = needs.path || task.start_and_goal.geodesic();
  task.clearance_limit = std::max(task.clearance_limit, needs.clearance_limit);
  task.stuck_distances = needs.stuck_distances;
  task.scheduled_sensors = needs.scheduled_sensors;
  task.warnings.insert(task.warnings.end(), needs.warnings.begin(), needs.warnings.end());
}

bool is_static(const Model& model) {
  return model.vehicles.size() == 1 &&
         std::all_of(model.blocks.begin(), model.blocks.end(),
                     [](const BlockModel& b) { return b.body < 0 || (b.is_static && !b.placed); });
}

void make_grids(Task& task) {
  task.static_world =
      std::all_of(task.models.begin(), task.models.end(), [](const auto& m) { return is_static(*m); });
  if (!task.needs_path || !task.static_world) return;
  for (const auto& model : task.models) {
    const Simulation simulation(model, 0);
    task.grids.push_back(std::make_shared<const PlanningGrid>(make_planning_grid(
        simulation, task.vehicle, task.start_and_goal.planning_cell(), task.start_and_goal.inflation())));
  }
}

std::unique_ptr<Task> compile(const EnvSpec& spec, const EnvLoadOptions& options) {
  auto task = std::make_unique<Task>();
  task->spec = spec;
  compile_worlds(*task, options);
  set_times(*task);
  task->vehicle = find_vehicle(task->spec, *task->models.front());
  compile_terms(*task);
  make_grids(*task);
  return task;
}

bool compiles(const EnvSpec& spec, const EnvLoadOptions& options) {
  try {
    compile(spec, options);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Whether the mistake stands in a file that a keyword names.
bool is_of_caller(const WorldFileError& error, const EnvSpec& spec) {
  const std::string path = error.where().path ? *error.where().path : std::string();
  if (path == spec.path) return false;
  if (spec.world.where.line == 0) return true;
  return std::any_of(spec.knobs.begin(), spec.knobs.end(), [&](const KnobSpec& knob) {
    return std::find(knob.choices.begin(), knob.choices.end(), path) != knob.choices.end();
  });
}

}  // namespace

// What fails only with the caller's keywords is theirs, whatever line of the file it shows at.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options) {
  try {
    return compile(spec, options);
  } catch (const WorldFileError& error) {
    if (!spec.as_written || error.where().line == 0 || is_of_caller(error, spec)) throw;
    if (!compiles(*spec.as_written, options)) throw;
    std::string names;
    for (const std::string& name : spec.keywords) names += (names.empty() ? "" : ", ") + name;
    const auto place =
        std::make_shared<const std::string>((spec.keywords.size() > 1 ? "keywords " : "keyword ") + names);
    throw WorldFileError({place, 0, 0}, error.what());
  }
}

}  // namespace mvsim
