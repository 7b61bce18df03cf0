#include "raycast/prism_map.h"

#include <algorithm>

namespace mvsim {
namespace {

constexpr int kLeafSize = 4;

// About the middle of the box of the circles.
PrismRegion region_about(std::span<const PrismMap::Entry> entries) {
  Rect box{1e300, -1e300, 1e300, -1e300};
  PrismRegion out{.center = {}, .radius = 0, .z_min = 1e300, .z_max = -1e300};
  for (const PrismMap::Entry& e : entries) {
    const PrismRegion& r = e.region;
    box = {std::min(box.x_min, r.center.x - r.radius), std::max(box.x_max, r.center.x + r.radius),
           std::min(box.y_min, r.center.y - r.radius), std::max(box.y_max, r.center.y + r.radius)};
    out.z_min = std::min(out.z_min, r.z_min);
    out.z_max = std::max(out.z_max, r.z_max);
  }
  out.center = {(box.x_min + box.x_max) / 2, (box.y_min + box.y_max) / 2};
  for (const PrismMap::Entry& e : entries)
    out.radius = std::max(out.radius, norm(e.region.center - out.center) + e.region.radius);
  return out;
}

}  // namespace

PrismRegion region_of(const UprightPrism& prism) {
  Rect box{1e300, -1e300, 1e300, -1e300};
  for (const Vec2 v : prism.outline)
    box = {std::min(box.x_min, v.x), std::max(box.x_max, v.x), std::min(box.y_min, v.y),
           std::max(box.y_max, v.y)};
  PrismRegion out{.center = {(box.x_min + box.x_max) / 2, (box.y_min + box.y_max) / 2},
                  .radius = 0,
                  .z_min = prism.z_min,
                  .z_max = prism.z_max};
  for (const Vec2 v : prism.outline) out.radius = std::max(out.radius, norm(v - out.center));
  return out;
}

PrismMap::PrismMap(std::span<const UprightPrism> prisms) {
  for (const UprightPrism& p : prisms) {
    entries_.push_back({static_cast<int>(vertices_.size()), static_cast<int>(p.outline.size()), region_of(p),
                        p.faces, p.look});
    vertices_.insert(vertices_.end(), p.outline.begin(), p.outline.end());
  }
  if (entries_.empty()) return;
  nodes_.emplace_back();
  build(0, 0, static_cast<int>(entries_.size()));
}

// Halves the entries across the longer side of their centres' box: at most 26 levels for as many as there
// may be.
void PrismMap::build(int node, int begin, int end) {
  const auto first = entries_.begin() + begin, last = entries_.begin() + end;
  nodes_[static_cast<size_t>(node)].region = region_about({first, last});
  if (end - begin <= kLeafSize) {
    nodes_[static_cast<size_t>(node)].first = begin;
    nodes_[static_cast<size_t>(node)].count = end - begin;
    return;
  }
  Rect box{1e300, -1e300, 1e300, -1e300};
  for (auto e = first; e != last; ++e) {
    const Vec2 c = e->region.center;
    box = {std::min(box.x_min, c.x), std::max(box.x_max, c.x), std::min(box.y_min, c.y),
           std::max(box.y_max, c.y)};
  }
  const bool along_x = box.x_max - box.x_min >= box.y_max - box.y_min;
  const auto before = [along_x](const Entry& a, const Entry& b) {
    const Vec2 p = a.region.center, q = b.region.center;
    const double u = along_x ? p.x : p.y, v = along_x ? q.x : q.y;
    return u < v || (u == v && a.first < b.first);
  };
  const int middle = (begin + end) / 2;
  std::sort(first, last, before);
  const int children = static_cast<int>(nodes_.size());
  nodes_[static_cast<size_t>(node)].first = children;
  nodes_.resize(nodes_.size() + 2);
  build(children, begin, middle);
  build(children + 1, middle, end);
}

}  // namespace mvsim
