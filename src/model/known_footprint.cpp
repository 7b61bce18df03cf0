#include "model/mesh_outline.h"

namespace mvsim {
namespace {

struct Footprint {
  std::string_view vehicle_class;
  Rect extent;  // m, body frame
  HeightRange heights;
};

constexpr Footprint kKnown[] = {
    {"turtlebot3_burger", {-0.0685, 0.0685, -0.0685, 0.0685}, {0, 0.141}},
    {"jackal", {-0.2515, 0.2515, -0.215, 0.215}, {0.0655, 0.2495}},
    {"pickup", {-2.95, 2.71, -1.24, 1.24}, {0, 1.86}},
    {"agricobiot2", {-0.25, 0.87, -0.30, 0.30}, {0.15, 1.2}},
    {"scania_trailer", {-6.6, 0.9, -1.25, 1.25}, {0.5, 4.0}},
};

}  // namespace

std::optional<MeshOutline> known_footprint(std::string_view vehicle_class) {
  for (const Footprint& known : kKnown)
    if (known.vehicle_class == vehicle_class) {
      const Rect& r = known.extent;
      return MeshOutline{{{r.x_min, r.y_min}, {r.x_max, r.y_min}, {r.x_max, r.y_max}, {r.x_min, r.y_max}},
                         known.heights};
    }
  return std::nullopt;
}

}  // namespace mvsim
