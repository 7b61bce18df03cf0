// Files of occupancy grids: yaml of ROS map_server, and grids in the format of MRPT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assets/file_roots.h"
#include "base/error.h"
#include "base/geometry.h"

namespace mvsim {

// The yaml of ROS map_server. Thread-safe.

inline constexpr double kMinResolution = 1e-4, kMaxResolution = 1e3;  // m, of a pixel of an occupancy grid

struct MapYaml {
  std::string image;
  SourceLocation image_where;
  double resolution = 0;
  Pose2 origin;
  bool negate = false;
  double occupied_threshold = 0.65, free_threshold = 0.196;
  std::string mode = "trinary";
  SourceLocation origin_where;
  struct Ignored {
    SourceLocation where;
    std::string_view why;
  };
  std::vector<Ignored> ignored;  // keys that are none, further documents
};

// Throws WorldFileError with the place in the yaml.
MapYaml parse_map_yaml(const std::string& path, std::string_view text);

// YAML files, parsed by libyaml: the first document as a tree. Thread-safe.
//
// UTF-8 and UTF-16 with or without a byte order mark as libyaml has them. An alias is a second way to the
// node that it names, which is never copied: a walk along the tree has to be bounded by its caller.

struct YamlNode {
  enum class Kind { kScalar, kList, kMap };

  Kind kind = Kind::kScalar;
  std::string text;              // of a scalar, without its quotes
  bool is_plain = false;         // a scalar that has none
  std::vector<size_t> children;  // of a list; of a map each key, then its value
  SourceLocation where;

  bool is_empty() const;      // no value: nothing, ~ or null
  std::string found() const;  // for messages: "'text'", "a list of 3", "a map"
};

struct YamlDocument {
  std::vector<YamlNode> nodes;           // the root first; none in an empty file
  std::optional<SourceLocation> second;  // where a second document begins

  const YamlNode& child(const YamlNode& parent, size_t i) const { return nodes[parent.children[i]]; }
};

inline constexpr size_t kMaxYamlNodes = 10'000, kMaxYamlDepth = 32;

// Throws WorldFileError with the place in the file.
YamlDocument parse_yaml(const std::string& path, std::string_view text);

// Occupancy grids as MRPT serializes them (`.gridmap`, `.gridmap.gz`). Thread-safe; sizes are checked before
// memory is taken.

struct MrptGrid {
  int width = 0, height = 0;
  double resolution = 0;        // m
  double x_min = 0, y_min = 0;  // m, world place of the lower left corner
  std::vector<int8_t> cells;    // row 0 has the smallest y; log-odds of being free, in steps of 1/16
};

// Throws Error with the reason; WorldFileError at `where` if memory does not suffice.
MrptGrid read_mrpt_grid(const OpenFile& file, const SourceLocation& where, LoadGuard& guard);

}  // namespace mvsim
