// Libraries loaded at run time, and values that are made at their first use.
#pragma once

#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <string>

#include "base/text.h"

namespace mvsim {

// Libraries that are loaded at run time, so that the module itself needs none of them.

// Opens a library and never closes it. Returns null if there is none. Wheels contain libraries: `beside`
// names a file in the folder of this module that depends on the library, and dlsym also finds the functions
// of libraries on which that file depends. If there is no such file, the system's library `name` is opened.
// Thread-safe.
inline void* open_library(const std::string& beside, const std::string& name) {
  Dl_info module{};
  if (dladdr(reinterpret_cast<void*>(&open_library), &module) != 0 && module.dli_fname) {
    const std::string own = join_path(folder_of(module.dli_fname), beside);
    if (void* const library = dlopen(own.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// A value that is made on first use and immutable from then on. Any thread.

template <typename T>
class Lazy {
 public:
  // make() returns a std::shared_ptr<const T>. Its exceptions are passed on, and the next caller tries again.
  template <typename Make>
  const T& get(const Make& make) const {
    return *share(make);
  }
  // The same, shared: the pointer may outlive this object.
  template <typename Make>
  const std::shared_ptr<const T>& share(const Make& make) const {
    const std::scoped_lock lock(mutex_);
    if (!value_) value_ = make();
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const T> value_;
};

}  // namespace mvsim
