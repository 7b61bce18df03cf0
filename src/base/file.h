// Operations on names of files. Only assets/file_roots.h opens files.
#pragma once

#include <string>

namespace mvsim {

std::string folder_of(const std::string& path);
std::string join_path(const std::string& folder, const std::string& path);  // `path` itself when absolute

}  // namespace mvsim
