// Libraries that are loaded at run time, so that the module itself needs none of them.
#pragma once

#include <string>

namespace mvsim {

// Opens a library, never to be closed; null if there is none. A wheel has libraries of its own: `beside`
// names a file in the folder of this module that depends on the library, and dlsym finds the functions of
// what the file depends on. Where there is no such file, the system's library of the name `name` is taken.
// Thread-safe.
void* open_library(const std::string& beside, const std::string& name);

}  // namespace mvsim
