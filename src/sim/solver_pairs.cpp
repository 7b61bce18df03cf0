#include "sim/solver_pairs.h"

#include <box2d/b2_distance.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "sim/solver_bodies.h"
#include "sim/solver_surroundings.h"

namespace mvsim {
namespace {

constexpr int kFixtureBits = 16, kSquareBits = 24;
constexpr uintptr_t kSquare = uintptr_t{1} << 63;
constexpr uintptr_t kSquareMask = (uintptr_t{1} << kSquareBits) - 1;

uintptr_t rank_of(b2Fixture* fixture) {
  return fixture->GetUserData().pointer;
}

bool can_move(const b2Fixture* fixture) {
  return fixture->GetBody()->GetType() != b2_staticBody;
}

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

void rank_fixtures(size_t index, b2Body& body) {
  uintptr_t count = 0;  // the list begins with the latest
  for (b2Fixture* f = body.GetFixtureList(); f != nullptr; f = f->GetNext()) ++count;
  for (b2Fixture* f = body.GetFixtureList(); f != nullptr; f = f->GetNext())
    f->GetUserData().pointer = uintptr_t{index} << kFixtureBits | --count;
}

uintptr_t rank_of_square(size_t group, uint32_t x, uint32_t y) {
  return kSquare | uintptr_t{group} << 2 * kSquareBits | uintptr_t{y} << kSquareBits | x;
}

SquareIndex square_of(uintptr_t rank) {
  return {static_cast<int32_t>(rank & kSquareMask), static_cast<int32_t>(rank >> kSquareBits & kSquareMask)};
}

// The world gives it away as a constant only; it is none.
SolverPairs::SolverPairs(b2World& world)
    : manager_(const_cast<b2ContactManager&>(world.GetContactManager())) {}

void SolverPairs::find() {
  pairs_.clear();
  manager_.m_broadPhase.UpdatePairs(this);
  make_contacts();
}

void SolverPairs::arrange_latest(int count) {
  pairs_.clear();
  for (; count > 0; --count) {
    b2Contact* latest = manager_.m_contactList;
    add(latest->GetFixtureA(), latest->GetFixtureB());
    manager_.Destroy(latest);
  }
  make_contacts();
}

void SolverPairs::AddPair(void* proxy_a, void* proxy_b) {
  b2Fixture* a = static_cast<b2FixtureProxy*>(proxy_a)->fixture;
  b2Fixture* b = static_cast<b2FixtureProxy*>(proxy_b)->fixture;
  if (can_move(a) || can_move(b)) add(a, b);
}

void SolverPairs::add(b2Fixture* a, b2Fixture* b) {
  if (rank_of(b) < rank_of(a)) std::swap(a, b);
  pairs_.push_back({a, b});
}

void SolverPairs::make_contacts() {
  std::ranges::sort(pairs_, {},
                    [](const Pair& p) { return std::tuple(rank_of(p.second), ~rank_of(p.first)); });
  for (const Pair& pair : pairs_) {
    b2FixtureProxy a{}, b{};
    a.fixture = pair.first;
    b.fixture = pair.second;
    manager_.AddPair(&a, &b);
  }
}

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

float deepest_separation(const b2Contact& contact) {
  const b2Fixture *front = contact.GetFixtureA(), *back = contact.GetFixtureB();
  const b2Manifold& manifold = *contact.GetManifold();
  if (manifold.type == b2Manifold::e_faceB) std::swap(front, back);
  const b2Transform &face = front->GetBody()->GetTransform(), &other = back->GetBody()->GetTransform();
  const float face_radius = front->GetShape()->m_radius, radius = back->GetShape()->m_radius;
  const b2Vec2 normal = b2Mul(face.q, manifold.localNormal), plane = b2Mul(face, manifold.localPoint);
  float deepest = std::numeric_limits<float>::max();
  for (int i = 0; i < manifold.pointCount; ++i) {
    const b2Vec2 point = b2Mul(other, manifold.points[i].localPoint);
    const b2Vec2 on_face = point + (face_radius - b2Dot(point - plane, normal)) * normal;
    const b2Vec2 on_other = point - radius * normal;
    deepest = std::min(deepest, b2Dot(on_other - on_face, normal));
  }
  return deepest;
}

bool is_deep(const b2Contact& contact) {
  return deepest_separation(contact) < -kDeep;
}

void OverlapListener::PreSolve(b2Contact* contact, const b2Manifold*) {
  rounds.before_solving(*contact);
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
