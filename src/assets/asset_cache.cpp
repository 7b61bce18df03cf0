#include "assets/asset_cache.h"

namespace mvsim {
namespace {

constexpr size_t kMaxImageBytes = size_t{256} << 20;
constexpr size_t kMaxMeshBytes = size_t{128} << 20;
constexpr size_t kMaxTextureBytes = size_t{64} << 20;

// The entry of `path`, made by `make()` if there is none.
template <typename T, typename Make>
std::shared_ptr<const T> find_or_make(std::map<std::string, std::shared_ptr<const T>>& held,
                                      const std::string& path, const Make& make) {
  const auto found = held.find(path);
  if (found != held.end()) return found->second;
  return held[path] = std::make_shared<const T>(make());
}

}  // namespace

std::shared_ptr<const std::string> AssetCache::text(const OpenFile& file, size_t max_bytes) {
  return find_or_make(texts_, file.path(), [&] { return file.read(max_bytes); });
}

std::shared_ptr<const MapYaml> AssetCache::map_yaml(const OpenFile& file, size_t max_bytes) {
  return find_or_make(yamls_, file.path(), [&] { return parse_map_yaml(file.path(), file.read(max_bytes)); });
}

std::shared_ptr<const GrayLevels> AssetCache::image(const OpenFile& file, const SourceLocation& where,
                                                    LoadGuard& guard) {
  return find_or_make(images_, file.path(), [&] {
    const TemporaryMemory memory(guard, static_cast<double>(file.size()), where, "the image's file");
    return read_gray_levels(file.read(kMaxImageBytes), file.path(), where, guard);
  });
}

std::shared_ptr<const MrptGrid> AssetCache::mrpt_grid(const OpenFile& file, const SourceLocation& where,
                                                      LoadGuard& guard) {
  return find_or_make(mrpt_grids_, file.path(), [&] { return read_mrpt_grid(file, where, guard); });
}

std::shared_ptr<const ColorImage> AssetCache::color_image(const std::string& path, const ReadBytes& read,
                                                          const SourceLocation& where, LoadGuard& guard) {
  if (const auto bad = bad_images_.find(path); bad != bad_images_.end()) throw Error(bad->second);
  try {
    return find_or_make(color_images_, path, [&] { return read_color_image(read(), path, where, guard); });
  } catch (const WorldFileError&) {
    throw;
  } catch (const Error& e) {
    bad_images_[path] = e.what();
    throw;
  }
}

std::shared_ptr<const ColorImage> AssetCache::color_image(const OpenFile& file, const SourceLocation& where,
                                                          LoadGuard& guard) {
  if (const auto held = color_images_.find(file.path()); held != color_images_.end()) return held->second;
  const TemporaryMemory memory(guard, static_cast<double>(file.size()), where, "the image's file");
  return color_image(
      file.path(), [&] { return file.read(kMaxTextureBytes); }, where, guard);
}

std::shared_ptr<const MeshFile> AssetCache::mesh(const OpenFile& file, const OpenBeside& open_beside,
                                                 const SourceLocation& where, LoadGuard& guard) {
  return find_or_make(meshes_, file.path(), [&] {
    const TemporaryMemory memory(guard, static_cast<double>(file.size()), where, "the mesh's file");
    const std::string bytes = file.read(kMaxMeshBytes);
    return read_mesh({file.path(), bytes, open_beside}, where, guard,
                     [&](const std::string& path, const ReadBytes& read) {
                       return color_image(path, read, where, guard);
                     });
  });
}

}  // namespace mvsim
