// Triangles, as meshes are read, drawn and measured. Plain values, metres.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/geometry3.h"

namespace mvsim {

// Triangles. Colours and uvs are either one a vertex or none: white, and (0, 0).
struct Mesh {
  std::vector<Vec3> positions;
  std::vector<std::array<float, 3>> normals;  // one a vertex, of length 1
  std::vector<Color> colors;                  // multiply the colour of the material
  std::vector<std::array<float, 2>>
      uvs;                        // (0, 0) is the upper left corner of a texture, (1, 1) the lower right
  std::vector<uint32_t> indices;  // three a triangle, counter-clockwise seen from outside
};

}  // namespace mvsim
