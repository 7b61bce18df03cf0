// A tree of boxes over triangles, as plain arrays. A shader walks it to find bodies in front of the sun. Pure
// functions, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/geometry3.h"

namespace mvsim {

// A box and its contents: two further nodes from `first` on, or `count` triangles.
struct ShadowNode {
  std::array<float, 3> low{};
  uint32_t first = 0;
  std::array<float, 3> high{};
  uint32_t count = 0;
};

// One corner and the vectors from there to the others.
struct ShadowTriangle {
  std::array<float, 4> corner{}, to_second{}, to_third{};  // the fourth numbers are padding
};

struct ShadowTree {
  static constexpr int kMaxDepth = 32;  // halves of at most 2^32 triangles

  std::vector<ShadowNode> nodes;  // the first contains all; empty if there are no triangles
  std::vector<ShadowTriangle> triangles;
};

ShadowTree make_shadow_tree(const std::vector<std::array<Vec3, 3>>& triangles);

}  // namespace mvsim
