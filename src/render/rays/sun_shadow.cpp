#include "render/rays/sun_shadow.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mvsim {
namespace {

// Returns the colour of the box's side in a direction.
Rgb box_color(const RayScene& scene, Vec3 direction, double pixel_angle) {
  const SkyPlace place = sky_place(direction);
  const MipImage& side = scene.textures[static_cast<size_t>((*scene.sky.box)[place.side])];
  const float level = texture_level(0.5 * side.size() * pixel_angle);
  const float margin = sky_box_margin(level, static_cast<float>(side.size()));
  const auto within = [&](double at) { return std::clamp(static_cast<float>(at), margin, 1 - margin); };
  const std::array<float, 4> texel = side.at(within(place.u), within(place.v), level);
  return {texel[0], texel[1], texel[2]};
}

constexpr float kSunDistance = 1e5F;  // m
constexpr double kEdgeOn = 1e-12;     // component of a normal towards the sun

// Bounds of some points.
struct Spread {
  Rect extent{std::numeric_limits<double>::max(), -std::numeric_limits<double>::max(),
              std::numeric_limits<double>::max(), -std::numeric_limits<double>::max()};
  double lowest = std::numeric_limits<double>::max();

  void include(const SunPoints& points) {
    const Rect& e = points.extent;
    extent = {std::min(extent.x_min, e.x_min), std::max(extent.x_max, e.x_max),
              std::min(extent.y_min, e.y_min), std::max(extent.y_max, e.y_max)};
    lowest = std::min(lowest, points.lowest);
  }
};

// Whether a body within a sphere may be between the sun and such points.
bool may_block(Vec3 center, double radius, const Rect& extent, double lowest) {
  return center.x + radius >= extent.x_min && center.x - radius <= extent.x_max &&
         center.y + radius >= extent.y_min && center.y - radius <= extent.y_max &&
         center.z + radius >= lowest;
}

}  // namespace

SurfacePoint surface_at(const RayBody& body, const RayTriangle& triangle, Vec3 point) {
  const double w1 = std::clamp(dot(triangle.to_weight[0], point) - triangle.weight_offset[0], 0.0, 1.0);
  const double w2 = std::clamp(dot(triangle.to_weight[1], point) - triangle.weight_offset[1], 0.0, 1.0 - w1);
  const auto b = static_cast<float>(w1), c = static_cast<float>(w2), a = 1 - b - c;
  const RayCorner &p = body.corners[triangle.corners[0]], &q = body.corners[triangle.corners[1]],
                  &r = body.corners[triangle.corners[2]];
  SurfacePoint out;
  for (size_t k = 0; k < 3; ++k) out.base[k] = a * p.base[k] + b * q.base[k] + c * r.base[k];
  for (size_t k = 0; k < 2; ++k) out.uv[k] = a * p.uv[k] + b * q.uv[k] + c * r.uv[k];
  out.alpha = a * p.alpha + b * q.alpha + c * r.alpha;
  const auto normal = [&](size_t k) {
    return static_cast<double>(a * p.normal[k] + b * q.normal[k] + c * r.normal[k]);
  };
  out.normal = {normal(0), normal(1), normal(2)};
  return out;
}

Rgb sky_color(const RayScene& scene, Vec3 direction, double pixel_angle) {
  return scene.sky.box ? box_color(scene, direction, pixel_angle) : plain_sky_color(scene.sky, direction);
}

SunShadow::SunShadow(const Sun& sun, std::span<const PlacedBody> bodies, Vec3 eye)
    : eye_(eye), to_sun_(normalized(sun.to_sun)) {
  across_ = normalized(std::fabs(to_sun_.z) < 0.9 ? cross(to_sun_, {0, 0, 1}) : cross(to_sun_, {1, 0, 0}));
  up_ = cross(to_sun_, across_);
  for (const PlacedBody& body : bodies) {
    const double widest = body.group->body->radius > 0 ? body.radius / body.group->body->radius : 1;
    for (const RayPiece& piece : body.group->body->pieces)
      if (piece.casts_shadow) add(body, &piece, body.to_world(piece.center), widest * piece.radius);
    if (body.group->body->shades) add(body, nullptr, body.world_center, body.radius);
  }
}

void SunShadow::add(const PlacedBody& body, const RayPiece* piece, Vec3 center, double radius) {
  casters_.push_back({&body, piece, seen_by_sun(center - eye_), radius});
}

void SunShadow::find_blocked(std::span<SunPoints> groups) {
  Spread all;
  for (SunPoints& points : groups) {
    points.blocked.fill(0);
    all.include(points);
  }
  close_.clear();
  for (Caster& caster : casters_)
    if (may_block(caster.center, caster.radius, all.extent, all.lowest)) close_.push_back(&caster);
  for (SunPoints& points : groups)
    for (Caster* const caster : close_) {
      if (!may_block(caster->center, caster->radius, points.extent, points.lowest)) continue;
      if (!caster->piece) {
        find_traced(*caster, points);
        continue;
      }
      if (!caster->is_ready) make_triangles(*caster);
      block_points({triangles_.data() + caster->first, caster->count}, points);
    }
}

// Makes the triangles of a piece. For a closed piece those that face the sun suffice, since a line from
// inside to the sun passes through one of them.
void SunShadow::make_triangles(Caster& caster) {
  const PlacedBody& body = *caster.body;
  std::vector<Vec3> points;
  points.reserve(caster.piece->points.size());
  for (const Vec3& p : caster.piece->points) points.push_back(seen_by_sun(body.to_world(p) - eye_));
  caster.first = triangles_.size();
  for (size_t i = 0; i < caster.piece->triangles.size(); ++i) {
    const Vec3 normal = body.world_from_normal(body.group->body->triangles[caster.piece->first + i].normal);
    if (caster.piece->is_closed && dot(normal, to_sun_) < -kEdgeOn) continue;
    const std::array<uint32_t, 3>& c = caster.piece->triangles[i];
    SunTriangle triangle;
    if (make_sun_triangle({points[c[0]], points[c[1]], points[c[2]]}, triangle))
      triangles_.push_back(triangle);
  }
  caster.count = triangles_.size() - caster.first;
  caster.is_ready = true;
}

void SunShadow::find_traced(const Caster& caster, SunPoints& points) const {
  const PlacedBody& body = *caster.body;
  const Vec3 d = body.body_from_world(to_sun_);
  for (size_t begin = 0; begin < points.count; begin += kPacketSize) {
    RayPacket packet;
    PacketLanes lanes{};
    for (size_t i = 0; i < kPacketSize; ++i) {
      const size_t at = std::min(begin + i, points.count - 1);
      lanes[i] = begin + i < points.count && points.blocked[at] == 0 ? -1 : 0;
      const Vec3 o =
          body.to_body(eye_ + points.u[at] * across_ + points.v[at] * up_ + points.h[at] * to_sun_);
      packet.set_ray(static_cast<int>(i), static_cast<float>(o.x), static_cast<float>(o.y),
                     static_cast<float>(o.z), static_cast<float>(d.x), static_cast<float>(d.y),
                     static_cast<float>(d.z), 0, kSunDistance);
    }
    body.group->body->shades->find_blocked(packet, lanes);
    for (size_t i = 0; i < kPacketSize; ++i)
      if (lanes[i] != 0 && packet.far[i] < 0) points.blocked[begin + i] = 1;
  }
}

}  // namespace mvsim
