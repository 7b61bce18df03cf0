#include "base/source_text.h"

#include <algorithm>

namespace mvsim {
SourceText::SourceText(std::string path, std::string text)
    : path_(std::make_shared<const std::string>(std::move(path))), text_(std::move(text)), line_starts_{0} {
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    line_starts_.push_back(at + 1);
}

SourceLocation SourceText::where(size_t offset) const {
  const auto next =
      std::upper_bound(line_starts_.begin(), line_starts_.end(), std::min(offset, text_.size()));
  const size_t line = static_cast<size_t>(next - line_starts_.begin());
  return {path_, static_cast<int>(line), static_cast<int>(offset - line_starts_[line - 1] + 1)};
}

}  // namespace mvsim
