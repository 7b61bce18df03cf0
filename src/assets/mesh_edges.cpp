#include "assets/mesh_edges.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace mvsim {
namespace {

constexpr double kSamePlane = 1 - 1e-6;  // cosine between two normals

struct Edge {
  uint32_t from = 0, to = 0;  // indices of positions
  int triangles = 0;
  Vec3 normal;  // of the first triangle
  bool is_bent = false;
};

}  // namespace

std::vector<std::array<Vec3, 2>> sharp_edges(const Mesh& mesh) {
  std::map<std::tuple<double, double, double>, uint32_t> places;
  const auto corner = [&](size_t i) {
    const uint32_t index = mesh.indices[i];
    const Vec3& p = mesh.positions[index];
    return places.emplace(std::tuple{p.x, p.y, p.z}, index).first->second;
  };
  std::vector<Edge> edges;
  std::map<std::pair<uint32_t, uint32_t>, size_t> known;  // places in `edges`
  for (size_t i = 0; i + 2 < mesh.indices.size(); i += 3) {
    const std::array corners{corner(i), corner(i + 1), corner(i + 2)};
    const auto at = [&](size_t k) { return mesh.positions[corners[k % 3]]; };
    const Vec3 across = cross(at(1) - at(0), at(2) - at(0));
    if (!(norm(across) > 0)) continue;
    const Vec3 normal = normalized(across);
    for (size_t k = 0; k < 3; ++k) {
      const auto [from, to] = std::minmax(corners[k], corners[(k + 1) % 3]);
      const auto [found, is_new] = known.emplace(std::pair{from, to}, edges.size());
      if (is_new) edges.push_back({from, to, 0, normal});
      Edge& edge = edges[found->second];
      ++edge.triangles;
      // which side a triangle faces makes no corner
      edge.is_bent = edge.is_bent || !(std::fabs(dot(edge.normal, normal)) >= kSamePlane);
    }
  }
  std::vector<std::array<Vec3, 2>> out;
  for (const Edge& edge : edges)
    if (edge.triangles == 1 || edge.is_bent)
      out.push_back({mesh.positions[edge.from], mesh.positions[edge.to]});
  return out;
}

}  // namespace mvsim
