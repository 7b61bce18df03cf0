// EnvSpec -> Task.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "env/compile_agents.h"
#include "model/compile.h"

namespace mvsim {
namespace {

void replace_knobs(NamedText& value, const std::vector<KnobSpec>& knobs) {
  std::string out;
  std::string_view rest = value.text;
  for (size_t at = rest.find("${"); at != std::string_view::npos; at = rest.find("${")) {
    const size_t end = rest.find('}', at);
    if (end == std::string_view::npos)
      throw WorldFileError(value.where, "<" + value.name + ">: found '${' without '}'");
    const std::string_view name = rest.substr(at + 2, end - at - 2);
    const auto knob =
        std::find_if(knobs.begin(), knobs.end(), [&](const KnobSpec& k) { return k.value.name == name; });
    if (knob == knobs.end()) {
      std::vector<std::string> known(knobs.size());
      std::transform(knobs.begin(), knobs.end(), known.begin(),
                     [](const KnobSpec& k) { return k.value.name; });
      throw WorldFileError(value.where, "<" + value.name + ">: found the unknown knob '" + std::string(name) +
                                            "'" + did_you_mean(name, known));
    }
    out += rest.substr(0, at);
    out += knob->value.text;
    rest.remove_prefix(end + 1);
  }
  out += rest;
  value.text = std::move(out);
}

void replace_knobs(EnvSpec& spec) {
  for (KnobSpec& knob : spec.knobs)
    if (knob.is_file)
      knob.value.text = std::filesystem::absolute(join_path(folder_of(spec.path), knob.value.text)).string();
  const auto in_terms = [&](std::vector<TermSpec>& terms) {
    for (TermSpec& term : terms)
      for (NamedText& value : term.params.values) replace_knobs(value, spec.knobs);
  };
  replace_knobs(spec.world, spec.knobs);
  for (AgentSpec& agent : spec.agents) {
    for (NamedText& value : agent.action.params.values) replace_knobs(value, spec.knobs);
    for (auto* terms : {&agent.observations, &agent.rewards, &agent.terminations}) in_terms(*terms);
  }
  for (auto* terms : {&spec.resets, &spec.randomizations}) in_terms(*terms);
}

// What an environment moves or resizes must not be compiled into a model's static geometry.
CompileOptions compile_options(const EnvSpec& spec) {
  CompileOptions options;
  for (const TermSpec& term : spec.resets)
    if (const NamedText* blocks = term.params.find("blocks")) options.placed_blocks.push_back(blocks->text);
  for (const TermSpec& term : spec.randomizations)
    if (const NamedText* of = term.params.find("of"))
      if (const std::string block = randomized_block(of->text); !block.empty())
        options.placed_blocks.push_back(block);
  return options;
}

void load_models(Task& task, const EnvLoadOptions& options) {
  const EnvSpec& spec = task.spec;
  WorldLoadOptions load;
  load.assets = options.assets;
  load.roots = options.roots;
  load.roots.insert(load.roots.end(), spec.roots.begin(), spec.roots.end());
  load.tells_unused = false;  // some knobs serve the environment file alone
  for (const KnobSpec& knob : spec.knobs) load.variables.emplace_back(knob.value.name, knob.value.text);

  // the file names its world, so the world must lie where the file may read
  std::vector<std::string> roots = load.roots;
  const std::string folder = folder_of(spec.path);
  roots.push_back(join_path(folder, ".."));
  if (!load.assets.empty()) roots.push_back(load.assets);
  std::string reason;
  const auto path = FileRoots(roots).resolve(join_path(folder, spec.world.text), reason);
  if (!path)
    throw WorldFileError(spec.world.where,
                         about("world", spec.world.where) + "the file '" + spec.world.text + "' " + reason);

  const CompileOptions compile = compile_options(spec);
  for (int i = 0; i < spec.variants; ++i) {
    load.world_seed = static_cast<uint64_t>(spec.world_seed) + static_cast<uint64_t>(i);
    task.models.push_back(load_model(*path, load, compile));
    const Model &first = *task.models.front(), &model = *task.models.back();
    const bool alike = first.vehicles.size() == model.vehicles.size() &&
                       first.blocks.size() == model.blocks.size() &&
                       first.sensors.size() == model.sensors.size() &&
                       first.params.size() == model.params.size() && first.timestep == model.timestep;
    if (!alike)
      throw WorldFileError(spec.world.where,
                           about("world", spec.world.where) + "with several variants, world " +
                               std::to_string(i) +
                               " has other vehicles, blocks, sensors or time step than world 0, "
                               "expected worlds that differ in walls, grids and poses only");
  }
}

void set_times(Task& task) {
  const EnvSpec& spec = task.spec;
  const double timestep = task.models.front()->timestep;
  task.control_period = spec.control_period;
  task.substeps =
      spec.substeps > 0 ? spec.substeps : static_cast<int>(std::lround(spec.control_period / timestep));
  const double rest = std::fabs(task.substeps * timestep - spec.control_period);
  if (spec.substeps == 0 && (task.substeps < 1 || rest > 1e-6))
    throw WorldFileError(spec.control_where, about("control_period", spec.control_where) + "found " +
                                                 std::to_string(spec.control_period) +
                                                 " s, expected a multiple of the world's time step of " +
                                                 std::to_string(timestep) +
                                                 " s (or the attribute 'substeps')");
  task.substep = spec.control_period / task.substeps;
  if (spec.time_limit > 0) {
    task.max_steps =
        std::max<int64_t>(1, std::llround(std::ceil(spec.time_limit / spec.control_period - 1e-9)));
  }
}

bool is_static(const Model& model) {
  return model.vehicles.size() == 1 &&
         std::all_of(model.blocks.begin(), model.blocks.end(),
                     [](const BlockModel& b) { return b.body < 0 || (b.is_static && !b.placed); });
}

void make_grids(Task& task) {
  task.static_world =
      std::all_of(task.models.begin(), task.models.end(), [](const auto& m) { return is_static(*m); });
  if (!task.static_world) return;
  for (AgentTask& agent : task.agents) {
    if (!agent.needs_path) continue;
    for (const auto& model : task.models) {
      const Simulation simulation(model, 0);
      agent.grids.push_back(std::make_shared<const PlanningGrid>(
          make_planning_grid(simulation, agent.vehicle, agent.start_and_goal.planning_cell(),
                             agent.start_and_goal.inflation())));
    }
  }
}

}  // namespace

std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options) {
  auto task = std::make_unique<Task>();
  task->spec = spec;
  replace_knobs(task->spec);
  load_models(*task, options);
  set_times(*task);
  compile_agents(*task);
  for (const TermSpec& term : task->spec.randomizations) {
    TermReader reader(term);
    task->randomizations.emplace_back(reader, *task->models.front());
    reader.finish();
  }
  make_grids(*task);
  return task;
}

}  // namespace mvsim
