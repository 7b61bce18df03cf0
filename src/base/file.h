// Reading of files below declared roots. Nothing in this project opens a world's file in another way.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mvsim {

// Folders below which a world may read. Judged on the real path: "..", links, devices and pipes do not get
// out.
class FileRoots {
 public:
  // `roots` need not exist; those that do not are dropped.
  explicit FileRoots(const std::vector<std::string>& roots);

  // The real path of a regular file below a root; on failure sets `reason` ("does not exist", "is outside of
  // the roots a, b", "is not a regular file") and returns nothing.
  std::optional<std::string> resolve(const std::string& path, std::string& reason) const;
  // Whether a path, existing or not, lies below a root.
  bool holds(const std::string& path) const;
  const std::vector<std::string>& roots() const { return roots_; }

 private:
  std::vector<std::string> roots_;
};

// Whole content of a regular file of at most `most_bytes`; throws Error.
std::string read_file(const std::string& path, size_t most_bytes = size_t{64} << 20);

std::string folder_of(const std::string& path);
std::string join_path(const std::string& folder, const std::string& path);  // `path` itself when absolute

}  // namespace mvsim
