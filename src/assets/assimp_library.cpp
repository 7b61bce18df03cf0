#include "assets/assimp_library.h"

#include <assimp/version.h>
#include <dlfcn.h>

#include <string>

#include "base/error.h"
#include "base/loaded_library.h"

namespace mvsim {
namespace {

constexpr const char* kName = "libassimp.so.5";
constexpr const char* kRemedy = "install it (Debian: apt-get install libassimp5)";

template <typename Function>
void find(void* library, const char* name, Function*& out) {
  out = reinterpret_cast<Function*>(dlsym(library, name));
  if (!out)
    throw Error(std::string("meshes need libassimp, and ") + kName + " lacks " + name + ": " + kRemedy);
}

// The structs of a scene are those of one minor version.
void check_version(void* library) {
  decltype(&aiGetVersionMajor) major = nullptr;
  decltype(&aiGetVersionMinor) minor = nullptr;
  find(library, "aiGetVersionMajor", major);
  find(library, "aiGetVersionMinor", minor);
  const std::string found = std::to_string(major()) + "." + std::to_string(minor());
  if (found != MVSIM_ASSIMP_VERSION)
    throw Error("meshes need libassimp " MVSIM_ASSIMP_VERSION ", found " + found + ": " + kRemedy);
}

}  // namespace

AssimpLibrary load_assimp() {
  void* const library = open_library("libmvsim_assimp.so", kName);
  if (!library)
    throw Error(std::string("meshes need libassimp " MVSIM_ASSIMP_VERSION ", and ") + kName +
                " cannot be loaded: " + kRemedy);
  check_version(library);
  AssimpLibrary out;
  find(library, "aiImportFileExWithProperties", out.import);
  find(library, "aiGetErrorString", out.error);
  find(library, "aiCreatePropertyStore", out.create_properties);
  find(library, "aiSetImportPropertyInteger", out.set_integer);
  find(library, "aiSetImportPropertyFloat", out.set_float);
  find(library, "aiGetMaterialColor", out.material_color);
  find(library, "aiGetMaterialFloatArray", out.material_floats);
  find(library, "aiGetMaterialTexture", out.material_texture);
  return out;
}

}  // namespace mvsim
