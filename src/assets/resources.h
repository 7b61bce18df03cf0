// Finds the files that the URIs of a world name. No C++ code opens a connection: a URL is looked up in the
// folders that the caller maps prefixes to, then in the cache, which `mvsim-gym fetch` fills.
//
// For one load; not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assets/file_roots.h"
#include "assets/zip_file.h"

namespace mvsim {

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

}  // namespace mvsim
