#include "render/rays/ray_scene.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "raycast/embree_library.h"
#include "scene/triangles.h"

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

constexpr size_t kMaxTriangles = 20'000'000;
// Instances of few triangles become pieces. So do others if their total is small: measured, a tree is faster
// for more than some 2,500 visible triangles.
constexpr size_t kFew = 64, kMostOfFew = 16384, kMostOfOthers = 2048;
// A triangle with sides of this ratio, or without area, has no plane.
constexpr double kFlat = 1e-12;

using GroupKey = std::pair<uint32_t, int>;  // frame, sensor
using Members = std::vector<const Instance*>;

// Returns the groups of a scene in the order of their frames.
std::map<GroupKey, Members> groups_of(const Scene& scene) {
  std::map<GroupKey, Members> groups;
  for (const Instance& instance : scene.instances)
    groups[{instance.frame, instance.sensor}].push_back(&instance);
  return groups;
}

// Returns the key of a body. Equal robots and blocks have the same key and share a body.
std::vector<double> body_key(const Members& members) {
  std::vector<double> key;
  for (const Instance* i : members) {
    key.insert(key.end(), {static_cast<double>(i->shape), static_cast<double>(i->material)});
    for (const Vec3& v :
         {i->T_frame_shape.origin, i->T_frame_shape.x, i->T_frame_shape.y, i->T_frame_shape.z})
      key.insert(key.end(), {v.x, v.y, v.z});
  }
  return key;
}

float squared(uint8_t channel) {
  const float share = static_cast<float>(channel) / 255;
  return share * share;
}

// Collects the triangles of a body, first in the coordinates of its frame.
class BodyBuilder {
 public:
  explicit BodyBuilder(const RayScene& scene) : scene_(scene) {}

  void add(const Mesh& mesh, const Material& material, uint32_t part) {
    const auto first = static_cast<uint32_t>(points_.size());
    parts_.push_back({&material, static_cast<uint32_t>(body_.triangles.size()), 0});
    for (size_t i = 0; i < mesh.positions.size(); ++i) {
      const Color color = mesh.colors.empty() ? material.color : mesh.colors[i];
      points_.push_back(mesh.positions[i]);
      box_.include(mesh.positions[i]);
      body_.corners.push_back({.normal = mesh.normals[i],
                               .base = {squared(color.r), squared(color.g), squared(color.b)},
                               .uv = mesh.uvs.empty() ? std::array<float, 2>{} : mesh.uvs[i],
                               .alpha = static_cast<float>(color.a) / 255});
    }
    for (size_t i = 0; i + 2 < mesh.indices.size(); i += 3)
      add_triangle({first + mesh.indices[i], first + mesh.indices[i + 1], first + mesh.indices[i + 2]},
                   material, part);
    parts_.back().end = static_cast<uint32_t>(body_.triangles.size());
  }

  std::shared_ptr<const RayBody> take(RaySceneUse use) {
    body_.origin = box_.empty() ? Vec3{} : 0.5 * (box_.low + box_.high);
    body_.radius = box_.empty() ? 0 : 0.5 * norm(box_.high - box_.low);
    for (Vec3& p : points_) p = p - body_.origin;
    for (RayTriangle& triangle : body_.triangles) set_planes(triangle);
    if (use == RaySceneUse::kRaster) {
      for (const Part& part : parts_)
        body_.looks.push_back({part.material->cull, part.material->casts_shadow});
      body_.points = std::move(points_);
      return std::make_shared<const RayBody>(std::move(body_));
    }
    std::array<size_t, 2> sum{};  // triangles in instances with many, with few
    for (const Part& part : parts_) sum[part.size() <= kFew] += part.size();
    for (const Part& part : parts_) {
      if (part.size() == 0) continue;
      if (part.size() <= kFew ? sum[1] <= kMostOfFew : sum[0] <= kMostOfOthers)
        body_.pieces.push_back(piece_of(part));
      else
        trace(part);
    }
    make_trees();
    return std::make_shared<const RayBody>(std::move(body_));
  }

 private:
  // The triangles [begin, end) of the body.
  struct Part {
    const Material* material;
    uint32_t begin, end;
    size_t size() const { return end - begin; }
  };

  void add_triangle(const std::array<uint32_t, 3>& corners, const Material& material, uint32_t part) {
    const Vec3 a = points_[corners[0]], ab = points_[corners[1]] - a, ac = points_[corners[2]] - a;
    if (!(norm(cross(ab, ac)) > kFlat * norm(ab) * norm(ac))) return;
    if (body_.triangles.size() >= kMaxTriangles)
      throw Error("cameras and 3D lidars take at most " + std::to_string(kMaxTriangles) +
                  " triangles in one place, found more: make the maps or meshes of the world smaller");
    const bool is_flat = material.texture == Material::kNoTexture && is_same(corners, &RayCorner::normal) &&
                         is_same(corners, &RayCorner::alpha);
    body_.triangles.push_back({.corners = corners,
                               .part = part,
                               .texels_per_metre = texels_per_metre(corners, material, ab, ac),
                               .is_flat = is_flat,
                               .is_plain = is_flat && is_same(corners, &RayCorner::base)});
  }

  template <typename T>
  bool is_same(const std::array<uint32_t, 3>& corners, T RayCorner::*what) const {
    const T& first = body_.corners[corners[0]].*what;
    return body_.corners[corners[1]].*what == first && body_.corners[corners[2]].*what == first;
  }

  // Returns the largest number of texels along a metre.
  float texels_per_metre(const std::array<uint32_t, 3>& corners, const Material& material, Vec3 ab,
                         Vec3 ac) const {
    if (material.texture == Material::kNoTexture) return 0;
    const Vec3 n = cross(ab, ac);
    const double area2 = dot(n, n);
    const Vec3 along_b = (1 / area2) * cross(ac, n), along_c = (1 / area2) * cross(n, ab);
    const auto &a = body_.corners[corners[0]].uv, &b = body_.corners[corners[1]].uv,
               &c = body_.corners[corners[2]].uv;
    double fastest = 0;
    for (size_t k = 0; k < 2; ++k)
      fastest = std::max(fastest, norm(static_cast<double>(b[k] - a[k]) * along_b +
                                       static_cast<double>(c[k] - a[k]) * along_c));
    return static_cast<float>(fastest * scene_.textures[static_cast<size_t>(material.texture)].size());
  }

  void set_planes(RayTriangle& triangle) const {
    const Vec3 a = points_[triangle.corners[0]], ab = points_[triangle.corners[1]] - a,
               ac = points_[triangle.corners[2]] - a;
    const Vec3 n = cross(ab, ac);
    const double area2 = dot(n, n);
    triangle.normal = normalized(n);
    triangle.offset = dot(triangle.normal, a);
    triangle.to_weight = {(1 / area2) * cross(ac, n), (1 / area2) * cross(n, ab)};
    for (size_t k = 0; k < 2; ++k) triangle.weight_offset[k] = dot(triangle.to_weight[k], a);
  }

  bool is_opaque(const Part& part) const {
    for (uint32_t t = part.begin; t < part.end; ++t)
      for (const uint32_t corner : body_.triangles[t].corners)
        if (body_.corners[corner].alpha < 1) return false;
    return true;
  }

  RayPiece piece_of(const Part& part) const {
    std::vector<std::array<Vec3, 3>> triangles;
    for (uint32_t t = part.begin; t < part.end; ++t) {
      const std::array<uint32_t, 3>& c = body_.triangles[t].corners;
      triangles.push_back({points_[c[0]], points_[c[1]], points_[c[2]]});
    }
    RayPiece piece = make_piece(triangles);
    piece.first = part.begin;
    piece.cull = part.material->cull;
    piece.casts_shadow = part.material->casts_shadow;
    piece.is_opaque = part.material->texture == Material::kNoTexture && is_opaque(part);
    return piece;
  }

  void trace(const Part& part) {
    for (uint32_t t = part.begin; t < part.end; ++t) {
      const std::array<uint32_t, 3>& corners = body_.triangles[t].corners;
      body_.traced.push_back(t);
      seen_.push_back({corners, part.material->cull});
      if (part.material->casts_shadow) shadows_.push_back({corners, CullFaces::kNone});
    }
  }

  void make_trees() {
    if (seen_.empty()) return;
    std::vector<std::array<float, 3>> corners;
    corners.reserve(points_.size());
    for (const Vec3& p : points_)
      corners.push_back({static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)});
    body_.seen = std::make_unique<const TriangleTree>(corners, seen_);
    if (!shadows_.empty()) body_.shades = std::make_unique<const TriangleTree>(corners, shadows_);
  }

  const RayScene& scene_;
  RayBody body_;
  std::vector<Vec3> points_;
  Box3 box_;
  std::vector<Part> parts_;
  std::vector<TreeTriangle> seen_, shadows_;
};

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

bool RayBody::casts_shadow() const {
  return shades || std::ranges::any_of(pieces, &RayPiece::casts_shadow) ||
         std::ranges::any_of(looks, &RayPartLook::casts_shadow);
}

std::shared_ptr<const RayScene> make_ray_scene(const Scene& scene, RaySceneUse use) {
  // loaded in any case, so that an error does not depend on the number of triangles
  if (use == RaySceneUse::kRays) load_embree();
  auto out = std::make_shared<RayScene>();
  out->sun = scene.sun;
  out->sky = scene.sky;
  out->has_shadows = scene.has_shadows;
  for (const auto& texture : scene.textures) out->textures.emplace_back(*texture);
  std::map<std::vector<double>, std::shared_ptr<const RayBody>> bodies;
  for (const auto& [key, members] : groups_of(scene)) {
    RayGroup group{.frame = key.first, .sensor = key.second, .body = {}, .parts = {}};
    for (const Instance* i : members) group.parts.push_back({scene.materials[i->material].texture, i->label});
    std::shared_ptr<const RayBody>& body = bodies[body_key(members)];
    if (!body) {
      BodyBuilder builder(*out);
      for (size_t part = 0; part < members.size(); ++part) {
        const Instance& i = *members[part];
        const Material& material = scene.materials[i.material];
        builder.add(triangles_of(scene.shapes[i.shape], material.color, i.T_frame_shape), material,
                    static_cast<uint32_t>(part));
      }
      body = builder.take(use);
    }
    group.body = body;
    out->groups.push_back(std::move(group));
  }
  return out;
}

}  // namespace mvsim
