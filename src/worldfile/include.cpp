#include "worldfile/include.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "assets/open_file.h"
#include "worldfile/fields.h"

namespace mvsim {
namespace {

const XmlSource& add_source(LoadState& state, std::shared_ptr<const SourceText> file, EditedText text,
                            bool may_be_empty, const SourceLocation& where) {
  state.budget.file(text.text.size(), where);
  if (std::find(state.texts.begin(), state.texts.end(), file) == state.texts.end())
    state.texts.push_back(file);
  auto source = std::make_unique<const XmlSource>(std::move(file), std::move(text), may_be_empty);
  state.budget.parsed(source->element_count(), where);
  for (const XmlSource::Mismatch& mismatch : source->mismatches())
    state.warnings.add("mismatch " + mismatch.where.text(), mismatch.where, mismatch.text);
  state.sources.push_back(std::move(source));
  return *state.sources.back();
}

void refuse_url(const NamedText& value) {
  if (!is_url(value.text) && !value.text.starts_with("ftp://")) return;
  throw WorldFileError(value.where,
                       "'" + shortened(value.text, 200) + "': an <include> takes a local file, not a URL");
}

constexpr const char* kFetch =
    "neither in a mapped folder nor in the cache: `mvsim-gym fetch WORLD` downloads";

// "../../definitions/x.xml" -> "definitions/x.xml"
std::string without_leading_dots(std::string path) {
  while (path.starts_with("../") || path.starts_with("./")) path.erase(0, path.find('/') + 1);
  return path;
}

// Names that a text uses as ${NAME} or ${NAME|default}.
std::set<std::string> used_names(const std::string& text) {
  std::set<std::string> names;
  for (size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2)) {
    constexpr size_t kLongest = 200;  // a longer text is no name; this bounds the search
    const std::string_view rest = std::string_view(text).substr(at + 2, kLongest);
    const size_t length = rest.find_first_of("|}$");
    if (length != std::string_view::npos && rest[length] != '$')
      names.emplace(trimmed(rest.substr(0, length)));
  }
  return names;
}

// For suggestions, whose cost is bounded so.
std::vector<std::string> some_of(const std::set<std::string>& names) {
  constexpr size_t kMost = 500;
  std::vector<std::string> out;
  for (const std::string& name : names)
    if (out.size() < kMost) out.push_back(name);
  return out;
}

// "; it has a, b and 3 more"
std::string list_of(const std::set<std::string>& names) {
  constexpr size_t kMost = 20;
  if (names.empty()) return "; it has none";
  std::string out = "; it has ";
  size_t n = 0;
  for (const std::string& name : names) {
    if (n == kMost) return out + " and " + std::to_string(names.size() - kMost) + " more";
    out += (n++ == 0 ? "" : ", ") + shortened(name);
  }
  return out;
}

// A parameter that the file does not use is most often a misspelt one.
void warn_unused(LoadState& state, const Element& include, const IncludeParameters& parameters,
                 const std::string& text) {
  if (parameters.values.empty()) return;
  std::set<std::string> used = used_names(text);
  for (const auto& [name, value] : parameters.values) {
    state.session.guard.poll();
    const std::string kind = "unused parameter " + name;
    if (used.contains(name)) continue;
    if (!state.warnings.is_new(kind)) {  // counts it
      state.warnings.add(kind, include.where(), "");
      continue;
    }
    for (const char* own : {"NAME", "PARENT_NAME", "MVSIM_CURRENT_FILE_DIRECTORY"}) used.erase(own);
    state.warnings.add(kind, include.where(),
                       "<include>: the file has no parameter '" + shortened(name, 60) + "'" +
                           did_you_mean(name, some_of(used)) + list_of(used));
  }
}

// Beside the file being read, beside the file that says it, then among the package's own worlds.
OpenFile open_include(LoadState& state, const Element& include, NamedText value) {
  value.text = trimmed(value.text);
  refuse_url(value);
  if (value.text.starts_with("file://")) value.text.erase(0, 7);
  const std::string& holder = include.source->path();
  const std::string beside = holder == state.world.path ? state.main_folder : folder_of(holder);
  std::vector<std::string> candidates{join_path(state.folder, value.text), join_path(beside, value.text)};
  if (!state.options.assets.empty() && !value.text.starts_with('/'))
    candidates.push_back(
        join_path(join_path(state.options.assets, "worlds"), without_leading_dots(value.text)));
  std::string first_reason, reason;
  for (const std::string& candidate : candidates) {
    if (auto file = state.resources.roots().open(candidate, reason)) return std::move(*file);
    if (first_reason.empty()) first_reason = reason;
  }
  throw WorldFileError(value.where, "the file '" + shortened(value.text, 200) + "' " + first_reason +
                                        nearby_file(state.resources.roots(), candidates));
}

std::shared_ptr<const SourceText> read_include(LoadState& state, const OpenFile& file,
                                               const SourceLocation& where) {
  std::shared_ptr<const SourceText>& text = state.files[file.path()];
  if (text) return text;
  try {
    text = std::make_shared<const SourceText>(file.path(), *state.session.cache.text(file, kMaxFileBytes));
  } catch (const Error& e) {
    throw WorldFileError(where, "<include>: " + std::string(e.what()));
  }
  return text;
}

void append_body(LoadState& state, const std::vector<Element>& children, BodyInclude mode, bool is_included,
                 ObjectBody& out);

void append_include(LoadState& state, const Element& include, BodyInclude mode, ObjectBody& out) {
  if (mode == BodyInclude::kIgnored) {
    state.warnings.add("include here", include.where(), "<include> is ignored in a block");
    return;
  }
  const OpenInclude file(state, include, true);
  append_body(state, children_of(file.source().document(), file.source()), mode, true, out);
}

void append_body(LoadState& state, const std::vector<Element>& children, BodyInclude mode, bool is_included,
                 ObjectBody& out) {
  for (const Element& e : children) {
    state.budget.element(e);
    if (e.tag() == "include") {
      append_include(state, e, mode, out);
    } else if (e.tag() == "if") {
      const Nesting nesting(state, e.where());
      if (evaluate_condition(state, e)) append_body(state, children_of(e), mode, is_included, out);
    } else {
      (is_included && mode == BodyInclude::kSeparate ? out.included : out.own).push_back(e);
    }
  }
}

}  // namespace

const XmlSource& read_main_source(LoadState& state, std::shared_ptr<const SourceText> file) {
  EditedText text{file->text(), {}};
  const SourceLocation where = file->where(0);
  return add_source(state, std::move(file), std::move(text), false, where);
}

OpenInclude::OpenInclude(LoadState& state, const Element& include, bool inside_vehicle)
    : state_(state), nesting_(state, include.where()) {
  const SourceLocation where = include.where();
  state.budget.include(where);
  if (state.include_stack.size() >= kMaxIncludeDepth)
    throw WorldFileError(where, "<include> is nested deeper than " + std::to_string(kMaxIncludeDepth));
  const OpenFile opened = open_include(state, include, required_attribute(state, include, "file", {}));
  const std::string& path = opened.path();
  const auto& stack = state.include_stack;
  if (std::find(stack.begin(), stack.end(), path) != stack.end())
    throw WorldFileError(where,
                         "<include> makes a circle: '" + shortened(path, 200) + "' is being read already");
  folder_ = folder_of(path);
  IncludeParameters parameters{{}, folder_, inside_vehicle};
  for (const pugi::xml_attribute& attribute : include.node.attributes())
    if (std::string_view(attribute.name()) != "file") parameters.values[attribute.name()] = attribute.value();
  const std::shared_ptr<const SourceText> file = read_include(state, opened, where);
  warn_unused(state, include, parameters, file->text());
  source_ = &add_source(state, file, state.expander.substitute(*file, parameters), true, where);
  state.include_stack.push_back(path);
  state.world.includes[path] = where;
}

OpenInclude::~OpenInclude() {
  state_.include_stack.pop_back();
}

static std::optional<OpenFile> find_file(LoadState& state, const NamedText& value,
                                         const std::string& folder) {
  try {
    return state.resources.find(std::string(trimmed(value.text)), folder);
  } catch (const Error& e) {
    throw WorldFileError(value.where, "<" + value.name + ">: " + e.what());
  }
}

OpenFile open_named_file(LoadState& state, const NamedText& value, const std::string& folder) {
  if (std::optional<OpenFile> file = find_file(state, value, folder)) return std::move(*file);
  throw WorldFileError(value.where,
                       "<" + value.name + ">: '" + shortened(value.text, 200) + "' is " + kFetch + " it");
}

std::optional<OpenFile> find_named_file(LoadState& state, const NamedText& value, const std::string& folder) {
  std::optional<OpenFile> file = find_file(state, value, folder);
  if (!file)
    state.warnings.add("absent file", value.where,
                       "<" + value.name + ">: '" + shortened(value.text, 200) + "' is not drawn, being " +
                           kFetch + " what a world names");
  return file;
}

bool is_condition_true(std::string_view text) {
  for (std::string_view yes : {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
    if (text == yes) return true;
  return std::strtoll(std::string(text).c_str(), nullptr, 0) != 0;
}

bool evaluate_condition(LoadState& state, const Element& if_element) {
  const std::optional<NamedText> condition = attribute_of(state, if_element, "condition", {});
  if (!condition)
    throw WorldFileError(if_element.where(), "<if> has no condition, expected condition=\"...\"");
  if (is_condition_true(condition->text)) return true;
  remember_skipped(state, if_element);
  return false;
}

void remember_skipped(LoadState& state, const Element& element) {
  constexpr size_t kMax = 100;  // more say no more about what is unused
  const std::vector<std::string> folders{state.folder, folder_of(element.source->path())};
  for_includes(element.node, [&](std::string_view file) {
    if (state.skipped_includes.size() < kMax) state.skipped_includes.push_back({std::string(file), folders});
  });
}

ObjectBody read_body(LoadState& state, const Element& object, BodyInclude mode) {
  ObjectBody out;
  append_body(state, children_of(object), mode, false, out);
  return out;
}

}  // namespace mvsim
