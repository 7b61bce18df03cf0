#include "model/scene_labels.h"

#include <algorithm>
#include <limits>

namespace mvsim {

SceneLabels::SceneLabels(const WorldSpec& spec) {
  std::vector<std::pair<int, std::string>> things;
  // A thing without a name of its own is labelled by its kind.
  const auto collect = [&](const auto& all, const char* kind) {
    for (const auto& thing : all) {
      if constexpr (requires { thing.is_person; })
        if (thing.is_person) continue;  // its actor has the name
      if constexpr (requires { thing.name; })
        things.emplace_back(thing.order, thing.name);
      else
        things.emplace_back(thing.order, kind);
    }
  };
  collect(spec.vehicles, "");
  collect(spec.blocks, "");
  collect(spec.grids, "occupancy_grid");
  collect(spec.elevation_maps, "elevation_map");
  collect(spec.planes, "horizontal_plane");
  collect(spec.actors, "");
  collect(spec.panels, "vertical_plane");
  collect(spec.point_clouds, "pointcloud");
  std::ranges::stable_sort(things, {}, &std::pair<int, std::string>::first);
  for (auto& [order, name] : things) {
    orders_.push_back(order);
    names_.push_back(std::move(name));
  }
  if (!spec.sensors.empty()) names_.emplace_back("sensor");  // all devices that stand in the world
}

uint16_t SceneLabels::of(int order) const {
  const auto place = std::lower_bound(orders_.begin(), orders_.end(), order) - orders_.begin() + 1;
  return static_cast<uint16_t>(std::min<std::ptrdiff_t>(place, std::numeric_limits<uint16_t>::max()));
}

}  // namespace mvsim
