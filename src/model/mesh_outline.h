// The space that meshes take as the rigid-body engine knows it: a convex outline on the ground and a range of
// heights. A pure function of its arguments, the same on every machine.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/geometry3.h"
#include "base/load_guard.h"
#include "worldfile/world_spec.h"

namespace mvsim {

struct HeightRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

struct MeshOutline {
  Polygon outline;  // convex, at most 14 vertices; holds all of the meshes between the heights
  HeightRange heights;
};

// Where the mesh of a visual stands in the frame of its object.
Frame3 visual_frame(const VisualSpec& visual);

// Returns the outline of all visuals whose meshes exist, cut off at `window`. Empty if there is no such mesh.
// Throws WorldFileError if they enclose next to nothing within the window.
std::optional<MeshOutline> mesh_outline(std::span<const VisualSpec> visuals, const HeightRange& window,
                                        const LoadGuard& guard, const SourceLocation& where);

// Cache of the outlines of one world. Equal visuals are computed once, and all different ones have at most
// kMaxTriangles triangles. Not thread-safe.
class MeshOutlines {
 public:
  static constexpr size_t kMaxTriangles = 20'000'000;

  explicit MeshOutlines(const LoadGuard& guard) : guard_(guard) {}

  // As mesh_outline(); a WorldFileError too where there are too many triangles.
  const std::optional<MeshOutline>& of(std::span<const VisualSpec> visuals, const HeightRange& window,
                                       const SourceLocation& where);

 private:
  using Key = std::pair<std::vector<std::shared_ptr<const MeshFile>>, std::vector<double>>;

  const LoadGuard& guard_;
  std::map<Key, std::optional<MeshOutline>> known_;
  size_t triangles_ = 0;
};

// Returns the measured footprint of one of MVSim's own vehicles by the name of its class, for worlds whose
// meshes were not fetched. Empty for other classes.
std::optional<MeshOutline> known_footprint(std::string_view vehicle_class);

// A convex polygon (counter-clockwise) that holds the given one, of at most `max` of the lines through its
// sides; sides that make no difference go too.
Polygon with_fewer_vertices(Polygon convex, size_t max);

}  // namespace mvsim
