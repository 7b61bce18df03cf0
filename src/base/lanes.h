// Numbers side by side, which every processor adds and multiplies at once. These are types of GCC and Clang;
// wider ones are Highway's (base/highway_targets.h).
#pragma once

#include <cstring>

namespace mvsim {

using TwoLanes = double __attribute__((vector_size(16)));
using FourLanes = float __attribute__((vector_size(16)));

template <typename Lanes, typename Number>
Lanes load_lanes(const Number* from) {
  Lanes out;
  std::memcpy(&out, from, sizeof(out));
  return out;
}

template <typename Lanes, typename Number>
void store_lanes(const Lanes& lanes, Number* to) {
  std::memcpy(to, &lanes, sizeof(lanes));
}

}  // namespace mvsim
