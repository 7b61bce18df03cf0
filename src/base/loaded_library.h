// Libraries that are loaded at run time, so that the module itself needs none of them.
#pragma once

#include <string>

namespace mvsim {

// Opens a library and never closes it. Returns null if there is none. Wheels contain libraries: `beside`
// names a file in the folder of this module that depends on the library, and dlsym also finds the functions
// of libraries on which that file depends. If there is no such file, the system's library `name` is opened.
// Thread-safe.
void* open_library(const std::string& beside, const std::string& name);

}  // namespace mvsim
