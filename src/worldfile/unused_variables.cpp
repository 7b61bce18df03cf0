#include "worldfile/unused_variables.h"

#include <algorithm>
#include <map>
#include <optional>

#include "worldfile/include.h"

namespace mvsim {
namespace {

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

}  // namespace

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

}  // namespace mvsim
