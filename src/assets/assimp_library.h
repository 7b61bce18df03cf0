// libassimp loaded at run time: the functions of its C interface that reading a mesh needs. It is not linked:
// a process that reads no mesh never loads it. It is never unloaded.
#pragma once

#include <assimp/cimport.h>
#include <assimp/material.h>

namespace mvsim {

struct AssimpLibrary {
  decltype(&aiImportFileExWithProperties) import = nullptr;
  decltype(&aiGetErrorString) error = nullptr;
  decltype(&aiCreatePropertyStore) create_properties = nullptr;
  decltype(&aiSetImportPropertyInteger) set_integer = nullptr;
  decltype(&aiSetImportPropertyFloat) set_float = nullptr;
  decltype(&aiGetMaterialColor) material_color = nullptr;
  decltype(&aiGetMaterialFloatArray) material_floats = nullptr;
  decltype(&aiGetMaterialTexture) material_texture = nullptr;
};

// Throws Error, one line with the remedy, if there is no library of the version of this build.
AssimpLibrary load_assimp();

}  // namespace mvsim
