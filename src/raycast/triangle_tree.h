// Rays against triangles in three dimensions. Embree finds the triangle. Its distances are in single
// precision and differ between instruction sets, so callers compute distances from the plane of the triangle.
// Embree is loaded with the first tree (Error with the remedy where it is missing).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/geometry.h"

namespace mvsim {

struct TreeTriangle {
  std::array<uint32_t, 3> corners;
  CullFaces cull =
      CullFaces::kNone;  // sides that rays pass through; the front shows counter-clockwise corners
};

inline constexpr int kPacketSize = 16;

// Rays from origin + near * direction to origin + far * direction. Directions may have any length: near, far
// and the distances found count in multiples of them.
struct alignas(64) RayPacket {
  static constexpr uint32_t kNothing = ~0U;

  // in this order Embree reads and writes them
  float origin_x[kPacketSize], origin_y[kPacketSize], origin_z[kPacketSize], near[kPacketSize];
  float x[kPacketSize], y[kPacketSize], z[kPacketSize], time[kPacketSize];
  float far[kPacketSize];  // after a hit: the approximate distance
  uint32_t mask[kPacketSize], id[kPacketSize], flags[kPacketSize];
  float normal_x[kPacketSize], normal_y[kPacketSize], normal_z[kPacketSize], u[kPacketSize], v[kPacketSize];
  uint32_t triangle[kPacketSize];  // kNothing: it hits nothing
  uint32_t part[kPacketSize], instance[kPacketSize];

  void set_ray(int i, float ox, float oy, float oz, float dx, float dy, float dz, float from, float to) {
    origin_x[i] = ox, origin_y[i] = oy, origin_z[i] = oz, near[i] = from;
    x[i] = dx, y[i] = dy, z[i] = dz, time[i] = 0, far[i] = to;
    mask[i] = ~0U, id[i] = 0, flags[i] = 0;
    triangle[i] = part[i] = instance[i] = kNothing;
  }
};

using PacketLanes = std::array<int32_t, kPacketSize>;  // -1: cast this ray, 0: skip it

// Immutable, any thread. The same triangles in the same order give the same tree.
class TriangleTree {
 public:
  // The indices of all triangles must be in range.
  // `instruction_set` is a name of Embree such as "avx2"; empty: the widest that the processor has.
  TriangleTree(std::span<const std::array<float, 3>> corners, std::span<const TreeTriangle> triangles,
               std::string_view instruction_set = {});
  ~TriangleTree();
  TriangleTree(const TriangleTree&) = delete;
  TriangleTree& operator=(const TriangleTree&) = delete;

  // Sets `triangle` and `far` of rays that hit something nearer than `far`.
  void intersect(RayPacket& packet, const PacketLanes& lanes) const;
  // Sets `far` of blocked rays to -infinity. Triangles block from both sides.
  void find_blocked(RayPacket& packet, const PacketLanes& lanes) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mvsim
