#include "render/rays/traced_bodies.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

constexpr double kPlaneTolerance = 1e-3;  // relative error of single precision
constexpr double kBeyond = 4e-6;          // relative: Embree searches this much farther

// Returns the distance along the ray to the triangle's plane, or that of Embree if the plane is nearly
// edge-on.
double exact_distance(const PlacedBody& body, const RayTriangle& triangle, Vec3 ray, double found) {
  const double along = dot(triangle.normal, body.body_from_view(ray));
  const double distance = (triangle.offset - dot(triangle.normal, body.eye)) / along;
  return std::fabs(distance - found) <= kPlaneTolerance * (1 + found) ? distance : found;
}

bool is_traced(const PlacedBody& body) {
  return body.is_seen && body.group->body->seen;
}

}  // namespace

struct TracedBodies::Packet {
  PixelRect rect;
  size_t count = 0;
  PacketLanes lanes{};
  std::array<size_t, kPacketSize> pixel{};  // in the tile
  std::array<Vec3, kPacketSize> ray;        // in the view's frame
  std::array<float, kPacketSize> near{}, far{};
};

TracedBodies::TracedBodies(std::span<const PlacedBody> bodies, const View& view, const RayGrid& grid)
    : bodies_(bodies), view_(view), grid_(grid), has_any_(std::ranges::any_of(bodies, is_traced)) {}

void TracedBodies::merge(double far, RasterTile& tile) const {
  if (!has_any_) return;
  const int wide = view_.is_pinhole() ? 4 : kPacketSize, high = kPacketSize / wide;
  const PixelRect& all = tile.rect;
  for (int top = all.top; top < all.bottom; top += high)
    for (int left = all.left; left < all.right; left += wide) {
      const PixelRect rect{left, std::min(left + wide, all.right), top, std::min(top + high, all.bottom)};
      Packet packet;
      for (const PlacedBody& body : bodies_) {
        if (!is_traced(body) || !body.rect.meets(rect)) continue;
        if (packet.count == 0) packet = packet_at(tile, rect, far);
        cast(body, packet, tile);
      }
    }
}

TracedBodies::Packet TracedBodies::packet_at(const RasterTile& tile, const PixelRect& rect,
                                             double far) const {
  Packet packet;
  packet.rect = rect;
  for (int row = rect.top; row < rect.bottom; ++row)
    for (int column = rect.left; column < rect.right; ++column) {
      const size_t i = packet.count++;
      const size_t pixel = static_cast<size_t>(row - tile.rect.top) * tile.stride +
                           static_cast<size_t>(column - tile.rect.left);
      packet.pixel[i] = pixel;
      packet.ray[i] = ray_of(view_, grid_, row, column);
      packet.lanes[i] = tile.limit[pixel] > 0 ? -1 : 0;
      packet.near[i] = static_cast<float>(1 / (tile.limit[pixel] * grid_.length[static_cast<size_t>(row)]));
      packet.far[i] = static_cast<float>(
          tile.id[pixel] == RasterTile::kNothing ? far : tile.distance[pixel] * (1 + kBeyond));
    }
  for (size_t i = packet.count; i < kPacketSize; ++i) packet.ray[i] = packet.ray[0];
  return packet;
}

void TracedBodies::cast(const PlacedBody& body, Packet& packet, RasterTile& tile) const {
  RayPacket rays;
  for (int i = 0; i < kPacketSize; ++i) {
    const auto k = static_cast<size_t>(i);
    const Vec3 d = body.body_from_view(packet.ray[k]);
    rays.set_ray(i, static_cast<float>(body.eye.x), static_cast<float>(body.eye.y),
                 static_cast<float>(body.eye.z), static_cast<float>(d.x), static_cast<float>(d.y),
                 static_cast<float>(d.z), packet.near[k], packet.far[k]);
  }
  const RayBody& from = *body.group->body;
  from.seen->intersect(rays, packet.lanes);
  for (size_t i = 0; i < packet.count; ++i) {
    if (packet.lanes[i] == 0 || rays.triangle[i] == RayPacket::kNothing) continue;
    const uint32_t triangle = from.traced[rays.triangle[i]];
    const double distance =
        exact_distance(body, from.triangles[triangle], packet.ray[i], static_cast<double>(rays.far[i]));
    const size_t pixel = packet.pixel[i];
    if (tile.id[pixel] != RasterTile::kNothing && distance >= tile.distance[pixel]) continue;
    tile.distance[pixel] = distance;
    tile.id[pixel] = triangle_id(static_cast<size_t>(&body - bodies_.data()), triangle);
    packet.far[i] = static_cast<float>(distance * (1 + kBeyond));
  }
}

}  // namespace mvsim
