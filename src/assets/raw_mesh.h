// The raw mesh that libassimp makes, and the library itself. Private to assets/.
#pragma once

#include <assimp/cimport.h>
#include <assimp/material.h>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/archive.h"

namespace mvsim {

// A mesh as the confined child returns it: plain arrays that are not checked yet.

inline constexpr uint64_t kMaxMeshTriangles = 5'000'000;

struct RawPart {                          // of one material
  std::vector<float> positions, normals;  // three a vertex
  std::vector<float> uvs;                 // two a vertex, or none
  std::vector<uint8_t> colors;            // four a vertex, or none
  std::vector<uint32_t> indices;          // three a triangle
  uint32_t material = 0;
};

struct RawMaterial {
  std::array<uint8_t, 4> color{255, 255, 255, 255};
  std::vector<char> texture;  // the name of a file, if any
  int32_t embedded = -1;      // or the place of a texture in RawMesh
};

struct RawMesh {
  std::vector<RawPart> parts;
  std::vector<float> lines;  // straight ones of no triangle: three for each of the two ends
  std::vector<RawMaterial> materials;
  std::vector<std::vector<char>> textures;  // files within the mesh's file
};

// The files that a reader may see, by name; the first is the mesh.
struct MeshFiles {
  std::string name;  // "mesh.dae": its end tells the format
  std::string_view bytes;
  std::map<std::string, std::string> beside;
};

struct AssimpLibrary;

// Reads a mesh with libassimp. Call it in a confined child only. Throws Error with libassimp's message.
RawMesh import_mesh(const AssimpLibrary& assimp, const MeshFiles& files);

// libassimp loaded at run time: the functions of its C interface that reading a mesh needs. It is not linked:
// a process that reads no mesh never loads it. It is never unloaded.

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
