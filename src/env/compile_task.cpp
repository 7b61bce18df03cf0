// Compiles an EnvSpec to a Task.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/utf8.h"
#include "env/compile_parts.h"
#include "env/episode.h"
#include "env/plan/path_tables.h"
#include "env/randomize_level.h"
#include "sim/check_start.h"
#include "views/view_scenes.h"

namespace mvsim {
namespace {

void set_times(Task& task) {
  const EnvSpec& spec = task.spec;
  const double timestep = task.models.front()->timestep;
  constexpr double kMaxSubsteps = 1e6, kLongestStep = 1;  // s
  const auto fail = [&](const std::string& found, const std::string& expected) {
    throw WorldFileError(spec.control_where, about("control_period", spec.control_where) + "found " + found +
                                                 ", expected " + expected);
  };
  if (spec.substeps == 0 && spec.control_period > kMaxSubsteps * timestep)
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
    task.max_steps =
        std::max<int64_t>(1, std::llround(std::ceil(spec.time_limit / spec.control_period - 1e-9)));
  }
}

bool is_static(const Model& model) {
  return model.vehicles.size() == 1 &&
         std::all_of(model.blocks.begin(), model.blocks.end(),
                     [](const BlockModel& b) { return b.body < 0 || (b.traits.is_static && !b.placed); });
}

// Sets the size of planning cells. A world that is too large for cells of the wanted size gets larger cells,
// up to a limit, with a warning.
void check_planning(Task& task, double wanted) {
  constexpr double kMaxFactor = 16;
  for (const auto& model : task.models) {
    const double cell = planning_cell_of(model->bounds, wanted);
    if (cell <= wanted) continue;
    const Rect& r = model->bounds;
    char numbers[200];
    std::snprintf(numbers, sizeof numbers,
                  "the world is %.6g x %.6g m large, too large to plan paths with cells of %.3g m",
                  r.x_max - r.x_min, r.y_max - r.y_min, wanted);
    char size[40];
    std::snprintf(size, sizeof size, "%.3g m", cell);
    const TermSpec* goal = nullptr;
    for (const TermSpec& term : task.spec.resets)
      if (term.params.tag == "goal") goal = &term;
    const SourceLocation& where = goal ? goal->params.where : task.spec.where;
    if (cell > kMaxFactor * wanted)
      throw WorldFileError(where, std::string("<goal>: ") + numbers +
                                      ": expected a smaller world, or cells of " + size +
                                      " (attribute 'cell')");
    task.warnings.push_back(printable(where.text() + ": <goal>: " + numbers + ": cells of " + size +
                                      " are used, and paths through narrower gaps are not found"));
    return;
  }
}

void make_grids(Task& task, LoadGuard& guard) {
  task.static_world =
      std::all_of(task.models.begin(), task.models.end(), [](const auto& m) { return is_static(*m); });
  if (!task.static_world) return;
  for (AgentTask& agent : task.agents) {
    if (!agent.needs_path) continue;
    for (const auto& model : task.models) {
      const Simulation simulation(model, 0);
      auto grid = std::make_shared<PlanningGrid>(
          make_planning_grid(simulation, agent.vehicle, agent.start_and_goal.planning_cell(),
                             agent.start_and_goal.inflation(), [&] { guard.poll(); }));
      guard.take(static_cast<double>(grid->free.size()) + PathTables::bytes_of(*grid), task.spec.where,
                 "the planning grid");
      grid->tables = std::make_shared<const PathTables>(*grid);
      agent.grids.push_back(std::move(grid));
    }
  }
}

// Adds the warnings about the start of the world. Vehicles of agents and blocks that the environment places
// are moved away first, since they start elsewhere.
void check_blocks(Task& task, const std::shared_ptr<const Model>& model, LoadGuard& guard) {
  Simulation simulation(model, 0);
  double shift = 0;
  const auto next_place = [&] {
    constexpr double kAway = 1000, kApart = 100;  // m
    return Pose2{model->bounds.x_max + kAway, model->bounds.y_max + kAway + kApart * shift++, 0};
  };
  for (const AgentTask& agent : task.agents) simulation.place_vehicle(agent.vehicle, next_place());
  for (size_t i = 0; i < model->blocks.size(); ++i)
    if (model->blocks[i].placed) simulation.place_block(i, next_place());
  for (const StartWarning& warning : check_start(simulation, [&] { guard.poll(); })) {
    const std::string line = printable(warning.line());
    if (std::ranges::find(task.warnings, line) == task.warnings.end()) task.warnings.push_back(line);
  }
}

std::unique_ptr<Task> compile(const EnvSpec& spec, const EnvLoadOptions& options,
                              const ViewDrawerMaker& make_drawer) {
  auto task = std::make_unique<Task>();
  task->spec = spec;
  task->given = std::make_shared<const EnvSpec>(spec);
  LoadGuard guard(options.memory_limit, options.poll);
  compile_worlds(*task, options, guard, make_drawer);
  set_times(*task);
  compile_agents(*task, guard);
  task->level_randomizations = make_level(*task);
  for (const TermSpec& term : task->spec.randomizations) {
    TermReader reader(term);
    task->randomizations.emplace_back(reader, *task->models.front());
    reader.finish();
  }
  task->movers = compile_movers(*task);
  for (const AgentTask& agent : task->agents)
    if (agent.needs_path) check_planning(*task, agent.start_and_goal.planning_cell());
  make_grids(*task, guard);
  for (const auto& model : task->models) check_blocks(*task, model, guard);
  task->memory_used = guard.used();
  task->strict = options.strict;
  return task;
}

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

}  // namespace

std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options) {
  return compile_task(spec, options, draw_by(options.camera_backend));
}

// An error that occurs only with the caller's keywords is reported at the keywords, not at the line of the
// file.
std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options,
                                   const ViewDrawerMaker& make_drawer) {
  try {
    std::unique_ptr<Task> task = compile(spec, options, make_drawer);
    warn_of_no_effect(*task, options.poll);
    refuse_warnings(*task);
    return task;
  } catch (const WorldFileError& error) {
    if (!spec.as_written || error.where().line == 0 || is_of_caller(error, spec)) throw;
    if (!works([&] { compile(*spec.as_written, options, make_drawer); })) throw;
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
      const std::unique_ptr<Task> task = compile(other, options, draw_by(options.camera_backend));
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

}  // namespace mvsim
