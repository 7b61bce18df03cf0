// The yaml of ROS map_server. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/geometry.h"

namespace mvsim {

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

}  // namespace mvsim
