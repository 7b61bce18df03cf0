#include "sim/solver_near.h"

#include <box2d/b2_distance.h>

#include <algorithm>
#include <cmath>

#include "sim/solver_polygon.h"

namespace mvsim {
namespace {

// How far a point lies outside of a polygon at least: beyond the side that it is farthest from.
float beyond_sides(const b2PolygonShape& polygon, const b2Transform& pose, b2Vec2 point) {
  const b2Vec2 local = b2MulT(pose, point);
  float farthest = b2Dot(polygon.m_normals[0], local - polygon.m_vertices[0]);
  for (int i = 1; i < polygon.m_count; ++i)
    farthest = std::max(farthest, b2Dot(polygon.m_normals[i], local - polygon.m_vertices[i]));
  return farthest;
}

// Whether all of a polygon lies farther than `distance` beyond one side of another.
bool is_beyond_a_side(const b2PolygonShape& polygon, const b2Transform& pose, const b2PolygonShape& other,
                      const b2Transform& there, float distance) {
  const b2Transform T_polygon_other = b2MulT(pose, there);
  b2Vec2 corners[b2_maxPolygonVertices];
  for (int k = 0; k < other.m_count; ++k) corners[k] = b2Mul(T_polygon_other, other.m_vertices[k]);
  for (int i = 0; i < polygon.m_count; ++i) {
    const float offset = b2Dot(polygon.m_normals[i], polygon.m_vertices[i]) + distance;
    if (std::all_of(corners, corners + other.m_count,
                    [&](b2Vec2 corner) { return b2Dot(polygon.m_normals[i], corner) > offset; }))
      return true;
  }
  return false;
}

// Returns the radius of the circle around the centroid that holds all vertices of a polygon.
float vertex_radius(const b2PolygonShape& polygon) {
  float square = 0;
  for (int i = 0; i < polygon.m_count; ++i)
    square = std::max(square, b2DistanceSquared(polygon.m_vertices[i], polygon.m_centroid));
  return std::sqrt(square);
}

// By the sides of either and a circle about the other.
bool are_apart_by_circles(const b2PolygonShape& a, const b2Transform& at, const b2PolygonShape& b,
                          const b2Transform& there, float distance) {
  return beyond_sides(a, at, b2Mul(there, b.m_centroid)) > distance + vertex_radius(b) ||
         beyond_sides(b, there, b2Mul(at, a.m_centroid)) > distance + vertex_radius(a);
}

// `distance` between skins as one between polygons, beyond the rounding of single precision.
float between_polygons(const b2Fixture& a, const b2Fixture& b, double distance) {
  constexpr float kSlack = 1e-3f, kShare = 1e-6f;  // m, and of coordinates
  const b2Vec2 &at = a.GetBody()->GetTransform().p, &there = b.GetBody()->GetTransform().p;
  return static_cast<float>(distance) + polygon_of(a).m_radius + polygon_of(b).m_radius + kSlack +
         kShare * (b2Abs(at.x) + b2Abs(at.y) + b2Abs(there.x) + b2Abs(there.y));
}

}  // namespace

bool are_apart(const b2Contact& contact, double distance) {
  const b2Fixture &a = *contact.GetFixtureA(), &b = *contact.GetFixtureB();
  const b2PolygonShape &first = polygon_of(a), &second = polygon_of(b);
  const b2Transform &at = a.GetBody()->GetTransform(), &there = b.GetBody()->GetTransform();
  const float enough = between_polygons(a, b, distance);
  return are_apart_by_circles(first, at, second, there, enough) ||
         is_beyond_a_side(first, at, second, there, enough) ||
         is_beyond_a_side(second, there, first, at, enough);
}

bool is_near(b2Contact& contact, double threshold) {
  if (contact.IsTouching()) return true;
  const b2Fixture *a = contact.GetFixtureA(), *b = contact.GetFixtureB();
  if (are_apart_by_circles(polygon_of(*a), a->GetBody()->GetTransform(), polygon_of(*b),
                           b->GetBody()->GetTransform(), between_polygons(*a, *b, threshold)))
    return false;  // the quicker answer
  b2DistanceInput input;
  input.proxyA.Set(a->GetShape(), contact.GetChildIndexA());
  input.proxyB.Set(b->GetShape(), contact.GetChildIndexB());
  input.transformA = a->GetBody()->GetTransform();
  input.transformB = b->GetBody()->GetTransform();
  input.useRadii = true;
  b2SimplexCache cache;
  cache.count = 0;
  b2DistanceOutput output;
  b2Distance(&output, &cache, &input);
  return output.distance < static_cast<float>(threshold);
}

}  // namespace mvsim
