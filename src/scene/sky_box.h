// A box of pictures around the world, infinitely far away. A direction of the world is looked up as a side of
// the box and a place on that side.
#pragma once

#include <array>
#include <cstddef>

#include "base/geometry3.h"

namespace mvsim {

inline constexpr size_t kSkySides = 6;

// Axes of a picture seen from the middle: it is ahead, its columns run to the right and its rows down.
struct SkySide {
  Vec3 right, down, ahead;
};

// Front (+y), back, down, up, left (+x), right, as MVSim names them: the suns of its pictures stand where its
// worlds have their lights. The upper side touches the front one with its lower edge, the lower side with its
// upper edge.
inline constexpr std::array<SkySide, kSkySides> kSkyBox{{{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}},
                                                         {{-1, 0, 0}, {0, 0, -1}, {0, -1, 0}},
                                                         {{1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
                                                         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                                         {{0, -1, 0}, {0, 0, -1}, {1, 0, 0}},
                                                         {{0, 1, 0}, {0, 0, -1}, {-1, 0, 0}}}};

struct SkyPlace {
  size_t side = 0;
  double u = 0.5, v = 0.5;  // of the picture: 0 left and above, 1 right and below
};

// `direction` is of any length but 0.
SkyPlace sky_place(Vec3 direction);

}  // namespace mvsim
