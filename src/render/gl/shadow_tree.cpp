#include "render/gl/shadow_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mvsim {
namespace {

constexpr size_t kLeaf = 4;  // triangles

class TreeBuilder {
 public:
  explicit TreeBuilder(const std::vector<std::array<Vec3, 3>>& triangles)
      : triangles_(triangles), order_(triangles.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  ShadowTree take() {
    if (triangles_.empty()) return {};
    tree_.nodes.emplace_back();
    fill(0, 0, order_.size());
    for (const uint32_t i : order_) tree_.triangles.push_back(packed(triangles_[i]));
    return std::move(tree_);
  }

 private:
  static std::array<float, 4> floats(Vec3 v) {
    return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z), 0};
  }
  static ShadowTriangle packed(const std::array<Vec3, 3>& t) {
    return {floats(t[0]), floats(t[1] - t[0]), floats(t[2] - t[0])};
  }
  static double middle(const std::array<Vec3, 3>& t, int axis) {
    const Vec3 sum = t[0] + t[1] + t[2];
    return axis == 0 ? sum.x : axis == 1 ? sum.y : sum.z;
  }

  // Rounds outwards, since single precision may move a corner out of its box.
  void set_box(ShadowNode& node, const Box3& box) const {
    const double margin = 1e-6 * (1 + norm(box.low) + norm(box.high));
    const Vec3 more{margin, margin, margin};
    const std::array<float, 4> low = floats(box.low - more), high = floats(box.high + more);
    std::copy_n(low.begin(), 3, node.low.begin());
    std::copy_n(high.begin(), 3, node.high.begin());
  }

  void fill(size_t node, size_t begin, size_t end) {
    Box3 box, middles;
    for (size_t i = begin; i < end; ++i) {
      const std::array<Vec3, 3>& t = triangles_[order_[i]];
      for (const Vec3& p : t) box.include(p);
      middles.include({middle(t, 0), middle(t, 1), middle(t, 2)});
    }
    set_box(tree_.nodes[node], box);
    if (end - begin <= kLeaf) {
      tree_.nodes[node].first = static_cast<uint32_t>(begin);
      tree_.nodes[node].count = static_cast<uint32_t>(end - begin);
      return;
    }
    const Vec3 size = middles.high - middles.low;
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const size_t half = begin + (end - begin) / 2;
    const auto at = [&](size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(half), at(end), [&](uint32_t a, uint32_t b) {
      const double x = middle(triangles_[a], axis), y = middle(triangles_[b], axis);
      return x != y ? x < y : a < b;
    });
    const size_t first = tree_.nodes.size();
    tree_.nodes[node].first = static_cast<uint32_t>(first);
    tree_.nodes.resize(first + 2);
    fill(first, begin, half);
    fill(first + 1, half, end);
  }

  const std::vector<std::array<Vec3, 3>>& triangles_;
  std::vector<uint32_t> order_;
  ShadowTree tree_;
};

}  // namespace

ShadowTree make_shadow_tree(const std::vector<std::array<Vec3, 3>>& triangles) {
  return TreeBuilder(triangles).take();
}

}  // namespace mvsim
