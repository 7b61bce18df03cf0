#include "sim/solver_overlap.h"

#include <algorithm>
#include <limits>

#include "sim/solver_cells.h"
#include "sim/solver_polygon.h"

namespace mvsim {
namespace {

constexpr float kDeep = 4 * b2_linearSlop;  // m; Box2D corrects overlaps down to three
constexpr float kMaxDistance = std::numeric_limits<float>::max();

bool is_of_one_piece(const b2Body& body) {
  return body.GetFixtureList()->GetNext() == nullptr;
}

// Farthest that any fixture of a body reaches along an axis of the world, m.
float reach_of(const b2Body& body, b2Vec2 axis) {
  const b2Vec2 local = body.GetLocalVector(axis);
  float reach = -kMaxDistance;
  for (const b2Fixture* f = body.GetFixtureList(); f != nullptr; f = f->GetNext()) {
    const b2PolygonShape& polygon = polygon_of(*f);
    for (int i = 0; i < polygon.m_count; ++i) reach = std::max(reach, b2Dot(local, polygon.m_vertices[i]));
  }
  return reach + b2Dot(axis, body.GetPosition());
}

// The axis from `a` to `b`, of all normals of their sides, along which they overlap least.
b2Vec2 shortest_way_out(const b2Body& a, const b2Body& b) {
  b2Vec2 best(1, 0);
  float least = kMaxDistance;
  const auto consider = [&](const b2Body& owner, float sign) {
    for (const b2Fixture* f = owner.GetFixtureList(); f != nullptr; f = f->GetNext()) {
      const b2PolygonShape& polygon = polygon_of(*f);
      for (int i = 0; i < polygon.m_count; ++i) {
        const b2Vec2 axis = sign * owner.GetWorldVector(polygon.m_normals[i]);
        const float depth = reach_of(a, axis) + reach_of(b, -axis);
        if (depth < least) least = depth, best = axis;
      }
    }
  };
  consider(a, 1);
  consider(b, -1);
  return best;
}

// A block; vehicles have wheels besides, and would pay for a look at the other contacts.
bool is_of_few_pieces(const b2Body& body) {
  return is_of_one_piece(body) || body.GetFixtureList()->GetNext()->GetNext() == nullptr;
}

// Another contact of the same bodies is deep as they stand: it may not have been updated yet.
bool has_deep_sibling(const b2Contact& contact, const b2Body& a, const b2Body& b) {
  for (const b2ContactEdge* edge = a.GetContactList(); edge != nullptr; edge = edge->next) {
    if (edge->other != &b || edge->contact == &contact) continue;
    b2Fixture &first = *edge->contact->GetFixtureA(), &second = *edge->contact->GetFixtureB();
    b2Manifold manifold;
    edge->contact->Evaluate(&manifold, first.GetBody()->GetTransform(), second.GetBody()->GetTransform());
    if (manifold.pointCount == 0) continue;
    b2WorldManifold world;
    world.Initialize(&manifold, first.GetBody()->GetTransform(), first.GetShape()->m_radius,
                     second.GetBody()->GetTransform(), second.GetShape()->m_radius);
    for (int i = 0; i < manifold.pointCount; ++i)
      if (world.separations[i] < -kDeep) return true;
  }
  return false;
}

}  // namespace

bool is_deep(const b2Contact& contact) {
  b2WorldManifold manifold;
  contact.GetWorldManifold(&manifold);
  const int count = const_cast<b2Contact&>(contact).GetManifold()->pointCount;
  return std::any_of(manifold.separations, manifold.separations + count,
                     [](float separation) { return separation < -kDeep; });
}

void OverlapListener::PreSolve(b2Contact* contact, const b2Manifold*) {
  b2Fixture &fixture_a = *contact->GetFixtureA(), &fixture_b = *contact->GetFixtureB();
  b2Body &a = *fixture_a.GetBody(), &b = *fixture_b.GetBody();
  const auto is_fast = [&](b2Body& body) {
    return body.GetType() != b2_staticBody && is_slow[body.GetUserData().pointer] == 0;
  };
  if ((is_of_one_piece(a) && is_of_one_piece(b)) || is_fast(a) || is_fast(b) || is_square(fixture_a) ||
      is_square(fixture_b))
    return;
  const bool few = is_of_few_pieces(a) && is_of_few_pieces(b);
  if (!is_deep(*contact) && !(few && has_deep_sibling(*contact, a, b))) return;
  const b2Vec2 axis = shortest_way_out(a, b);
  // below the middle of mass of `b`, so that it is not turned
  const b2Vec2 middle = b.GetWorldCenter();
  const b2Vec2 lowest = middle - (reach_of(b, -axis) + b2Dot(axis, middle)) * axis;
  b2Manifold& manifold = *contact->GetManifold();
  manifold.type = b2Manifold::e_faceA;
  manifold.localNormal = a.GetLocalVector(axis);
  manifold.localPoint =
      a.GetLocalPoint(a.GetPosition() + (reach_of(a, axis) - b2Dot(axis, a.GetPosition())) * axis);
  manifold.pointCount = 1;
  manifold.points[0].localPoint = b.GetLocalPoint(lowest);
  manifold.points[0].normalImpulse = manifold.points[0].tangentImpulse = 0;
  manifold.points[0].id.key = 0;
}

}  // namespace mvsim
