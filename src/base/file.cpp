#include "base/file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace fs = std::filesystem;

namespace mvsim {

FileRoots::FileRoots(const std::vector<std::string>& roots) {
  for (const std::string& root : roots) {
    std::error_code error;
    const fs::path real = fs::canonical(root, error);
    if (!error) roots_.push_back(real.string());
  }
}

static bool is_below(const fs::path& path, const fs::path& root) {
  auto p = path.begin();
  for (const fs::path& part : root) {
    if (part.empty()) continue;  // a trailing slash
    if (p == path.end() || *p != part) return false;
    ++p;
  }
  return true;
}

bool FileRoots::holds(const std::string& path) const {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return !error && std::any_of(roots_.begin(), roots_.end(),
                               [&](const std::string& root) { return is_below(real, root); });
}

std::optional<std::string> FileRoots::resolve(const std::string& path, std::string& reason) const {
  if (path.empty() || path.find('\0') != std::string::npos) {
    reason = "is not a file name";
    return std::nullopt;
  }
  std::error_code error;
  // judged before asking whether it exists, so that a world learns nothing of files outside of its roots
  const fs::path real = fs::weakly_canonical(path, error);
  bool inside = false;
  std::string listed;
  for (const std::string& root : roots_) {
    inside = inside || (!error && is_below(real, root));
    listed += (listed.empty() ? "" : ", ") + root;
  }
  if (!inside) {
    reason = "is outside of the folders that this world may read (" + listed + ")";
    return std::nullopt;
  }
  const fs::file_status status = fs::status(real, error);
  if (status.type() == fs::file_type::not_found || error) {
    reason = "does not exist";
    return std::nullopt;
  }
  if (status.type() != fs::file_type::regular) {
    reason = "is not a regular file";
    return std::nullopt;
  }
  return real.string();
}

std::string read_file(const std::string& path, size_t most_bytes) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) throw Error(path + ": cannot be read: not an existing regular file");
  const auto size = fs::file_size(path, error);
  if (error) throw Error(path + ": cannot be read: " + error.message());
  if (size > most_bytes)
    throw Error(path + ": has " + std::to_string(size) + " bytes, at most " + std::to_string(most_bytes) +
                " are read");
  std::string content(size, '\0');
  std::ifstream in(path, std::ios::binary);
  if (!in.read(content.data(), static_cast<std::streamsize>(size))) throw Error(path + ": cannot be read");
  return content;
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string join_path(const std::string& folder, const std::string& path) {
  return (fs::path(folder) / path).string();
}

}  // namespace mvsim
