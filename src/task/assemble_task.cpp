// Compiles an EnvSpec to a Task.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "sim/free_room.h"
#include "task/compile_parts.h"
#include "task/plan/path_tables.h"

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
    const std::string size = metres(cell);
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

}  // namespace

std::unique_ptr<Task> assemble_task(const EnvSpec& spec, const EnvLoadOptions& options,
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

}  // namespace mvsim
