// Suggestions for the name of a file that does not exist. Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace mvsim {

class FileRoots;

// ", did you mean 'x.xml'? Looked in /a/b, /c" for files that were looked for: the nearest name in their
// folders (its folder with it, where that is another one than asked for) and these folders; of folders
// outside of the roots nothing is said. "" where there is none.
std::string nearby_file(const FileRoots& roots, const std::vector<std::string>& candidates);

// Throws WorldFileError, with the path as its place, if a file that the caller names does not exist; `what`
// is "world" or "environment".
void require_file(const std::string& path, const char* what);

}  // namespace mvsim
