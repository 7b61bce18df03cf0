#include "base/loaded_library.h"

#include <dlfcn.h>

#include "base/text.h"

namespace mvsim {

void* open_library(const std::string& beside, const std::string& name) {
  Dl_info module{};
  if (dladdr(reinterpret_cast<void*>(&open_library), &module) != 0 && module.dli_fname) {
    const std::string own = join_path(folder_of(module.dli_fname), beside);
    if (void* const library = dlopen(own.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace mvsim
