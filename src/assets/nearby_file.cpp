#include "assets/nearby_file.h"

#include <algorithm>
#include <filesystem>

#include "assets/file_roots.h"
#include "base/error.h"
#include "base/file.h"

namespace fs = std::filesystem;

namespace mvsim {
namespace {

constexpr int kMaxEntries = 2000;  // looked at in a folder

// Names of the files of a folder, in order.
std::vector<std::string> files_of(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (int n = 0; !error && entry != fs::directory_iterator() && n < kMaxEntries; ++n, entry.increment(error))
    if (std::error_code ignored; fs::is_regular_file(entry->symlink_status(ignored)))
      names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string suggestion(const std::vector<std::string>& folders, const std::string& name) {
  for (const std::string& folder : folders)
    if (const std::string near = nearest_name(name, files_of(folder)); !near.empty() && near != name)
      return ", did you mean '" + (folders.size() > 1 ? join_path(folder, near) : near) + "'?";
  return "";
}

}  // namespace

std::string nearby_file(const FileRoots& roots, const std::vector<std::string>& candidates) {
  std::vector<std::string> folders;
  std::string name;
  for (const std::string& candidate : candidates) {
    name = fs::path(candidate).filename().string();
    const std::optional<std::string> folder = roots.folder(folder_of(candidate));
    if (folder && std::find(folders.begin(), folders.end(), *folder) == folders.end())
      folders.push_back(*folder);
  }
  if (folders.empty() || name.empty()) return "";
  std::string looked;
  for (const std::string& folder : folders) {
    std::error_code error;
    looked += (looked.empty() ? "" : ", ") + folder;
    if (!fs::is_directory(folder, error)) looked += " (which does not exist)";
  }
  const std::string meant = suggestion(folders, name);
  return meant + (meant.empty() ? "; looked in " : " Looked in ") + looked;
}

void require_file(const std::string& path, const char* what) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::regular) return;
  const SourceLocation where{std::make_shared<const std::string>(path), 0, 0};
  if (status.type() == fs::file_type::directory)
    throw WorldFileError(where, std::string("is a folder, expected ") + what + " file");
  if (status.type() != fs::file_type::not_found && !error)
    throw WorldFileError(where, std::string("is not a regular file, expected ") + what + " file");
  const std::string folder = fs::absolute(folder_of(path), error).lexically_normal().string();
  const std::string meant = suggestion({folder}, fs::path(path).filename().string());
  const bool there = fs::is_directory(folder, error);
  throw WorldFileError(where, std::string("no such ") + what + " file" + meant +
                                  (meant.empty() ? "; looked in " : " Looked in ") + folder +
                                  (there ? "" : " (which does not exist)"));
}

}  // namespace mvsim
