// Views drawn by rays, and the bodies that trees find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "render/rays/placed_body.h"
#include "render/rays/view_triangles.h"

namespace mvsim {

// Merges bodies that are found by trees (Embree) into a tile.

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

// Views drawn by casting rays on the CPU: exact depth, labels, shaded colours. Distances are computed in
// double precision from the plane of the visible triangle. Any thread; a view does not depend on others.

// Pixels in the format of the view's content (ViewContent).
struct RayPicture {
  const View* view;
  std::byte* pixels;
  std::span<const uint8_t> wanted{};  // by pixel: whether it is drawn; empty: all are
};

// Draws pictures along the same rays (have_same_rays), each as if it were alone. `poses`: one for each frame
// of the scene.
void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const ViewPoint& from,
               std::span<const RayPicture> pictures);

// Draws one picture.
inline void draw_rays(const RayScene& scene, std::span<const ScenePose> poses, const View& view,
                      const ViewPoint& from, std::byte* pixels, std::span<const uint8_t> wanted = {}) {
  const RayPicture picture{&view, pixels, wanted};
  draw_rays(scene, poses, from, {&picture, 1});
}

}  // namespace mvsim
