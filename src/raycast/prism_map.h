// Static upright prisms, with an index (a tree of circles). A walk visits near prisms first and skips those
// that cannot be seen. Immutable, shared by any number of threads. Metres.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/geometry.h"

namespace mvsim {

// Faces of a prism that are visible from outside, and whether it casts a shadow.
enum PrismFaces : uint8_t { kSides = 1, kTop = 2, kBottom = 4, kAllFaces = 7, kCastsShadow = 8 };

struct UprightPrism {
  Polygon outline;  // convex, counter-clockwise, at most kMaxPrismSides vertices
  double z_min = 0, z_max = 1;
  uint8_t faces = kAllFaces;
  uint32_t look = 0;  // the caller's
};

inline constexpr size_t kMaxPrismSides = 64;

// Bounding cylinder of prisms: a circle in the plane, and a range of heights.
struct PrismRegion {
  Vec2 center;
  double radius = 0, z_min = 0, z_max = 0;
};

PrismRegion region_of(const UprightPrism& prism);

class PrismMap {
 public:
  PrismMap() = default;
  explicit PrismMap(std::span<const UprightPrism> prisms);

  struct Entry {
    int first = 0, count = 0;  // vertices
    PrismRegion region;
    uint8_t faces = kAllFaces;
    uint32_t look = 0;
  };

  bool empty() const { return entries_.empty(); }
  std::span<const Entry> entries() const { return entries_; }
  double z_min() const { return nodes_.empty() ? 0 : nodes_[0].region.z_min; }
  double z_max() const { return nodes_.empty() ? 0 : nodes_[0].region.z_max; }
  std::span<const Vec2> outline(const Entry& entry) const {
    return {vertices_.data() + entry.first, static_cast<size_t>(entry.count)};
  }

  // Calls see(entry) for the prisms of all regions for which enter(region) holds, nearer regions first.
  template <typename Enter, typename See>
  void visit(Vec2 from, Enter enter, See see) const {
    if (nodes_.empty()) return;
    std::array<int, 64> waiting;
    size_t count = 0;
    waiting[count++] = 0;
    while (count > 0) {
      const Node& node = nodes_[static_cast<size_t>(waiting[--count])];
      if (!enter(node.region)) continue;
      if (node.count > 0) {
        for (int i = 0; i < node.count; ++i)
          see(entries_[static_cast<size_t>(node.first) + static_cast<size_t>(i)]);
        continue;
      }
      const Vec2 a = nodes_[static_cast<size_t>(node.first)].region.center - from,
                 b = nodes_[static_cast<size_t>(node.first) + 1].region.center - from;
      const int second = dot(a, a) <= dot(b, b) ? 1 : 0;
      waiting[count++] = node.first + second;
      waiting[count++] = node.first + 1 - second;
    }
  }

 private:
  struct Node {  // children first, first + 1, or entries [first, first + count); count 0: an inner node
    PrismRegion region;
    int first = 0, count = 0;
  };
  void build(int node, int begin, int end);

  std::vector<Vec2> vertices_;
  std::vector<Entry> entries_;  // in the order of the tree
  std::vector<Node> nodes_;
};

}  // namespace mvsim
