// Knobs, and the worlds of a task: one for each variant and for each file that a keyword gives for a knob.
#include "task/compile_parts.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "assets/open_file.h"
#include "base/text.h"
#include "model/compile.h"
#include "sensor/sensors.h"
#include "sensor/view_sensor.h"
#include "task/move/movers.h"

namespace mvsim {
namespace {

// Replaces the knobs in a text by their values. An error in the result points to the keyword that gave the
// value.
void replace_knobs(NamedText& value, const std::vector<KnobSpec>& knobs, LoadGuard& guard) {
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
    guard.poll();
    guard.take(static_cast<double>(at + knob->value.text.size()), value.where, "<" + value.name + ">");
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

// Returns all attributes that may contain knobs, except that of the world. A missing file is an empty text.
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
  for (auto* terms : {&spec.resets, &spec.randomizations, &spec.movers, &spec.trackers}) add_terms(*terms);
  out.push_back(&spec.centreline);
  return out;
}

// Returns the knobs that the file's own attributes use, before keywords replaced attributes.
std::set<std::string> knobs_used_as_written(EnvSpec spec, const LoadGuard& guard) {
  std::set<std::string> used;
  const std::vector<NamedText*> attributes = attributes_of(spec);
  for (const KnobSpec& knob : spec.knobs) {
    bool is_used = mentions(spec.world, knob) || mentions(spec.centreline, knob);
    for (const NamedText* value : attributes) {
      guard.poll();
      is_used = is_used || mentions(*value, knob);
    }
    for (const KnobSpec& other : spec.knobs) is_used = is_used || mentions(other.value, knob);
    if (is_used) used.insert(knob.value.name);
  }
  return used;
}

// Replaces the knobs in the values of later knobs, such as '../worlds/tracks/${track}'. Other names in them
// are variables of the world.
void replace_earlier_knobs(std::vector<KnobSpec>& knobs, LoadGuard& guard) {
  for (size_t k = 1; k < knobs.size(); ++k)
    for (size_t earlier = 0; earlier < k; ++earlier) {
      const std::string name = "${" + knobs[earlier].value.name + "}";
      std::string& text = knobs[k].value.text;
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
        guard.poll();
        const std::string& by = knobs[earlier].value.text;
        guard.take(static_cast<double>(text.size() + by.size()), knobs[k].value.where, "<knob>");
        text.replace(at, name.size(), by);
        at += by.size();
      }
    }
}

// Replaces the knobs in the environment's attributes. Returns the names of those that are used.
std::set<std::string> replace_knobs(EnvSpec& spec, LoadGuard& guard) {
  std::set<std::string> used = knobs_used_as_written(spec.as_written ? *spec.as_written : spec, guard);
  const std::vector<NamedText*> attributes = attributes_of(spec);
  replace_earlier_knobs(spec.knobs, guard);
  for (KnobSpec& knob : spec.knobs) {
    if (knob.is_file)
      knob.value.text = std::filesystem::absolute(join_path(folder_of(spec.path), knob.value.text)).string();
    for (const NamedText* value : attributes) {
      guard.poll();
      if (value == &spec.centreline || !mentions(*value, knob)) continue;
      if (knob.choices.size() > 1)
        throw WorldFileError(knob.value.where,
                             "found " + std::to_string(knob.choices.size()) +
                                 " files, expected one: an attribute of the environment uses '" +
                                 knob.value.name + "', and only worlds and centrelines can differ");
    }
  }
  for (NamedText* value : attributes) replace_knobs(*value, spec.knobs, guard);
  return used;
}

// Adds the centreline of a combination of knobs, or none if it is the same for all.
void add_centreline(std::vector<NamedText>& lines, NamedText line, const std::vector<KnobSpec>& knobs,
                    LoadGuard& guard) {
  if (line.text.empty()) return;
  const bool differs = std::ranges::any_of(
      knobs, [&](const KnobSpec& knob) { return knob.choices.size() > 1 && mentions(line, knob); });
  replace_knobs(line, knobs, guard);
  if (differs || lines.empty()) lines.push_back(std::move(line));
}

// Returns the knobs of each world: one set, or every combination where a keyword gives several files.
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

// Bodies that an environment moves or resizes must not be compiled into a model's static geometry.
CompileOptions compile_options(const EnvSpec& spec) {
  CompileOptions options;
  for (const TermSpec& term : spec.resets)
    if (const NamedText* blocks = term.params.find("blocks")) options.placed_blocks.push_back(blocks->text);
  for (const TermSpec& term : spec.randomizations)
    if (const NamedText* of = term.params.find("of"))
      if (const std::string block = randomized_block(of->text); !block.empty())
        options.placed_blocks.push_back(block);
  for (const TermSpec& term : spec.movers)
    if (const NamedText* bodies = term.params.find("bodies")) options.driven_blocks.push_back(bodies->text);
  for (const PeopleSpec& people : people_of(spec))
    options.driven_blocks.insert(options.driven_blocks.end(), people.names.begin(), people.names.end());
  return options;
}

// Returns the real folder of the environment file. The caller chose the file, so links in its path are
// followed.
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
  } catch (const Error& e) {  // an error that has no place in the file
    throw WorldFileError(spec.world.where, about("world", spec.world.where) + e.what());
  }
}

// Opens a file that the environment names. It must be in a folder that the environment file may read.
OpenFile open_named(const EnvSpec& spec, const NamedText& named, const WorldLoadOptions& load) {
  std::vector<std::string> roots = load.roots;
  const std::string folder = real_folder_of(spec.path);
  roots.push_back(root_of_env(folder));
  if (!load.assets.empty()) roots.push_back(load.assets);
  std::string reason;
  const FileRoots allowed(roots);
  const std::string candidate = join_path(folder, named.text);
  if (auto file = allowed.open(candidate, reason)) return std::move(*file);
  throw WorldFileError(named.where, about(named.name.c_str(), named.where) + "the file '" +
                                        shortened(named.text, 200) + "' " + reason +
                                        nearby_file(allowed, {candidate}));
}

// Throws at the first difference between the layout of a world and that of world 0. The terms of the
// environment are compiled for world 0, and their indices are used in all worlds.
class VariantCheck {
 public:
  VariantCheck(const EnvSpec& spec, size_t index) : spec_(spec), index_(index) {}

  void check(const Model& first, const Model& model) const {
    same("", "a time step in s of", first.timestep, model.timestep);
    same("", "a count of vehicles of", first.vehicles.size(), model.vehicles.size());
    same("", "a count of blocks of", first.blocks.size(), model.blocks.size());
    same("", "a count of sensors of", first.sensors.size(), model.sensors.size());
    same("", "a count of joints of", first.joints.size(), model.joints.size());
    for (size_t i = 0; i < model.vehicles.size(); ++i) check(first.vehicles[i], model.vehicles[i]);
    for (size_t i = 0; i < model.blocks.size(); ++i) check(first.blocks[i], model.blocks[i]);
    for (size_t i = 0; i < model.sensors.size(); ++i)
      check(first.sensors[i], model.sensors[i], model.owner_name(model.sensors[i]));
    for (size_t i = 0; i < model.joints.size(); ++i) {
      same("joint " + std::to_string(i), "a first body of index", first.joints[i].body_a,
           model.joints[i].body_a);
      same("joint " + std::to_string(i), "a second body of index", first.joints[i].body_b,
           model.joints[i].body_b);
    }
    same("", "a count of parameters of", first.params.size(), model.params.size());
    for (size_t i = 0; i < model.params.size(); ++i)
      same("", "a parameter", first.params[i].path, model.params[i].path);
    same("", "a count of wheels of", first.wheel_count, model.wheel_count);
    same("", "a count of numbers that controllers and sensors keep, of", first.memory_size,
         model.memory_size);
    same("", "a count of readings of", first.reading_count, model.reading_count);
  }

 private:
  void check(const VehicleModel& first, const VehicleModel& vehicle) const {
    same("", "a vehicle", first.name, vehicle.name);
    const std::string of = "the vehicle '" + shortened(vehicle.name) + "'";
    same(of, "the dynamics", first.dynamics->name(), vehicle.dynamics->name());
    same(of, "the controller", first.controller->name(), vehicle.controller->name());
    same(of, "the friction", first.tire->name(), vehicle.tire->name());
    same(of, "a count of wheels of", first.wheels.size(), vehicle.wheels.size());
    same(of, "a body of index", first.body, vehicle.body);
    same(of, "parameters from index", first.body_params, vehicle.body_params);
  }
  void check(const BlockModel& first, const BlockModel& block) const {
    same("", "a block", first.name, block.name);
    const std::string of = "the block '" + shortened(block.name) + "'";
    same(of, "for static", first.traits.is_static, block.traits.is_static);
    same(of, "for intangible", first.traits.intangible, block.traits.intangible);
    same(of, "for placed", first.placed, block.placed);
    same(of, "for a person", first.is_person, block.is_person);
    same(of, "a body of index", static_cast<double>(first.body), static_cast<double>(block.body));
    same(of, "parameters from index", first.params, block.params);
  }
  void check(const SensorModel& first, const SensorModel& sensor, std::string_view owner) const {
    const std::string of = owner.empty() ? "the world" : "the vehicle '" + shortened(owner) + "'";
    same("", "a sensor on the vehicle of index", first.vehicle, sensor.vehicle);
    same(of, "a sensor", first.name, sensor.name);
    const std::string own = "the sensor '" + shortened(sensor.name) + "' of " + of;
    same(own, "the class", first.class_name, sensor.class_name);
    same(own, "values per reading of", first.sensor->reading().size(), sensor.sensor->reading().size());
    same(own, "readings of the shape", text(first.sensor->reading()), text(sensor.sensor->reading()));
    const ViewSensor *const first_view = as_view_sensor(*first.sensor), *const view =
                                                                            as_view_sensor(*sensor.sensor);
    if (first_view && view) {
      same(own, "a count of images of", first_view->images().size(), view->images().size());
      for (size_t i = 0; i < view->images().size(); ++i)
        same(own, "images of the shape", text(first_view->images()[i].reading),
             text(view->images()[i].reading));
    }
    same(own, "values from index", first.values, sensor.values);
    same(own, "parameters from index", first.params, sensor.params);
  }

  static std::string text(std::string_view value) { return "'" + shortened(value) + "'"; }
  static std::string text(const ReadingSpec& reading) {
    std::string out(name_of(reading.dtype));
    for (const size_t n : reading.shape) out.append(" ").append(std::to_string(n));
    return out;
  }
  static std::string text(bool value) { return value ? "true" : "false"; }
  static std::string text(size_t value) { return std::to_string(value); }
  static std::string text(double value) { return short_number(value, 9); }

  template <typename T>
  void same(const std::string& of, const char* what, const T& expected, const T& found) const {
    if (expected == found) return;
    throw WorldFileError(spec_.world.where,
                         about("world", spec_.world.where) + "of several worlds, world " +
                             std::to_string(index_) +
                             " differs from world 0: " + (of.empty() ? "" : "of " + of + ", ") + "found " +
                             what + " " + text(found) + ", expected " + text(expected) +
                             ": worlds may differ in walls, maps, poses and values of parameters only");
  }

  const EnvSpec& spec_;
  size_t index_;
};

// Refuses unused knobs, which are usually misspelt. If a keyword names the world, the file's knobs may be
// unused, but not those that are given beside it.
void refuse_unused_knobs(const EnvSpec& spec, const std::set<std::string>& used,
                         const std::set<std::string>& asked) {
  for (const KnobSpec& knob : spec.knobs) {
    const std::string& name = knob.value.name;
    const bool other_world = spec.world.where.line == 0, by_keyword = knob.value.where.line == 0;
    if (used.contains(name) || (other_world && !by_keyword)) continue;
    const std::string nearest = did_you_mean(name, {asked.begin(), asked.end()});
    if (other_world)
      throw WorldFileError(knob.value.where,
                           "nothing uses the knob '" + name +
                               "', neither an attribute of the environment nor the world '" +
                               shortened(spec.world.text, 200) + "'" + nearest);
    throw WorldFileError(knob.defined, "<knob>: nothing uses the knob '" + name +
                                           "', neither an attribute of this file nor its world" + nearest);
  }
}

}  // namespace

std::string about(const char* name, const SourceLocation& where) {
  return where.line > 0 ? std::string(name) + ": " : "";
}

std::string root_of_env(const std::string& folder) {
  const std::filesystem::path path(folder), parent = path.parent_path();
  return path.is_absolute() && parent == path.root_path() ? folder : join_path(folder, "..");
}

void compile_worlds(Task& task, const EnvLoadOptions& options, LoadGuard& guard,
                    const ViewDrawerMaker& make_drawer) {
  EnvSpec& spec = task.spec;
  const NamedText written_line = spec.centreline;
  std::vector<NamedText> lines;
  std::set<std::string> used = replace_knobs(spec, guard);
  WorldLoadOptions load;
  load.assets = options.assets;
  load.roots = options.roots;
  load.resources = options.resources;
  load.roots.insert(load.roots.end(), spec.roots.begin(), spec.roots.end());
  load.sensor_prefixes = sensor_prefixes();
  load.refuses_unused = false;  // some knobs are used by the environment file alone
  CompileOptions compile = compile_options(spec);
  compile.strict = options.strict;
  compile.make_drawer = make_drawer;
  const NamedText written = spec.world;
  std::set<std::string> asked;
  LoadSession session(guard);
  GridCache grids;
  for (const std::vector<KnobSpec>& knobs : combinations(spec)) {
    load.variables.clear();
    for (const KnobSpec& knob : knobs) load.variables.emplace_back(knob.value.name, knob.value.text);
    NamedText world = written;
    replace_knobs(world, knobs, guard);
    add_centreline(lines, written_line, knobs, guard);
    const OpenFile file = open_named(spec, world, load);
    for (int i = 0; i < spec.variants; ++i) {
      load.world_seed = static_cast<uint64_t>(spec.world_seed) + static_cast<uint64_t>(i);
      WorldSpec loaded = load_variant(spec, file, load, session);
      add_people(spec, loaded);
      const auto& unused = loaded.unused_variables;
      for (const KnobSpec& knob : knobs)
        if (std::find(unused.begin(), unused.end(), knob.value.name) == unused.end())
          used.insert(knob.value.name);
      asked.insert(loaded.asked_variables.begin(), loaded.asked_variables.end());
      task.models.push_back(compile_world(loaded, compile, guard, grids));
      VariantCheck(spec, task.models.size() - 1).check(*task.models.front(), *task.models.back());
    }
    if (task.models.size() == static_cast<size_t>(spec.variants)) spec.world = world;
  }
  refuse_unused_knobs(spec, used, asked);
  task.trackers =
      make_trackers({.spec = spec,
                     .models = task.models,
                     .centrelines = lines,
                     .element = nullptr,
                     .open = [&](const NamedText& named) { return open_named(spec, named, load); },
                     .guard = guard});
}

}  // namespace mvsim
