// Reads the meshes of tests/data/meshes as a world would.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "assets/read_mesh.h"
#include "base/geometry3.h"
#include "source_dir.h"

namespace mvsim::test {

inline std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

inline std::string mesh_path(const std::string& name) {
  return std::string(source_dir()) + "/tests/data/meshes/" + name;
}

// `path` gives the format and the folder in which files are looked up that the mesh names.
inline MeshFile mesh_from(const std::string& path, std::string_view bytes) {
  LoadGuard guard;
  const auto beside = [&](const std::string& name, std::string& reason) -> std::optional<FileBeside> {
    const std::string found = path.substr(0, path.rfind('/') + 1) + name;
    if (!file_bytes(found).empty()) return FileBeside{found, [found] { return file_bytes(found); }};
    reason = "does not exist";
    return std::nullopt;
  };
  return read_mesh({path, bytes, beside}, {}, guard, [&](const std::string& name, const ReadBytes& read) {
    return std::make_shared<const ColorImage>(read_color_image(read(), name, {}, guard));
  });
}

inline MeshFile mesh_of_file(const std::string& name) {
  return mesh_from(mesh_path(name), file_bytes(mesh_path(name)));
}

inline Box3 bounds_of(const MeshFile& mesh) {
  Box3 out;
  for (const MeshPart& part : mesh.parts)
    for (const Vec3& p : part.mesh->positions) out.include(p);
  return out;
}

}  // namespace mvsim::test
