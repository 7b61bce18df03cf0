#include "sim/rigid_body_solver.h"

#include <box2d/b2_collision.h>
#include <box2d/b2_polygon_shape.h>
#include <box2d/b2_timer.h>

#include <algorithm>

namespace mvsim {

void use_own_box2d_functions() {}

}  // namespace mvsim

// Replaces Box2D's timer by one that does nothing. The original reads the clock some twenty times a step for
// a profile that is not used: half of the time of a step of one body.
b2Timer::b2Timer() = default;

void b2Timer::Reset() {}

float b2Timer::GetMilliseconds() const {
  return 0;
}

namespace mvsim {
namespace {

using Four = float __attribute__((vector_size(16)));  // GCC's and Clang's, without a target of its own

struct SideSeparation {
  int side = 0;  // of the first polygon
  float distance = -b2_maxFloat;
};

// The side of the first polygon that the second one is farthest beyond: four sides at a time.
SideSeparation largest_separation(const b2PolygonShape& first, const b2Transform& there,
                                  const b2PolygonShape& second, const b2Transform& here) {
  const b2Transform T_second_first = b2MulT(here, there);
  const float c = T_second_first.q.c, s = T_second_first.q.s;
  SideSeparation out;
  for (int begin = 0; begin < first.m_count; begin += 4) {
    const b2Vec2 *n = first.m_normals + begin, *v = first.m_vertices + begin;  // of 8, the last ones unused
    const Four nx{n[0].x, n[1].x, n[2].x, n[3].x}, ny{n[0].y, n[1].y, n[2].y, n[3].y};
    const Four vx{v[0].x, v[1].x, v[2].x, v[3].x}, vy{v[0].y, v[1].y, v[2].y, v[3].y};
    const Four normal_x = c * nx - s * ny, normal_y = s * nx + c * ny;
    const Four side_x = (c * vx - s * vy) + T_second_first.p.x;
    const Four side_y = (s * vx + c * vy) + T_second_first.p.y;
    Four least = Four{} + b2_maxFloat;
    for (int k = 0; k < second.m_count; ++k) {
      const b2Vec2 corner = second.m_vertices[k];
      const Four distance = normal_x * (corner.x - side_x) + normal_y * (corner.y - side_y);
      least = distance < least ? distance : least;
    }
    for (int i = begin; i < std::min(begin + 4, first.m_count); ++i)
      if (least[i - begin] > out.distance) out = {i, least[i - begin]};
  }
  return out;
}

// The side of the other polygon that faces `side` of the first most.
void find_facing_side(const b2PolygonShape& first, const b2Transform& there, int side,
                      const b2PolygonShape& other, const b2Transform& here, b2ClipVertex out[2]) {
  const b2Vec2 normal = b2MulT(here.q, b2Mul(there.q, first.m_normals[side]));
  int facing = 0;
  float least = b2_maxFloat;
  for (int i = 0; i < other.m_count; ++i)
    if (const float along = b2Dot(normal, other.m_normals[i]); along < least) {
      least = along;
      facing = i;
    }
  const int ends[] = {facing, facing + 1 < other.m_count ? facing + 1 : 0};
  for (int i = 0; i < 2; ++i) {
    out[i].v = b2Mul(here, other.m_vertices[ends[i]]);
    out[i].id.cf = {static_cast<uint8>(side), static_cast<uint8>(ends[i]), b2ContactFeature::e_face,
                    b2ContactFeature::e_vertex};
  }
}

struct Placed {
  const b2PolygonShape& shape;
  const b2Transform& pose;
};

// Clips the other polygon's facing side to the part over `side` that is near enough. `flips`: `side` belongs
// to the second polygon.
void clip_contact(const Placed& first, int side, const Placed& other, float radius, bool flips,
                  b2Manifold& manifold) {
  b2ClipVertex facing[2], cut[2], kept[2];
  find_facing_side(first.shape, first.pose, side, other.shape, other.pose, facing);
  manifold.type = flips ? b2Manifold::e_faceB : b2Manifold::e_faceA;
  const int next = side + 1 < first.shape.m_count ? side + 1 : 0;
  const b2Vec2 a = first.shape.m_vertices[side], b = first.shape.m_vertices[next];
  b2Vec2 along = b - a;
  along.Normalize();
  const b2Vec2 tangent = b2Mul(first.pose.q, along), normal = b2Cross(tangent, 1.0f);
  const b2Vec2 from = b2Mul(first.pose, a), to = b2Mul(first.pose, b);
  if (b2ClipSegmentToLine(cut, facing, -tangent, -b2Dot(tangent, from) + radius, side) < 2) return;
  if (b2ClipSegmentToLine(kept, cut, tangent, b2Dot(tangent, to) + radius, next) < 2) return;
  manifold.localNormal = b2Cross(along, 1.0f);
  manifold.localPoint = 0.5f * (a + b);
  const float front = b2Dot(normal, from);
  for (const b2ClipVertex& vertex : kept) {
    if (!(b2Dot(normal, vertex.v) - front <= radius)) continue;
    b2ManifoldPoint& point = manifold.points[manifold.pointCount++];
    point.localPoint = b2MulT(other.pose, vertex.v);
    point.id = vertex.id;
    const b2ContactFeature f = vertex.id.cf;
    if (flips) point.id.cf = {f.indexB, f.indexA, f.typeB, f.typeA};
  }
}

}  // namespace
}  // namespace mvsim

// A third of a step in which a robot leans on cells.
void b2CollidePolygons(b2Manifold* manifold, const b2PolygonShape* a, const b2Transform& pose_a,
                       const b2PolygonShape* b, const b2Transform& pose_b) {
  constexpr float kPrefersFirst = 0.1f * b2_linearSlop;
  manifold->pointCount = 0;
  const float radius = a->m_radius + b->m_radius;
  const mvsim::SideSeparation of_a = mvsim::largest_separation(*a, pose_a, *b, pose_b);
  if (of_a.distance > radius) return;
  const mvsim::SideSeparation of_b = mvsim::largest_separation(*b, pose_b, *a, pose_a);
  if (of_b.distance > radius) return;
  if (of_b.distance > of_a.distance + kPrefersFirst)
    mvsim::clip_contact({*b, pose_b}, of_b.side, {*a, pose_a}, radius, true, *manifold);
  else
    mvsim::clip_contact({*a, pose_a}, of_a.side, {*b, pose_b}, radius, false, *manifold);
}
