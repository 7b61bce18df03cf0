// EnvSpec -> Task.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/utf8.h"
#include "env/task.h"
#include "model/compile.h"

namespace mvsim {
namespace {

// What a message begins with: a keyword's place names it already.
std::string about(const char* name, const SourceLocation& where) {
  return where.line > 0 ? std::string(name) + ": " : "";
}

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
  for (NamedText& value : spec.action.params.values) replace_knobs(value, spec.knobs);
  for (auto* terms :
       {&spec.observations, &spec.resets, &spec.rewards, &spec.terminations, &spec.randomizations})
    in_terms(*terms);
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

// The caller chose the environment's file, so links on the way to it are followed.
std::string real_folder_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(folder_of(path), error);
  return error ? folder_of(path) : real.string();
}

WorldSpec load_variant(const EnvSpec& spec, const OpenFile& file, const WorldLoadOptions& load,
                       LoadSession& session) {
  try {
    return load_world(file, load, session);
  } catch (const WorldFileError&) {
    throw;
  } catch (const Error& e) {  // of the file as a whole
    throw WorldFileError(spec.world.where, about("world", spec.world.where) + e.what());
  }
}

void load_models(Task& task, const EnvLoadOptions& options, LoadGuard& guard) {
  const EnvSpec& spec = task.spec;
  WorldLoadOptions load;
  load.assets = options.assets;
  load.roots = options.roots;
  load.roots.insert(load.roots.end(), spec.roots.begin(), spec.roots.end());
  load.tells_unused = false;  // some knobs serve the environment file alone
  for (const KnobSpec& knob : spec.knobs) load.variables.emplace_back(knob.value.name, knob.value.text);

  // the file names its world, so the world must lie where the file may read
  std::vector<std::string> roots = load.roots;
  const std::string folder = real_folder_of(spec.path);
  roots.push_back(join_path(folder, ".."));
  if (!load.assets.empty()) roots.push_back(load.assets);
  std::string reason;
  const auto file = FileRoots(roots).open(join_path(folder, spec.world.text), reason);
  if (!file)
    throw WorldFileError(spec.world.where, about("world", spec.world.where) + "the file '" +
                                               shortened(spec.world.text, 200) + "' " + reason);

  const CompileOptions compile = compile_options(spec);
  LoadSession session(guard);
  GridCache grids;
  for (int i = 0; i < spec.variants; ++i) {
    load.world_seed = static_cast<uint64_t>(spec.world_seed) + static_cast<uint64_t>(i);
    task.models.push_back(compile_world(load_variant(spec, *file, load, session), compile, guard, grids));
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
    task.most_steps =
        std::max<int64_t>(1, std::llround(std::ceil(spec.time_limit / spec.control_period - 1e-9)));
  }
}

size_t find_vehicle(const EnvSpec& spec, const Model& model) {
  if (model.vehicles.empty())
    throw WorldFileError(spec.world.where, about("world", spec.world.where) + "'" +
                                               shortened(spec.world.text) +
                                               "' has no vehicle, expected one to act with");
  if (spec.vehicle.empty()) return 0;
  try {
    return model.vehicle_index(spec.vehicle);
  } catch (const Error& e) {
    throw WorldFileError(spec.vehicle_where, about("vehicle", spec.vehicle_where) + e.what());
  }
}

void compile_observation(const TermSpec& term, TaskContext& context, LoadGuard& guard, Task& task,
                         size_t& history_size) {
  TermReader reader(term);
  ObservationSlot slot;
  slot.term = make_term(reader, context, observation_classes());
  slot.normalize = reader.boolean("normalize", false);
  slot.history = reader.integer("history", 1, 1, 1000);
  reader.finish();
  const std::vector<Interval> bounds = slot.term->bounds();
  // bounds, history and result of one env
  guard.take(static_cast<double>(bounds.size()) * slot.history * 4 * sizeof(float), term.params.where,
             describe(term));
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

void compile_terms(Task& task, LoadGuard& guard) {
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
  for (const TermSpec& term : spec.observations)
    compile_observation(term, context, guard, task, history_size);
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
  if (needs.stuck_distance > 0) task.stuck_distance = needs.stuck_distance;
  task.scheduled_sensors = needs.scheduled_sensors;
}

bool is_static(const Model& model) {
  return model.vehicles.size() == 1 &&
         std::all_of(model.blocks.begin(), model.blocks.end(),
                     [](const BlockModel& b) { return b.body < 0 || (b.is_static && !b.placed); });
}

// A world that is too large for cells of the wanted size gets larger ones, up to a point, and the user is
// told.
void check_planning(Task& task) {
  constexpr double kMaxFactor = 16;
  if (!task.needs_path) return;
  const double wanted = task.start_and_goal.planning_cell();
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
                                      " are taken, paths through narrower gaps are not found"));
    return;
  }
}

void make_grids(Task& task, LoadGuard& guard) {
  task.static_world =
      std::all_of(task.models.begin(), task.models.end(), [](const auto& m) { return is_static(*m); });
  if (!task.needs_path || !task.static_world) return;
  for (const auto& model : task.models) {
    const Simulation simulation(model, 0);
    task.grids.push_back(std::make_shared<const PlanningGrid>(
        make_planning_grid(simulation, task.vehicle, task.start_and_goal.planning_cell(),
                           task.start_and_goal.inflation(), [&] { guard.poll(); })));
    guard.take(static_cast<double>(task.grids.back()->free.size()), task.spec.where, "the planning grid");
  }
}

}  // namespace

std::unique_ptr<Task> compile_task(const EnvSpec& spec, const EnvLoadOptions& options) {
  auto task = std::make_unique<Task>();
  task->spec = spec;
  replace_knobs(task->spec);
  LoadGuard guard(options.memory_limit, options.poll);
  load_models(*task, options, guard);
  set_times(*task);
  task->vehicle = find_vehicle(task->spec, *task->models.front());
  compile_terms(*task, guard);
  check_planning(*task);
  make_grids(*task, guard);
  task->memory_used = guard.used();
  return task;
}

}  // namespace mvsim
