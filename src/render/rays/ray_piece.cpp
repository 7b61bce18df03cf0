#include "render/rays/ray_piece.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace mvsim {
namespace {

// Whether each edge belongs to two triangles with opposite directions, with the fronts outside.
bool is_closed(const RayPiece& piece) {
  std::set<std::pair<uint32_t, uint32_t>> edges;
  double volume = 0;
  for (const std::array<uint32_t, 3>& t : piece.triangles) {
    for (size_t k = 0; k < 3; ++k)
      if (!edges.insert({t[k], t[(k + 1) % 3]}).second) return false;
    volume += dot(piece.points[t[0]] - piece.center,
                  cross(piece.points[t[1]] - piece.center, piece.points[t[2]] - piece.center));
  }
  return volume > 0 && std::ranges::all_of(edges, [&](const std::pair<uint32_t, uint32_t>& edge) {
           return edges.contains({edge.second, edge.first});
         });
}

}  // namespace

RayPiece make_piece(std::span<const std::array<Vec3, 3>> triangles) {
  RayPiece piece;
  Box3 box;
  std::map<std::array<double, 3>, uint32_t> known;
  for (const std::array<Vec3, 3>& triangle : triangles) {
    std::array<uint32_t, 3>& corners = piece.triangles.emplace_back();
    for (size_t k = 0; k < 3; ++k) {
      const Vec3 p = triangle[k];
      const auto [at, is_new] = known.insert({{p.x, p.y, p.z}, static_cast<uint32_t>(piece.points.size())});
      corners[k] = at->second;
      if (!is_new) continue;
      piece.points.push_back(p);
      box.include(p);
    }
  }
  if (piece.points.empty()) return piece;
  piece.center = 0.5 * (box.low + box.high);
  for (const Vec3& p : piece.points) piece.radius = std::max(piece.radius, norm(p - piece.center));
  piece.is_closed = is_closed(piece);
  return piece;
}

}  // namespace mvsim
