// Merges bodies that are found by trees (Embree) into a tile.
#pragma once

#include <span>

#include "render/rays/view_triangles.h"

namespace mvsim {

// Any thread. `bodies`, `view` and `grid` outlive it.
class TracedBodies {
 public:
  TracedBodies(std::span<const PlacedBody> bodies, const View& view, const RayGrid& grid);

  // Writes hits that are nearer than tile.distance, or than `far` where the tile is empty.
  void merge(double far, RasterTile& tile) const;

 private:
  struct Packet;
  Packet packet_at(const RasterTile& tile, const PixelRect& rect, double far) const;
  void cast(const PlacedBody& body, Packet& packet, RasterTile& tile) const;

  std::span<const PlacedBody> bodies_;
  const View& view_;
  const RayGrid& grid_;
  bool has_any_ = false;
};

}  // namespace mvsim
