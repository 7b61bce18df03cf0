// Edges of a mesh that a drawing of it would show as lines.
#pragma once

#include <array>
#include <vector>

#include "base/mesh.h"

namespace mvsim {

// Edges with a triangle on one side only, or with triangles that are not in one plane: the diagonals of flat
// faces are none. Each once, in the order of the triangles; corners at the same place count as one.
std::vector<std::array<Vec3, 2>> sharp_edges(const Mesh& mesh);

}  // namespace mvsim
