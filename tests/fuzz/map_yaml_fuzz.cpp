// The yaml of map_server.
#include "assets/map_files.h"

#include <cmath>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mvsim;
  try {
    const MapYaml yaml = parse_map_yaml("m.yaml", fuzz::text_of(data, size));
    fuzz::require(!yaml.image.empty() && yaml.resolution >= kMinResolution && std::isfinite(yaml.origin.yaw));
  } catch (const WorldFileError& e) {
    fuzz::require(!e.where().text().empty());
  }
  return 0;
}
