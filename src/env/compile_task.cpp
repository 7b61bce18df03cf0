// EnvSpec -> Task.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/nearby_file.h"
#include "env/compile_agents.h"
#include "model/compile.h"

namespace mvsim {
namespace {

// Puts the knobs' values into a text; an error in what comes out points to the keyword that gave it.
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
    if (knob->value.where.line == 0) value.where = knob->value.where;
    out += rest.substr(0, at);
    out += knob->value.text;
    rest.remove_prefix(end + 1);
  }
  out += rest;
  value.text = std::move(out);
}

bool mentions(const NamedText& value, const KnobSpec& knob) {
  return value.text.find("${" + knob.value.name + "}") != std::string::npos;
}

// Every attribute that knobs may stand in, but the world's.
std::vector<NamedText*> attributes_of(EnvSpec& spec) {
  std::vector<NamedText*> out;
  const auto add_terms = [&](std::vector<TermSpec>& terms) {
    for (TermSpec& term : terms)
      for (NamedText& value : term.params.values) out.push_back(&value);
  };
  for (AgentSpec& agent : spec.agents) {
    for (NamedText& value : agent.action.params.values) out.push_back(&value);
    for (auto* terms : {&agent.observations, &agent.rewards, &agent.terminations}) add_terms(*terms);
  }
  for (auto* terms : {&spec.resets, &spec.randomizations}) add_terms(*terms);
  return out;
}

// The names of the knobs that the environment file itself uses.
std::set<std::string> replace_knobs(EnvSpec& spec) {
  std::set<std::string> used;
  const std::vector<NamedText*> attributes = attributes_of(spec);
  for (KnobSpec& knob : spec.knobs) {
    if (knob.is_file)
      knob.value.text = std::filesystem::absolute(join_path(folder_of(spec.path), knob.value.text)).string();
    for (const NamedText* value : attributes) {
      if (!mentions(*value, knob)) continue;
      used.insert(knob.value.name);
      if (knob.choices.size() > 1)
        throw WorldFileError(knob.value.where,
                             "found " + std::to_string(knob.choices.size()) +
                                 " files, expected one: an attribute of the environment uses '" +
                                 knob.value.name + "', and only worlds can differ");
    }
    if (mentions(spec.world, knob)) used.insert(knob.value.name);
  }
  for (NamedText* value : attributes) replace_knobs(*value, spec.knobs);
  return used;
}

// The knobs of each world: one where no keyword gives several files, else every combination of them.
std::vector<std::vector<KnobSpec>> combinations(const EnvSpec& spec) {
  constexpr size_t kMost = 1000;  // worlds
  std::vector<std::vector<KnobSpec>> out{spec.knobs};
  for (size_t k = 0; k < spec.knobs.size(); ++k) {
    const std::vector<std::string>& choices = spec.knobs[k].choices;
    if (choices.size() < 2) continue;
    std::vector<std::vector<KnobSpec>> more;
    for (const std::vector<KnobSpec>& knobs : out)
      for (const std::string& choice : choices) {
        if (more.size() * static_cast<size_t>(spec.variants) >= kMost)
          throw WorldFileError(spec.knobs[k].value.where,
                               "found more than " + std::to_string(kMost) + " worlds, variants included");
        more.push_back(knobs);
        more.back()[k].value.text = choice;
      }
    out = std::move(more);
  }
  return out;
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

// The world's file: the environment names it, so it must lie where the environment file may read.
std::string resolve_world(const EnvSpec& spec, const NamedText& world, const WorldLoadOptions& load) {
  std::vector<std::string> roots = load.roots;
  const std::string folder = folder_of(spec.path);
  roots.push_back(join_path(folder, ".."));
  if (!load.assets.empty()) roots.push_back(load.assets);
  std::string reason;
  const FileRoots allowed(roots);
  const std::string candidate = join_path(folder, world.text);
  if (const auto path = allowed.resolve(candidate, reason)) return *path;
  throw WorldFileError(world.where, about("world", world.where) + "the file '" + world.text + "' " + reason +
                                        nearby_file(allowed, {candidate}));
}

void check_alike(const EnvSpec& spec, const Model& first, const Model& model, size_t index) {
  const bool alike = first.vehicles.size() == model.vehicles.size() &&
                     first.blocks.size() == model.blocks.size() &&
                     first.sensors.size() == model.sensors.size() &&
                     first.params.size() == model.params.size() && first.timestep == model.timestep;
  if (!alike)
    throw WorldFileError(spec.world.where,
                         about("world", spec.world.where) + "of several worlds, world " +
                             std::to_string(index) +
                             " has other vehicles, blocks, sensors or time step than world 0, "
                             "expected worlds that differ in walls, grids and poses only");
}

// A knob that nothing uses is most often a misspelt one. A world that a keyword names may have no use for the
// file's knobs; for one that is given beside it, this is told.
void refuse_unused_knobs(Task& task, const std::set<std::string>& used, const std::set<std::string>& asked) {
  const EnvSpec& spec = task.spec;
  for (const KnobSpec& knob : spec.knobs) {
    const std::string& name = knob.value.name;
    if (used.contains(name)) continue;
    if (spec.world.where.line == 0) {
      if (knob.value.where.line == 0)
        task.warnings.push_back(knob.value.where.text() + ": has no effect: the world '" + spec.world.text +
                                "' does not ask for it" + did_you_mean(name, {asked.begin(), asked.end()}));
      continue;
    }
    throw WorldFileError(knob.defined, "<knob>: nothing uses the knob '" + name +
                                           "', neither an attribute of this file nor its world" +
                                           did_you_mean(name, {asked.begin(), asked.end()}));
  }
}

void load_models(Task& task, std::set<std::string> used, const EnvLoadOptions& options) {
  EnvSpec& spec = task.spec;
  WorldLoadOptions load;
  load.assets = options.assets;
  load.roots = options.roots;
  load.roots.insert(load.roots.end(), spec.roots.begin(), spec.roots.end());
  load.tells_unused = false;  // some knobs serve the environment file alone
  const CompileOptions compile = compile_options(spec);
  const NamedText written = spec.world;
  std::set<std::string> asked;
  for (const std::vector<KnobSpec>& knobs : combinations(spec)) {
    load.variables.clear();
    for (const KnobSpec& knob : knobs) load.variables.emplace_back(knob.value.name, knob.value.text);
    NamedText world = written;
    replace_knobs(world, knobs);
    const std::string path = resolve_world(spec, world, load);
    for (int i = 0; i < spec.variants; ++i) {
      load.world_seed = static_cast<uint64_t>(spec.world_seed) + static_cast<uint64_t>(i);
      const WorldSpec loaded = load_world(path, load);
      const auto& unused = loaded.unused_variables;
      for (const KnobSpec& knob : knobs)
        if (std::find(unused.begin(), unused.end(), knob.value.name) == unused.end())
          used.insert(knob.value.name);
      asked.insert(loaded.asked_variables.begin(), loaded.asked_variables.end());
      task.models.push_back(compile_world(loaded, compile));
      check_alike(spec, *task.models.front(), *task.models.back(), task.models.size() - 1);
    }
    if (task.models.size() == static_cast<size_t>(spec.variants)) spec.world = world;
  }
  refuse_unused_knobs(task, used, asked);
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

std::unique_ptr<Task> compile(const EnvSpec& spec, const EnvLoadOptions& options) {
  auto task = std::make_unique<Task>();
  task->spec = spec;
  load_models(*task, replace_knobs(task->spec), options);
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
