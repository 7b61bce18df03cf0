// Names of files. Nothing here opens one: that is for assets/file_roots.h.
#pragma once

#include <string>

namespace mvsim {

std::string folder_of(const std::string& path);
std::string join_path(const std::string& folder, const std::string& path);  // `path` itself when absolute

}  // namespace mvsim
