#include "worldfile/load_world.h"

#include <filesystem>
#include <optional>

#include "assets/open_file.h"
#include "worldfile/include.h"
#include "worldfile/load_state.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

namespace fs = std::filesystem;

void process_all(LoadState& state, const std::vector<Element>& elements);

// --- Flow control ---

void process_variable(LoadState& state, const Element& e) {
  const pugi::xml_attribute name = e.node.attribute("name");
  const std::optional<NamedText> value = attribute_of(state, e, "value", {});
  if (std::string_view(name.value()).empty()) throw WorldFileError(e.where(), "<variable> has no name");
  if (!value) throw WorldFileError(e.where(), "<variable> '" + shortened(name.value()) + "' has no value");
  state.expander.set_variable(name.value(), value->text);
}

void process_if(LoadState& state, const Element& e) {
  const Nesting nesting(state, e.where());
  if (evaluate_condition(state, e)) process_all(state, children_of(e));
}

void process_for(LoadState& state, const Element& e) {
  const Nesting nesting(state, e.where());
  const std::string name = required_attribute(state, e, "var", {}).text;
  const int64_t from = parse_int(required_attribute(state, e, "from", {}));
  const int64_t to = parse_int(required_attribute(state, e, "to", {}));
  const std::vector<Element> body = children_of(e);
  if (body.empty()) {
    state.warnings.add("empty for", e.where(), "<for> has nothing inside");
    return;
  }
  if (from > to) remember_skipped(state, e);
  for (int64_t i = from; i <= to; ++i) {
    state.expander.set_variable(name, std::to_string(i));
    process_all(state, body);
  }
}

void set_folder(LoadState& state, const std::string& folder) {
  state.folder = folder;
  state.expander.set_folder(folder);
}

void process_include(LoadState& state, const Element& e) {
  const OpenInclude file(state, e, false);
  const std::string folder = state.folder;
  set_folder(state, file.folder());
  process_all(state, children_of(file.source().document(), file.source()));
  set_folder(state, folder);
}

// --- Global scalars ---

bool process_scalar(LoadState& state, const Element& e) {
  const Tag<WorldSpec>* const tag = find_tag(kWorldTags, e.tag());
  if (!tag) return false;
  if (tag->effect == TagEffect::kRefused) refuse(e, "<" + std::string(e.tag()) + ">");
  const NamedText text = text_of(state, e, {});
  read_tag(*tag, text, state.world);
  if (tag->name() == "simul_timestep") state.world.timestep_where = text.where;
  if (tag->effect == TagEffect::kNone) warn_no_effect(state, e.tag(), e.where());
  return true;
}

// --- Dispatch ---

// Reads <vehicle:class>, <block:class> or <actor:class>.
template <ClassBodies LoadState::*classes>
void parse_class(LoadState& state, const Element& e) {
  const std::string name = class_name_of(state, e);
  (state.*classes)[name] = {e, read_body(state, e, BodyInclude::kInPlace).own};
}

struct TopTag {
  std::string_view name;
  void (*process)(LoadState&, const Element&);
};

constexpr TopTag kTopTags[] = {
    {"vehicle", parse_vehicle},
    {"vehicle:class", parse_class<&LoadState::vehicle_classes>},
    {"block", parse_block},
    {"block:class", parse_class<&LoadState::block_classes>},
    {"element", parse_element},
    {"walls", parse_walls},
    {"include", process_include},
    {"variable", process_variable},
    {"for", process_for},
    {"if", process_if},
    {"gui", check_gui},
    {"lights", parse_lights},
    {"light", parse_lights},
    {"marker", parse_marker},
    {"joint", parse_joint},
    {"actor", parse_actor},
    {"actor:class", parse_class<&LoadState::actor_classes>},
    {"georeference", parse_georeference},
    {"sensor", parse_standalone_sensor},
};

void process(LoadState& state, const Element& e) {
  state.budget.element(e);
  const std::string_view tag = e.tag();
  for (const TopTag& known : kTopTags)
    if (known.name == tag) return known.process(state, e);
  if (process_scalar(state, e)) return;
  const std::string kind = "unknown " + std::string(tag);
  std::string text;
  if (state.warnings.is_new(kind)) {
    const std::vector<std::string_view> scalars = tag_names(kWorldTags);
    std::vector<std::string> names(scalars.begin(), scalars.end());
    for (const TopTag& known : kTopTags) names.emplace_back(known.name);
    text = "<" + std::string(tag) + "> is unknown and ignored" + did_you_mean(tag, names);
  }
  state.warnings.add(kind, e.where(), text);
}

void process_all(LoadState& state, const std::vector<Element>& elements) {
  for (const Element& e : elements) process(state, e);
}

// --- The document ---

bool is_version(std::string_view text) {
  const size_t dot = text.find('.');
  const auto all_digits = [](std::string_view s) {
    return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dot != std::string_view::npos && all_digits(text.substr(0, dot)) && all_digits(text.substr(dot + 1));
}

void read(LoadState& state, const std::string& path, std::string text, const std::string& folder) {
  state.main_folder = folder;
  const XmlSource& source =
      read_main_source(state, std::make_shared<const SourceText>(path, std::move(text)));
  const std::vector<Element> roots = children_of(source.document(), source);
  if (roots.empty())
    throw WorldFileError(SourceLocation{std::make_shared<const std::string>(path), 1, 1},
                         "is empty, expected <mvsim_world>");
  const Element& root = roots.front();
  if (root.tag() != "mvsim_world")
    throw WorldFileError(root.where(), "the root is <" + shortened(root.tag()) + ">, expected <mvsim_world>");
  if (const std::optional<NamedText> version = attribute_of(state, root, "version", {});
      version && !is_version(trimmed(version->text)))
    throw WorldFileError(version->where,
                         "version: found '" + shortened(version->text) + "', expected two numbers as 1.0");
  set_folder(state, folder);
  state.world.path = path;
  for (const auto& [name, value] : state.options.variables) state.expander.set_variable(name, value);
  process_all(state, children_of(root));
  state.world.unused_variables = unused_variables(state);
  state.world.asked_variables = state.expander.asked_names();
  if (state.options.refuses_unused && !state.world.unused_variables.empty()) {
    const std::string& name = state.world.unused_variables.front();
    throw WorldFileError(root.where(), "nothing in this world uses the variable '" + shortened(name) + "'" +
                                           did_you_mean(name, state.world.asked_variables));
  }
  warn_of_absent_objects(state);
  state.world.warnings = state.warnings.texts();
}

WorldSpec load(LoadState& state, const std::string& path, std::string text, const std::string& folder) {
  try {
    read(state, path, std::move(text), folder);
  } catch (const WorldFileError& e) {
    throw with_includes(e, state.world);
  }
  return std::move(state.world);
}

// Returns the folders that a world may read: those of the options, and the parent of its own folder, because
// users keep definitions/ beside worlds/. Its own folder replaces a parent "/".
std::vector<std::string> root_folders(const std::string& folder, const WorldLoadOptions& options) {
  std::vector<std::string> out = options.roots;
  const std::string parent = folder_of(folder);
  out.push_back(parent == "/" ? folder : parent);
  if (!options.assets.empty()) out.push_back(options.assets);
  return out;
}

std::string real_folder(const std::string& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) throw Error(folder + ": is not a folder that can be read: " + error.message());
  return real.string();
}

// Returns the real path of a file. `folder` is the real path of its folder.
std::string real_file(const std::string& path, const std::string& folder) {
  const std::string inside = join_path(folder, path.substr(path.rfind('/') + 1));
  std::error_code error;
  return fs::is_symlink(inside, error) ? fs::canonical(path, error).string() : inside;
}

}  // namespace

WorldFileError with_includes(const WorldFileError& error, const WorldSpec& world) {
  std::string message = error.message();
  SourceLocation at = error.where();
  for (int i = 0; i < kMaxIncludeDepth && at.path; ++i) {
    const auto include = world.includes.find(*at.path);
    if (include == world.includes.end()) break;
    at = include->second;
    message += ", included at " + at.text();
  }
  return {error.where(), message};
}

WorldSpec load_world(const OpenFile& file, const WorldLoadOptions& options, LoadSession& session) {
  const std::string& path = file.path();
  const std::string folder = real_folder(folder_of(path));
  LoadState state(options, session, root_folders(folder, options));
  state.include_stack.push_back(real_file(path, folder));
  return load(state, path, file.read(kMaxFileBytes), folder);
}

WorldSpec load_world(const std::string& path, const WorldLoadOptions& options) {
  require_file(path, "world");
  LoadGuard guard(options.memory_limit, options.poll);
  LoadSession session(guard);
  return load_world(open_file(path), options, session);
}

NamedUrls named_urls(const std::string& path, const WorldLoadOptions& options) {
  require_file(path, "world");
  LoadGuard guard(options.memory_limit, options.poll);
  LoadSession session(guard);
  NamedUrls out;
  try {
    load_world(open_file(path), options, session);
  } catch (const WorldFileError& e) {
    out.error = e.what();
  }
  out.urls.assign(session.urls.begin(), session.urls.end());
  return out;
}

WorldSpec load_world_text(const std::string& text, const std::string& folder,
                          const WorldLoadOptions& options) {
  const std::string real = real_folder(folder);
  LoadGuard guard(options.memory_limit, options.poll);
  LoadSession session(guard);
  LoadState state(options, session, root_folders(real, options));
  return load(state, join_path(real, "<text>"), text, real);
}

}  // namespace mvsim
