#include "worldfile/load_state.h"

#include <algorithm>
#include <optional>

#include "worldfile/expression.h"
#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMaxKinds = 200;  // of warnings

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_word(char c) {
  return lower(c) != c || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether `name` stands in `text` as a word, in any case.
bool has_word(std::string_view text, std::string_view name) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), name.begin(), name.end(), same);
    if (at == text.end()) return false;
    const auto end = at + static_cast<std::ptrdiff_t>(name.size());
    if ((at == text.begin() || !is_word(at[-1])) && (end == text.end() || !is_word(*end))) return true;
  }
}

bool mentions(std::string_view text, std::string_view name) {
  for (const std::string_view opening : {"${", "$f{"})
    for (size_t at = text.find(opening); at != std::string_view::npos;) {
      const size_t end = std::min(text.find('}', at), text.size());
      if (has_word(text.substr(at, end - at), name)) return true;
      at = text.find(opening, end);
    }
  return false;
}

// The texts of files that were left out, and of those that they include; nothing where one cannot be found.
class SkippedTexts {
  static constexpr size_t kMaxFiles = 100;

 public:
  explicit SkippedTexts(const LoadState& state) : state_(state) {
    for (const SkippedInclude& include : state.skipped_includes) add(include);
  }
  bool complete() const { return complete_; }
  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  void add(const SkippedInclude& include) {
    state_.session.guard.poll();
    std::optional<OpenFile> file = find(include);
    if (!file || texts_.size() > kMaxFiles || bytes_ + file->size() > kMaxFilesBytes) {
      complete_ = false;
      return;
    }
    const auto [found, is_new] = texts_.try_emplace(file->path());
    if (!is_new) return;
    bytes_ += file->size();
    try {
      found->second = file->read(kMaxFileBytes);
    } catch (const Error&) {
      complete_ = false;
      return;
    }
    pugi::xml_document document;
    if (!document.load_buffer(found->second.data(), found->second.size())) {
      complete_ = false;
      return;
    }
    const std::string folder = folder_of(file->path());
    file.reset();  // a chain of files keeps none open
    for_includes(document, [&](std::string_view name) { add({std::string(name), {folder}}); });
  }

  std::optional<OpenFile> find(const SkippedInclude& include) const {
    std::string reason;
    if (include.file.find('$') != std::string::npos) return std::nullopt;
    for (const std::string& folder : include.folders)
      if (auto file = state_.resources.roots().open(join_path(folder, include.file), reason)) return file;
    return std::nullopt;
  }

  const LoadState& state_;
  std::map<std::string, std::string> texts_;
  uint64_t bytes_ = 0;
  bool complete_ = true;
};

// Top-level elements that place nothing: checked only, for receivers, for people.

void check_group(LoadState& state, const Element& e, PlainTags tags, const Scope& scope = {}) {
  const Fields fields(state, scope, e);
  check_tags(state, fields, tags);
  fields.warn_unknown(e.tag(), tag_names(tags));
  warn_no_effect(state, e.tag(), e.where());
}

}  // namespace

bool WarningList::is_new(const std::string& kind) {
  return entries_.size() < kMaxKinds && !index_.contains(kind);
}

void WarningList::add(const std::string& kind, const SourceLocation& where, const std::string& text) {
  const auto known = index_.find(kind);
  if (known != index_.end()) {
    ++entries_[known->second].count;
  } else if (entries_.size() < kMaxKinds) {
    index_[kind] = entries_.size();
    entries_.push_back({where.text() + ": " + text, 1});
  } else {
    ++left_out_;
  }
}

std::vector<std::string> WarningList::texts() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_)
    out.push_back(entry.count == 1 ? entry.text
                                   : entry.text + " (" + std::to_string(entry.count) + " times, here first)");
  if (left_out_ > 0) out.push_back(std::to_string(left_out_) + " more warnings are left out");
  return out;
}

std::vector<std::string> unused_variables(const LoadState& state) {
  std::vector<std::string> out;
  for (const auto& [name, value] : state.options.variables) {
    state.session.guard.poll();
    const auto mentions_it = [&, &variable = name](const auto& file) {
      return mentions(file->text(), variable);
    };
    if (!name.empty() && !state.expander.has_asked_for(name) &&
        std::none_of(state.texts.begin(), state.texts.end(), mentions_it))
      out.push_back(name);
  }
  if (out.empty() || state.skipped_includes.empty()) return out;
  const SkippedTexts skipped(state);
  if (!skipped.complete()) return {};
  std::erase_if(out, [&](const std::string& name) {
    state.session.guard.poll();
    return std::any_of(skipped.texts().begin(), skipped.texts().end(),
                       [&](const auto& text) { return mentions(text.second, name); });
  });
  return out;
}

void check_gui(LoadState& state, const Element& e) {
  check_group(state, e, kGuiTags);
}

// Receivers and IMUs look at it (model/compile_sensors.cpp). Coordinates of a UTM zone need nothing else:
// Model::origin.
void parse_georeference(LoadState& state, const Element& e) {
  const Fields fields(state, {}, e);
  GeoreferenceSpec at;
  read_tags(state, fields, kGeoreferenceTags, at);
  fields.warn_unknown("georeference", tag_names(kGeoreferenceTags));
  if (at.is_utm && at.rotation != 0)
    throw WorldFileError(e.where(), "<georeference>: found <world_is_utm> with a rotation of " +
                                        number_text(at.rotation) +
                                        " degrees, expected <world_to_enu_rotation_deg> 0");
  if (at.is_utm && (at.latitude == 0 || at.longitude == 0))
    throw WorldFileError(e.where(),
                         "<georeference>: found <world_is_utm> alone, expected <latitude> and <longitude>");
  state.world.georeference = at;
}

void parse_marker(LoadState& state, const Element& e) {
  const NamedText type = required_attribute(state, e, "type", {});
  if (type.text != "line_strip")
    throw WorldFileError(type.where,
                         "<marker>: found type '" + shortened(type.text) + "', expected line_strip");
  const Fields fields(state, {}, e);
  const std::optional<NamedText> points = fields.scalar("points");
  if (!points) throw WorldFileError(e.where(), "<marker> has no <points>");
  constexpr size_t kMaxNumbers = 300000;
  const std::vector<double> v = parse_numbers(*points, 3, kMaxNumbers, "rows of x y z");
  if (v.size() % 3 != 0) throw WorldFileError(points->where, "<points>: expected rows of x y z");
  state.budget.seen_points(v.size() / 3, points->where);
  MarkerSpec out;
  out.where = e.where();
  read_tags(state, fields, kMarkerTags, out);
  std::vector<double> shift{0, 0, 0};
  if (const std::optional<NamedText> translation = fields.scalar("translation"))
    shift = parse_numbers(*translation, 2, 3, "x y and optionally z (m)");
  shift.resize(3);
  for (size_t i = 0; i < v.size(); i += 3)
    out.points.push_back({v[i] + shift[0], v[i + 1] + shift[1], v[i + 2] + shift[2]});
  fields.warn_unknown("marker", tag_names(kMarkerTags));
  state.world.markers.push_back(std::move(out));
}

}  // namespace mvsim
