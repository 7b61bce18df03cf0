// The surfaces of the vehicle-terrain interface (friction class `vti`) and their names.
#pragma once

#include <iterator>
#include <string_view>

namespace mvsim {

// Rigid ones first; the order is that of the names and of GroundPatch::surface.
enum class Surface { kDry, kWet, kSnow, kIce, kSand, kClay };

inline constexpr std::string_view kSurfaceNames[] = {"dry", "wet", "snow", "ice", "sand", "clay"};
inline constexpr int kSurfaceCount = static_cast<int>(std::size(kSurfaceNames));

// The index of a surface of that name, -1 where there is none.
constexpr int surface_index(std::string_view name) {
  for (int i = 0; i < kSurfaceCount; ++i)
    if (kSurfaceNames[i] == name) return i;
  return -1;
}

constexpr bool is_soil(Surface surface) {
  return surface == Surface::kSand || surface == Surface::kClay;
}

}  // namespace mvsim
