#include "worldfile/unused_variables.h"

#include <algorithm>

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

}  // namespace

std::vector<std::string> unused_variables(const LoadState& state) {
  std::vector<std::string> out;
  if (state.skipped_include) return out;
  for (const auto& [name, value] : state.options.variables) {
    const auto mentions_it = [&, &variable = name](const auto& file) {
      return mentions(file->text(), variable);
    };
    if (!name.empty() && !state.expander.has_asked_for(name) &&
        std::none_of(state.texts.begin(), state.texts.end(), mentions_it))
      out.push_back(name);
  }
  return out;
}

}  // namespace mvsim
