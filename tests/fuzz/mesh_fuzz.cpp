// Meshes of every format, through the confined child: a mesh whose triangles name its vertices, or an Error.
#include "assets/read_mesh.h"
#include "base/geometry3.h"
#include "fuzz.h"

namespace {

// Returns a file name for the format that the bytes look like, so that a corpus consists of plain files.
const char* name_of(std::string_view bytes) {
  if (bytes.starts_with("ply")) return "a.ply";
  if (bytes.starts_with("glTF")) return "a.glb";
  if (bytes.starts_with("<")) return "a.dae";
  if (bytes.starts_with(";") || bytes.starts_with("Kaydara")) return "a.fbx";
  if (bytes.starts_with("v") || bytes.starts_with("#") || bytes.starts_with("mtllib")) return "a.obj";
  return "a.stl";
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  const std::string_view bytes = fuzz::text_of(data, size);
  LoadGuard guard(fuzz::kMemory);
  const OpenBeside nothing = [](const std::string&, std::string& reason) {
    reason = "does not exist";
    return std::optional<FileBeside>();
  };
  const DecodeImage decode = [&](const std::string& path, const ReadBytes& read) {
    return std::make_shared<const ColorImage>(read_color_image(read(), path, {}, guard));
  };
  try {
    const MeshFile mesh = read_mesh({name_of(bytes), bytes, nothing}, {}, guard, decode);
    fuzz::require(mesh.triangle_count > 0);
    for (const MeshPart& part : mesh.parts)
      for (const uint32_t index : part.mesh->indices) fuzz::require(index < part.mesh->positions.size());
  } catch (const Error&) {
  }
  return 0;
}
