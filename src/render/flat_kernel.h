// The arithmetic of colours that change along a face, for many pixels at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mvsim {

// Squared colours at the foot of a face, and what is added up to its head: at a distance that a row sees, its
// share is distance * per_distance - offset, clipped to [0, 1].
struct FaceGradient {
  std::array<float, 3> foot{}, rise{};
  float per_distance = 0, offset = 0;
};

// Red, green, blue of each distance: the roots. Every instruction set gives the same bits.
void write_gradient(const FaceGradient& gradient, std::span<const float> distances, uint8_t* out);

// Where in a row something else begins, 0 among them; `names` may be read and `starts` written 16 beyond
// `width`. Returns how many there are.
size_t find_run_starts(const int32_t* names, int width, int32_t* starts);

}  // namespace mvsim
