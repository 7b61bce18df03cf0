// A text file and the offsets of its lines. Immutable, thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace mvsim {

class SourceText {
 public:
  SourceText(std::string path, std::string text);

  const std::string& text() const { return text_; }
  const std::string& path() const { return *path_; }
  SourceLocation where(size_t offset) const;

 private:
  std::shared_ptr<const std::string> path_;
  std::string text_;
  std::vector<size_t> line_starts_;
};

}  // namespace mvsim
