#include "assets/read_mesh.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>

#include "assets/confined_child.h"
#include "assets/raw_mesh.h"

namespace mvsim {
namespace {

constexpr std::string_view kFormats[] = {"dae", "stl", "obj", "fbx", "glb", "ply"};
constexpr float kFarthestVertex = 1e7F;  // m
constexpr size_t kMaxMaterialFiles = 16, kMaxMaterialBytes = size_t{16} << 20;
constexpr size_t kMaxAbsentTextures = 20;  // after which no more are looked for
constexpr double kBytesASecond = 4e6,
                 kMaxSeconds = 20;  // that a large file may take beyond a small one's time

std::string format_of(std::string_view path) {
  const size_t dot = path.rfind('.');
  std::string out(dot == std::string_view::npos ? "" : path.substr(dot + 1));
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// The .mtl files that an .obj names: one a line.
std::map<std::string, std::string> material_files(const MeshSource& source) {
  constexpr std::string_view kKeyword = "mtllib ";
  std::map<std::string, std::string> out;
  const std::string_view text = source.bytes;
  size_t bytes = 0, files = 0;
  for (size_t begin = 0; begin < text.size() && files < kMaxMaterialFiles;) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(kKeyword)) continue;
    line.remove_prefix(kKeyword.size());
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.remove_suffix(1);
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front()))) line.remove_prefix(1);
    std::string name(line), reason;
    ++files;
    if (const std::optional<FileBeside> file = source.open_beside(name, reason)) {
      while (name.starts_with("./")) name.erase(0, 2);
      std::string& content = out[name] = file->read();
      if (bytes += content.size(); bytes > kMaxMaterialBytes)
        throw Error("names material files of more than " + std::to_string(kMaxMaterialBytes) + " bytes");
    }
  }
  return out;
}

RawMesh read_confined(const MeshSource& source, const std::string& format, const LoadGuard& guard) {
  MeshFiles files{"mesh." + format, source.bytes, {}};
  if (format == "obj" && source.open_beside) files.beside = material_files(source);
  const AssimpLibrary assimp = load_assimp();
  ChildLimits limits;
  limits.cpu_seconds =
      std::min(limits.cpu_seconds + static_cast<double>(source.bytes.size()) / kBytesASecond, kMaxSeconds);
  const std::string bytes = run_in_confined_child(limits, guard, [&] {
    ArchiveWriter out(0);
    out(import_mesh(assimp, files));
    return std::move(out).finish();
  });
  RawMesh mesh;
  try {
    ArchiveReader reader(bytes);
    reader(mesh);
  } catch (const Error&) {
    throw Error("is not a readable mesh: it has values that are no finite numbers");
  }
  return mesh;
}

void check_reach(const std::vector<float>& coordinates) {
  if (std::any_of(coordinates.begin(), coordinates.end(),
                  [](float v) { return !(std::abs(v) <= kFarthestVertex); }))
    throw Error("is not a readable mesh: a vertex is farther than 1e7 m away");
}

void check(const RawPart& part, size_t materials) {
  const size_t n = part.positions.size() / 3;
  const bool is_sound =
      part.positions.size() == 3 * n && part.normals.size() == 3 * n &&
      (part.uvs.empty() || part.uvs.size() == 2 * n) &&
      (part.colors.empty() || part.colors.size() == 4 * n) && part.indices.size() % 3 == 0 &&
      part.indices.size() / 3 <= kMaxMeshTriangles && part.material < std::max<size_t>(1, materials) &&
      std::all_of(part.indices.begin(), part.indices.end(), [&](uint32_t i) { return i < n; });
  if (!is_sound) throw Error("is not a readable mesh: its triangles name vertices that it does not have");
  check_reach(part.positions);
}

std::shared_ptr<const Mesh> mesh_of(const RawPart& part) {
  auto mesh = std::make_shared<Mesh>();
  const size_t n = part.positions.size() / 3;
  mesh->positions.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    const float* p = part.positions.data() + 3 * i;
    const float* m = part.normals.data() + 3 * i;
    mesh->positions.push_back({p[0], p[1], p[2]});
    mesh->normals.push_back({m[0], m[1], m[2]});
  }
  for (size_t i = 0; i < part.uvs.size(); i += 2) mesh->uvs.push_back({part.uvs[i], part.uvs[i + 1]});
  for (size_t i = 0; i < part.colors.size(); i += 4)
    mesh->colors.push_back({part.colors[i], part.colors[i + 1], part.colors[i + 2], part.colors[i + 3]});
  mesh->indices = part.indices;
  return mesh;
}

// Textures of a mesh, each looked for once. One that is absent or no image is a warning: the shape is there.
class Textures {
 public:
  Textures(const MeshSource& source, const RawMesh& mesh, const DecodeImage& decode, MeshFile& out)
      : source_(source), mesh_(mesh), decode_(decode), out_(out), decoded_(mesh.materials.size()) {}

  std::shared_ptr<const ColorImage> of(uint32_t material) {
    if (material >= decoded_.size()) return nullptr;
    if (!decoded_[material]) {
      try {
        decoded_[material] = read(mesh_.materials[material]);
      } catch (const WorldFileError&) {
        throw;
      } catch (const Error& e) {
        decoded_[material] = nullptr;
        if (++absent_ <= kMaxAbsentTextures)
          out_.warnings.push_back(source_.path + ": a texture is left out: " + e.what());
      }
    }
    return *decoded_[material];
  }

 private:
  std::shared_ptr<const ColorImage> read(const RawMaterial& material) {
    if (material.embedded >= 0) {
      const auto place = static_cast<size_t>(material.embedded);
      if (place >= mesh_.textures.size()) throw Error("the mesh has no texture " + std::to_string(place));
      const std::vector<char>& bytes = mesh_.textures[place];
      return decode_(source_.path + "*" + std::to_string(place),
                     [&] { return std::string(bytes.begin(), bytes.end()); });
    }
    if (material.texture.empty() || !source_.open_beside) return nullptr;
    std::string name(material.texture.begin(), material.texture.end()), reason;
    std::replace(name.begin(), name.end(), '\\', '/');
    if (const auto known = by_name_.find(name); known != by_name_.end()) return known->second;
    if (absent_ > kMaxAbsentTextures) return nullptr;
    const std::optional<FileBeside> file = source_.open_beside(name, reason);
    by_name_[name] = nullptr;
    if (!file) throw Error("'" + shortened(name, 200) + "' " + reason);
    return by_name_[name] = decode_(file->path, file->read);
  }

  const MeshSource& source_;
  const RawMesh& mesh_;
  const DecodeImage& decode_;
  MeshFile& out_;
  std::vector<std::optional<std::shared_ptr<const ColorImage>>> decoded_;
  std::map<std::string, std::shared_ptr<const ColorImage>> by_name_;
  size_t absent_ = 0;
};

double bytes_of(const RawPart& part) {
  const auto vertices = static_cast<double>(part.positions.size()) / 3;
  return vertices * (sizeof(Vec3) + 5 * sizeof(float) + sizeof(Color)) +
         4.0 * static_cast<double>(part.indices.size());
}

constexpr double kSamePlane = 1 - 1e-6;  // cosine between two normals

struct Edge {
  uint32_t from = 0, to = 0;  // indices of positions
  int triangles = 0;
  Vec3 normal;  // of the first triangle
  bool is_bent = false;
};

}  // namespace

bool is_mesh_path(std::string_view path) {
  return std::find(std::begin(kFormats), std::end(kFormats), format_of(path)) != std::end(kFormats);
}

MeshFile read_mesh(const MeshSource& source, const SourceLocation& where, LoadGuard& guard,
                   const DecodeImage& decode) {
  const std::string format = format_of(source.path);
  if (!is_mesh_path(source.path))
    throw Error(source.path + ": unknown mesh format '" + shortened(format) +
                "', expected dae, stl, obj, fbx, glb or ply");
  MeshFile out;
  try {
    const RawMesh raw = read_confined(source, format, guard);
    Textures textures(source, raw, decode, out);
    for (const RawPart& part : raw.parts) {
      check(part, raw.materials.size());
      if (part.indices.empty()) continue;
      guard.take(bytes_of(part), where, "the mesh");
      const auto& material =
          part.material < raw.materials.size() ? raw.materials[part.material] : RawMaterial{};
      const auto& c = material.color;
      out.parts.push_back({mesh_of(part), {c[0], c[1], c[2], c[3]}, textures.of(part.material)});
      out.triangle_count += part.indices.size() / 3;
    }
    check_reach(raw.lines);
    const size_t lines = raw.lines.size() / 6;  // two corners each
    guard.take(static_cast<double>(lines * sizeof out.lines[0]), where, "the mesh");
    for (size_t i = 0; i + 5 < raw.lines.size(); i += 6) {
      const float* const p = raw.lines.data() + i;
      out.lines.push_back({p[0], p[1], p[2], p[3], p[4], p[5]});
    }
  } catch (const WorldFileError&) {
    throw;
  } catch (const Error& e) {
    throw Error(source.path + ": " + e.what());
  }
  if (out.triangle_count == 0 && out.lines.empty())
    throw Error(source.path + ": is a mesh without triangles and lines");
  return out;
}

std::vector<std::array<Vec3, 2>> sharp_edges(const Mesh& mesh) {
  std::map<std::tuple<double, double, double>, uint32_t> places;
  const auto corner = [&](size_t i) {
    const uint32_t index = mesh.indices[i];
    const Vec3& p = mesh.positions[index];
    return places.emplace(std::tuple{p.x, p.y, p.z}, index).first->second;
  };
  std::vector<Edge> edges;
  std::map<std::pair<uint32_t, uint32_t>, size_t> known;  // places in `edges`
  for (size_t i = 0; i + 2 < mesh.indices.size(); i += 3) {
    const std::array corners{corner(i), corner(i + 1), corner(i + 2)};
    const auto at = [&](size_t k) { return mesh.positions[corners[k % 3]]; };
    const Vec3 across = cross(at(1) - at(0), at(2) - at(0));
    if (!(norm(across) > 0)) continue;
    const Vec3 normal = normalized(across);
    for (size_t k = 0; k < 3; ++k) {
      const auto [from, to] = std::minmax(corners[k], corners[(k + 1) % 3]);
      const auto [found, is_new] = known.emplace(std::pair{from, to}, edges.size());
      if (is_new) edges.push_back({from, to, 0, normal});
      Edge& edge = edges[found->second];
      ++edge.triangles;
      // which side a triangle faces makes no corner
      edge.is_bent = edge.is_bent || !(std::fabs(dot(edge.normal, normal)) >= kSamePlane);
    }
  }
  std::vector<std::array<Vec3, 2>> out;
  for (const Edge& edge : edges)
    if (edge.triangles == 1 || edge.is_bent)
      out.push_back({mesh.positions[edge.from], mesh.positions[edge.to]});
  return out;
}

}  // namespace mvsim
