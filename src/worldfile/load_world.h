// Reads the XML world language (docs/world-files.md) into a WorldSpec.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assets/resources.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// The name under which unnamed sensors of a class are numbered: "laser1" for a lidar3d.
struct SensorPrefix {
  std::string_view class_name, prefix;
};

struct WorldLoadOptions {
  std::vector<std::string> roots;  // folders that may be read beside the parent of the world's own folder
  std::string assets;              // the package's own data folder ("" for none), readable too
  ResourceOptions resources;       // where URLs are looked up
  uint64_t world_seed = 0;         // of $f{rand()}, $f{randn()}, $f{unifrnd()}
  std::vector<std::pair<std::string, std::string>> variables;  // defined before the first line
  bool refuses_unused = true;                                  // an error where nothing asks for one of them
  std::vector<SensorPrefix> sensor_prefixes;                   // the other classes use their own name
  uint64_t memory_limit = kDefaultMemoryLimit;                 // bytes, of a load that has no session
  Poll poll;                                                   // the same; throws to stop it
};

// State shared by the loads of all worlds of an environment.
struct LoadSession {
  explicit LoadSession(LoadGuard& load_guard) : guard(load_guard) {}

  LoadGuard& guard;
  AssetCache cache;
  std::set<std::string> urls;  // that the worlds name, those of zips without a member
};

// The same error with the chain of includes that led to its file: "..., included at w.xml:3:1".
WorldFileError with_includes(const WorldFileError& error, const WorldSpec& world);

// Throws WorldFileError (bad content, an unreadable or forbidden include) or Error (the file itself cannot be
// read).
WorldSpec load_world(const std::string& path, const WorldLoadOptions& options);

// The same of a file that is open already, with the memory, the poll and the cache of `session`.
WorldSpec load_world(const OpenFile& file, const WorldLoadOptions& options, LoadSession& session);

// The URLs that a world names, as far as it could be read: until the first `error`, "" for none.
struct NamedUrls {
  std::vector<std::string> urls;
  std::string error;
};
NamedUrls named_urls(const std::string& path, const WorldLoadOptions& options);

// The same from text; relative paths start at `folder`.
WorldSpec load_world_text(const std::string& text, const std::string& folder,
                          const WorldLoadOptions& options);

}  // namespace mvsim
