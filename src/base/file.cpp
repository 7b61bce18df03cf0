#include "base/file.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace mvsim {

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string join_path(const std::string& folder, const std::string& path) {
  return (fs::path(folder) / path).string();
}

}  // namespace mvsim
