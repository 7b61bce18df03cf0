#include "sim/solver_near.h"

#include <box2d/b2_distance.h>

#include <algorithm>
#include <cmath>

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

// Radius about the centroid of what a polygon's vertices span.
float vertex_radius(const b2PolygonShape& polygon) {
  float square = 0;
  for (int i = 0; i < polygon.m_count; ++i)
    square = std::max(square, b2DistanceSquared(polygon.m_vertices[i], polygon.m_centroid));
  return std::sqrt(square);
}

// Whether two fixtures are farther apart than `distance` beyond doubt, by the sides of either and a circle
// about the other. Says nothing otherwise: b2Distance does.
bool are_apart(const b2Fixture& a, const b2Fixture& b, float distance) {
  constexpr float kSlack = 1e-3f,
                  kShare = 1e-6f;  // m, and of coordinates: beyond the rounding of single precision
  const auto& first = *static_cast<const b2PolygonShape*>(a.GetShape());
  const auto& second = *static_cast<const b2PolygonShape*>(b.GetShape());
  const b2Transform &at = a.GetBody()->GetTransform(), &there = b.GetBody()->GetTransform();
  const float enough = distance + first.m_radius + second.m_radius + kSlack +
                       kShare * (b2Abs(at.p.x) + b2Abs(at.p.y) + b2Abs(there.p.x) + b2Abs(there.p.y));
  return beyond_sides(first, at, b2Mul(there, second.m_centroid)) > enough + vertex_radius(second) ||
         beyond_sides(second, there, b2Mul(at, first.m_centroid)) > enough + vertex_radius(first);
}

}  // namespace

bool is_near(b2Contact& contact, double threshold) {
  if (contact.IsTouching()) return true;
  const b2Fixture *a = contact.GetFixtureA(), *b = contact.GetFixtureB();
  if (are_apart(*a, *b, static_cast<float>(threshold))) return false;
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
