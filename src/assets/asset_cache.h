// Cache of the files decoded during one load, by real path. Worlds of an environment that name the same map
// share its decoded form. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "assets/map_yaml.h"
#include "assets/mrpt_grid.h"
#include "assets/read_image.h"
#include "assets/read_mesh.h"

namespace mvsim {

class AssetCache {
 public:
  // Each throws Error with the reason; WorldFileError at `where` if memory does not suffice.
  std::shared_ptr<const std::string> text(const OpenFile& file, size_t max_bytes);
  std::shared_ptr<const MapYaml> map_yaml(const OpenFile& file, size_t max_bytes);
  std::shared_ptr<const GrayLevels> image(const OpenFile& file, const SourceLocation& where,
                                          LoadGuard& guard);
  std::shared_ptr<const MrptGrid> mrpt_grid(const OpenFile& file, const SourceLocation& where,
                                            LoadGuard& guard);
  std::shared_ptr<const ColorImage> color_image(const OpenFile& file, const SourceLocation& where,
                                                LoadGuard& guard);
  // The mesh with its textures.
  std::shared_ptr<const MeshFile> mesh(const OpenFile& file, const OpenBeside& open_beside,
                                       const SourceLocation& where, LoadGuard& guard);

 private:
  std::shared_ptr<const ColorImage> color_image(const std::string& path, const ReadBytes& read,
                                                const SourceLocation& where, LoadGuard& guard);

  std::map<std::string, std::shared_ptr<const std::string>> texts_;
  std::map<std::string, std::shared_ptr<const MapYaml>> yamls_;
  std::map<std::string, std::shared_ptr<const GrayLevels>> images_;
  std::map<std::string, std::shared_ptr<const MrptGrid>> mrpt_grids_;
  std::map<std::string, std::shared_ptr<const ColorImage>> color_images_;
  std::map<std::string, std::string> bad_images_;  // with the error of each
  std::map<std::string, std::shared_ptr<const MeshFile>> meshes_;
};

}  // namespace mvsim
