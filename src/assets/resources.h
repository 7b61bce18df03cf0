// Files that a world names by URI, and the cache of what was read from them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assets/data_files.h"
#include "assets/file_roots.h"
#include "assets/map_files.h"
#include "assets/read_image.h"
#include "assets/read_mesh.h"

namespace mvsim {

// Finds the files that the URIs of a world name. No C++ code opens a connection: a URL is looked up in the
// folders that the caller maps prefixes to, then in the cache, which `mvsim-gym fetch` fills.
//
// For one load; not thread-safe.

struct ResourceOptions {
  // Prefix of URLs ("https://host/models/", "package://name/") -> the folder that stands for it.
  std::vector<std::pair<std::string, std::string>> prefixes;
  // Folder of fetched files; "": none. "https://host/a/b" is stored as "https/host/a/b", or as "b" in MVSim's
  // own cache.
  std::string cache;
};

// "https://", "http://" or "package://" at the start.
bool is_url(std::string_view uri);

class Resources {
 public:
  // Mapped folders and the cache may be read as the roots may; those that do not exist are left out. Every
  // URL that is asked for joins `urls`, that of a zip without its member.
  Resources(std::vector<std::string> roots, ResourceOptions options, std::set<std::string>& urls);

  // The file that `uri` names: a URL; "file://path"; a path relative to `folder`; each may lead into a zip
  // ("models/rock.zip/rock/rock.dae"), so what a file of a zip names beside itself is found with
  // folder_of(its path). Nothing: a URL that is neither mapped nor in the cache. Throws Error with the reason
  // else.
  std::optional<OpenFile> find(const std::string& uri, const std::string& folder);

  const FileRoots& roots() const { return roots_; }

 private:
  std::optional<OpenFile> find_url(const std::string& url);
  OpenFile open_member(OpenFile zip, const std::string& member);

  ResourceOptions options_;
  FileRoots roots_;
  std::map<std::string, std::shared_ptr<const ZipFile>> zips_;  // by real path
  std::set<std::string>& urls_;
};

// Cache of the files decoded during one load, by real path. Worlds of an environment that name the same map
// share its decoded form. Not thread-safe.

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
