// From libassimp's scene to plain arrays. Runs in the confined child.

#include <assimp/cfileio.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/version.h>
#include <dlfcn.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include "assets/raw_mesh.h"
#include "base/error.h"
#include "base/loaded_library.h"

namespace mvsim {
namespace {

constexpr float kMaxSmoothAngle = 50;  // degrees between faces that share a normal, where a file has none

// --- Files: bytes that the parent has read ---

struct MemoryFile {
  aiFile calls{};
  std::string_view bytes;
  size_t at = 0;
};

MemoryFile& memory_file(aiFile* file) {
  return *reinterpret_cast<MemoryFile*>(file->UserData);
}

size_t read_memory(aiFile* file, char* out, size_t size, size_t count) {
  MemoryFile& f = memory_file(file);
  if (size == 0) return 0;
  const size_t whole = std::min(count, (f.bytes.size() - f.at) / size);
  std::memcpy(out, f.bytes.data() + f.at, whole * size);
  f.at += whole * size;
  return whole;
}

aiReturn seek_memory(aiFile* file, size_t offset, aiOrigin origin) {
  MemoryFile& f = memory_file(file);
  const size_t from = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? f.at : f.bytes.size();
  const size_t to = from + offset;
  if (to > f.bytes.size()) return aiReturn_FAILURE;
  f.at = to;
  return aiReturn_SUCCESS;
}

aiFile* open_memory(aiFileIO* io, const char* name, const char* /*mode*/) {
  const MeshFiles& files = *reinterpret_cast<const MeshFiles*>(io->UserData);
  std::string wanted = name;
  std::replace(wanted.begin(), wanted.end(), '\\', '/');
  while (wanted.starts_with("./") || wanted.starts_with('/')) wanted.erase(0, wanted.find('/') + 1);
  std::string_view bytes = files.bytes;
  if (wanted != files.name) {
    const auto found = files.beside.find(wanted);
    if (found == files.beside.end()) return nullptr;
    bytes = found->second;
  }
  auto file = std::make_unique<MemoryFile>();
  file->bytes = bytes;
  file->calls.ReadProc = read_memory;
  file->calls.WriteProc = [](aiFile*, const char*, size_t, size_t) { return size_t{0}; };
  file->calls.TellProc = [](aiFile* f) { return memory_file(f).at; };
  file->calls.FileSizeProc = [](aiFile* f) { return memory_file(f).bytes.size(); };
  file->calls.SeekProc = seek_memory;
  file->calls.FlushProc = [](aiFile*) {};
  file->calls.UserData = reinterpret_cast<char*>(file.get());
  return &file.release()->calls;  // never closed: the child process ends first
}

// --- Parts ---

uint8_t byte_of(float part) {
  return part >= 0 ? static_cast<uint8_t>(std::lround(std::min(part, 1.0F) * 255)) : uint8_t{0};
}

// Transform of a node, for points and for normals.
struct NodeTransform {
  aiMatrix4x4 points;
  float cofactors[3][3] = {};
  bool mirrors = false;

  explicit NodeTransform(const aiMatrix4x4& m) : points(m) {
    const float* rows[3] = {m[0], m[1], m[2]};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const float* a = rows[(i + 1) % 3];
        const float* b = rows[(i + 2) % 3];
        cofactors[i][j] = a[(j + 1) % 3] * b[(j + 2) % 3] - a[(j + 2) % 3] * b[(j + 1) % 3];
      }
    mirrors = m[0][0] * cofactors[0][0] + m[0][1] * cofactors[0][1] + m[0][2] * cofactors[0][2] < 0;
  }
  aiVector3D normal(const aiVector3D& n) const {
    float out[3];
    for (int i = 0; i < 3; ++i)
      out[i] = (cofactors[i][0] * n.x + cofactors[i][1] * n.y + cofactors[i][2] * n.z) * (mirrors ? -1 : 1);
    const float length = std::sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    if (!(length > 0) || !std::isfinite(length)) return {0, 0, 1};
    return {out[0] / length, out[1] / length, out[2] / length};
  }
};

struct Corner {  // of a triangle: a vertex of the mesh and its normal in the node's frame
  unsigned vertex = 0;
  aiVector3D normal;
};

void add_vertex(const aiMesh& mesh, const NodeTransform& transform, const Corner& at, RawPart& out) {
  const aiVector3D p = transform.points * mesh.mVertices[at.vertex];
  out.positions.insert(out.positions.end(), {p.x, p.y, p.z});
  const aiVector3D n = transform.normal(at.normal);
  out.normals.insert(out.normals.end(), {n.x, n.y, n.z});
  if (const aiVector3D* const uvs = mesh.mTextureCoords[0])
    for (const float v : {uvs[at.vertex].x, uvs[at.vertex].y}) out.uvs.push_back(std::isfinite(v) ? v : 0.0F);
  if (const aiColor4D* const colors = mesh.mColors[0]) {
    const aiColor4D& c = colors[at.vertex];
    for (const float part : {c.r, c.g, c.b, c.a}) out.colors.push_back(byte_of(part));
  }
}

// Some readers leave normals of length 0.
bool has_normals(const aiMesh& mesh) {
  return mesh.mNormals && std::all_of(mesh.mNormals, mesh.mNormals + mesh.mNumVertices,
                                      [](const aiVector3D& n) { return n.SquareLength() > 0; });
}

// Corners share vertices as in the mesh; where it has no normals, each triangle has its own.
void add_triangles(const aiMesh& mesh, const NodeTransform& transform, RawPart& out) {
  const auto first = static_cast<uint32_t>(out.positions.size() / 3);
  const bool is_shared = has_normals(mesh);
  for (unsigned v = 0; is_shared && v < mesh.mNumVertices; ++v)
    add_vertex(mesh, transform, {v, mesh.mNormals[v]}, out);
  for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
    const aiFace& face = mesh.mFaces[f];
    if (face.mNumIndices != 3) continue;
    const unsigned *i = face.mIndices, a = i[0], b = i[1], c = i[2];
    if (std::max({a, b, c}) >= mesh.mNumVertices) throw Error("names vertices that it does not have");
    if (a == b || b == c || c == a) continue;
    uint32_t at[3] = {first + a, first + b, first + c};
    if (!is_shared) {
      const aiVector3D* p = mesh.mVertices;
      const aiVector3D normal = (p[b] - p[a]) ^ (p[c] - p[a]);
      for (int k = 0; k < 3; ++k) {
        at[k] = static_cast<uint32_t>(out.positions.size() / 3);
        add_vertex(mesh, transform, {i[k], normal}, out);
      }
    }
    if (transform.mirrors) std::swap(at[1], at[2]);
    out.indices.insert(out.indices.end(), at, at + 3);
  }
}

class Importer {
 public:
  Importer(const AssimpLibrary& assimp, const aiScene& scene) : assimp_(assimp), scene_(scene) {}

  RawMesh take() {
    if (scene_.mRootNode) add_node(*scene_.mRootNode, aiMatrix4x4());
    for (unsigned i = 0; i < scene_.mNumMaterials; ++i) add_material(*scene_.mMaterials[i]);
    for (unsigned i = 0; i < scene_.mNumTextures; ++i) add_texture(*scene_.mTextures[i]);
    return std::move(out_);
  }

 private:
  void add_node(const aiNode& node, const aiMatrix4x4& above) {
    const aiMatrix4x4 here = above * node.mTransformation;
    const NodeTransform transform(here);
    for (unsigned i = 0; i < node.mNumMeshes; ++i) add_mesh(*scene_.mMeshes[node.mMeshes[i]], transform);
    for (unsigned i = 0; i < node.mNumChildren; ++i) add_node(*node.mChildren[i], here);
  }

  // Meshes of one material and with the same kinds of values are one part.
  RawPart& part_like(const aiMesh& mesh) {
    const bool has_uv = mesh.mTextureCoords[0], has_color = mesh.mColors[0];
    for (RawPart& part : out_.parts)
      if (part.material == mesh.mMaterialIndex && part.uvs.empty() != has_uv &&
          part.colors.empty() != has_color)
        return part;
    out_.parts.emplace_back().material = mesh.mMaterialIndex;
    return out_.parts.back();
  }

  void add_mesh(const aiMesh& mesh, const NodeTransform& transform) {
    if (!mesh.mVertices || mesh.mNumVertices == 0) return;
    if (mesh.mPrimitiveTypes & aiPrimitiveType_LINE) add_lines(mesh, transform);
    if (!(mesh.mPrimitiveTypes & aiPrimitiveType_TRIANGLE)) return;
    triangles_ += mesh.mNumFaces;
    vertices_ += mesh.mNumVertices;
    if (triangles_ > kMaxMeshTriangles || vertices_ > 3 * kMaxMeshTriangles)
      throw Error("has more than " + std::to_string(kMaxMeshTriangles) + " triangles");
    add_triangles(mesh, transform, part_like(mesh));
  }

  void add_lines(const aiMesh& mesh, const NodeTransform& transform) {
    for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
      const aiFace& face = mesh.mFaces[f];
      if (face.mNumIndices != 2) continue;
      for (unsigned end = 0; end < 2; ++end) {
        if (face.mIndices[end] >= mesh.mNumVertices) throw Error("names vertices that it does not have");
        const aiVector3D p = transform.points * mesh.mVertices[face.mIndices[end]];
        out_.lines.insert(out_.lines.end(), {p.x, p.y, p.z});
      }
    }
    if (out_.lines.size() / 6 > kMaxMeshTriangles)
      throw Error("has more than " + std::to_string(kMaxMeshTriangles) + " lines");
  }

  void add_material(const aiMaterial& material) {
    RawMaterial& out = out_.materials.emplace_back();
    aiColor4D color(1, 1, 1, 1);
    const bool has_texture = find_texture(material, out);
    if (!has_texture) assimp_.material_color(&material, AI_MATKEY_COLOR_DIFFUSE, &color);
    float opacity = 1;
    unsigned count = 1;
    assimp_.material_floats(&material, AI_MATKEY_OPACITY, &opacity, &count);
    // an opacity of 0 counts as 1, because some exporters write it for opaque materials
    if (opacity > 0 && opacity < 1) color.a = opacity;
    if (!(color.a > 0)) color.a = 1;
    out.color = {byte_of(color.r), byte_of(color.g), byte_of(color.b), byte_of(color.a)};
  }

  bool find_texture(const aiMaterial& material, RawMaterial& out) {
    for (const aiTextureType type : {aiTextureType_DIFFUSE, aiTextureType_BASE_COLOR}) {
      aiString name;
      if (assimp_.material_texture(&material, type, 0, &name, nullptr, nullptr, nullptr, nullptr, nullptr,
                                   nullptr) != aiReturn_SUCCESS ||
          name.length == 0)
        continue;
      out.embedded = embedded_texture(name);
      if (out.embedded < 0) out.texture.assign(name.data, name.data + name.length);
      return true;
    }
    return false;
  }
  int32_t embedded_texture(const aiString& name) const {
    for (unsigned i = 0; i < scene_.mNumTextures; ++i)
      if (std::string("*").append(std::to_string(i)) == name.C_Str() ||
          scene_.mTextures[i]->mFilename == name)
        return static_cast<int32_t>(i);
    return -1;
  }
  // A whole file; one that is given as pixels stays empty.
  void add_texture(const aiTexture& texture) {
    auto& out = out_.textures.emplace_back();
    const auto* bytes = reinterpret_cast<const char*>(texture.pcData);
    if (bytes && texture.mHeight == 0) out.assign(bytes, bytes + texture.mWidth);
  }

  const AssimpLibrary& assimp_;
  const aiScene& scene_;
  RawMesh out_;
  uint64_t triangles_ = 0, vertices_ = 0;
};

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

RawMesh import_mesh(const AssimpLibrary& assimp, const MeshFiles& files) {
  aiFileIO io{};
  io.OpenProc = open_memory;
  io.CloseProc = [](aiFileIO*, aiFile*) {};
  io.UserData = reinterpret_cast<char*>(const_cast<MeshFiles*>(&files));
  aiPropertyStore* const properties = assimp.create_properties();
  assimp.set_integer(properties, AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT);
  assimp.set_integer(properties, AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1);
  assimp.set_float(properties, AI_CONFIG_PP_GSN_MAX_SMOOTHING_ANGLE, kMaxSmoothAngle);
  // the faces of a ply share vertices: smoothed, an edge would have the normals of one of its faces
  const unsigned smooth = files.name.ends_with(".ply") ? 0U : aiProcess_GenSmoothNormals;
  constexpr unsigned kSteps = aiProcess_Triangulate | aiProcess_SortByPType |
                              aiProcess_JoinIdenticalVertices | aiProcess_FlipUVs | aiProcess_FindInvalidData;
  const aiScene* const scene = assimp.import(files.name.c_str(), kSteps | smooth, &io, properties);
  if (!scene) throw Error("is not a readable mesh: " + shortened(assimp.error()));
  return Importer(assimp, *scene).take();
}

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
