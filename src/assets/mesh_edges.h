// Sharp edges of a mesh, for line drawings.
#pragma once

#include <array>
#include <vector>

#include "base/mesh.h"

namespace mvsim {

// Returns the edges with a triangle on one side only, or between triangles of different planes. The diagonals
// of flat faces are left out. Each edge comes once, in the order of the triangles; corners at the same place
// count as one.
std::vector<std::array<Vec3, 2>> sharp_edges(const Mesh& mesh);

}  // namespace mvsim
