// What a user may have meant by the name of a file that is not there. Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace mvsim {

class FileRoots;

// ", did you mean 'x.xml'? Looked in /a/b, /c" for files that were looked for: the nearest name in their
// folders (its folder with it, where that is another one than asked for) and these folders; of folders
// outside of the roots nothing is said. "" where there is none.
std::string nearby_file(const FileRoots& roots, const std::vector<std::string>& candidates);

// Throws WorldFileError, its place the path itself, if a file that the caller names is none; `what` is
// "world" or "environment".
void require_file(const std::string& path, const char* what);

}  // namespace mvsim
