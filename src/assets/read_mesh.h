// Meshes from bytes, and their edges.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assets/read_image.h"
#include "base/geometry.h"
#include "base/geometry3.h"

namespace mvsim {

// Meshes: dae, stl, obj, fbx, glb and ply, taken from bytes, read by libassimp in a confined child. The axes
// and units of the file become y up and what its format says (as libassimp has it), the matrices of its nodes
// are applied. Any thread.

struct Mesh;  // base/geometry3.h

struct MeshPart {
  std::shared_ptr<const Mesh> mesh;
  Color color;                                // multiplies those of the mesh and of the texture
  std::shared_ptr<const ColorImage> texture;  // none: nullptr
};

struct MeshFile {
  std::vector<MeshPart> parts;
  size_t triangle_count = 0;
  std::vector<std::array<double, 6>> lines;  // of no triangle: x, y, z of one end and of the other
  std::vector<std::string> warnings;         // of textures that are not there
};

// A file beside a mesh. OpenBeside opens one by its name in the mesh; if it is absent, it returns nothing and
// sets `reason`.
using ReadBytes = std::function<std::string()>;
struct FileBeside {
  std::string path;  // its identity: equal paths have equal content
  ReadBytes read;    // throws Error
};
using OpenBeside = std::function<std::optional<FileBeside>(const std::string& name, std::string& reason)>;

// Bytes to read as a mesh: `path` names them in messages, and its extension tells the format.
struct MeshSource {
  std::string path;
  std::string_view bytes;
  OpenBeside open_beside;
};

// An image that a mesh names, decoded; `path` is that of FileBeside, and it is read where it is not known
// yet. Throws as read_color_image().
using DecodeImage =
    std::function<std::shared_ptr<const ColorImage>(const std::string& path, const ReadBytes& read)>;

bool is_mesh_path(std::string_view path);

// Throws Error that names file and cause; WorldFileError at `where` if memory does not suffice.
MeshFile read_mesh(const MeshSource& source, const SourceLocation& where, LoadGuard& guard,
                   const DecodeImage& decode);

// Sharp edges of a mesh, for line drawings.

// Returns the edges with a triangle on one side only, or between triangles of different planes. The diagonals
// of flat faces are left out. Each edge comes once, in the order of the triangles; corners at the same place
// count as one.
std::vector<std::array<Vec3, 2>> sharp_edges(const Mesh& mesh);

}  // namespace mvsim
