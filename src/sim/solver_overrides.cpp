#include "sim/rigid_body_solver.h"

#include <box2d/b2_block_allocator.h>
#include <box2d/b2_collision.h>
#include <box2d/b2_friction_joint.h>
#include <box2d/b2_polygon_shape.h>
#include <box2d/b2_stack_allocator.h>
#include <box2d/b2_time_of_impact.h>
#include <box2d/b2_time_step.h>
#include <box2d/b2_timer.h>

#include <dlfcn.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <new>
#include <span>

#include "base/error.h"
#include "base/lanes.h"
#include "sim/solver_bodies.h"

// Replaces Box2D's timer by one that does nothing. The original reads the clock some twenty times a step for
// a profile that is not used: half of the time of a step of one body.
b2Timer::b2Timer() = default;

void b2Timer::Reset() {}

float b2Timer::GetMilliseconds() const {
  return 0;
}

// Replaces Box2D's allocator of the memory of a step by one that keeps no figures of use. The original takes
// 4 % of a step of two bodies in contact.
b2StackAllocator::b2StackAllocator() : m_index(0), m_allocation(0), m_maxAllocation(0), m_entryCount(0) {}

// NOLINTNEXTLINE(modernize-use-equals-default): a header of Box2D declares it
b2StackAllocator::~b2StackAllocator() {}

void* b2StackAllocator::Allocate(int32 size) {
  b2StackEntry& entry = m_entries[m_entryCount++];  // Box2D nests far fewer than there are
  entry.size = size;
  entry.usedMalloc = size > b2_stackSize - m_index;
  if (entry.usedMalloc) return entry.data = static_cast<char*>(b2Alloc(size));
  entry.data = m_data + m_index;
  m_index += size;
  return entry.data;
}

void b2StackAllocator::Free(void* latest) {
  const b2StackEntry& entry = m_entries[--m_entryCount];
  if (entry.usedMalloc)
    b2Free(latest);
  else
    m_index -= entry.size;
}

int32 b2StackAllocator::GetMaxAllocation() const {
  return m_maxAllocation;
}

#ifdef MVSIM_SHARED_BOX2D
// Friction of a block on the ground, which has no torque of its own. The original solves for that torque
// first, and everything else waits for it: a fifth of a step in which a robot pushes a block.
void b2FrictionJoint::SolveVelocityConstraints(const b2SolverData& data) {
  b2Velocity &a = data.velocities[m_indexA], &b = data.velocities[m_indexB];
  const float dt = data.step.dt;
  // torque
  const float max_turn = dt * m_maxTorque, before = m_angularImpulse;
  m_angularImpulse = b2Clamp(before - m_angularMass * (b.w - a.w), -max_turn, max_turn);
  float turning_a = a.w, turning_b = b.w;
  const auto is_minus_zero = [](float value) { return std::bit_cast<uint32_t>(value) == 1u << 31; };
  if (max_turn != 0 || is_minus_zero(a.w) || is_minus_zero(b.w)) {  // without torque only these change
    turning_a -= m_invIA * (m_angularImpulse - before);
    turning_b += m_invIB * (m_angularImpulse - before);
  }
  // force
  const b2Vec2 sliding = b.v + b2Cross(turning_b, m_rB) - a.v - b2Cross(turning_a, m_rA);
  const b2Vec2 earlier = m_linearImpulse;
  m_linearImpulse += -b2Mul(m_linearMass, sliding);
  const float max = dt * m_maxForce;
  if (m_linearImpulse.LengthSquared() > max * max) {
    m_linearImpulse.Normalize();
    m_linearImpulse *= max;
  }
  const b2Vec2 impulse = m_linearImpulse - earlier;
  a.v -= m_invMassA * impulse;
  a.w = turning_a - m_invIA * b2Cross(m_rA, impulse);
  b.v += m_invMassB * impulse;
  b.w = turning_b + m_invIB * b2Cross(m_rB, impulse);
}
#endif

namespace mvsim {
namespace {

using Four = FourLanes;

Four smaller(Four a, Four b) {
  return b < a ? b : a;
}

Four larger(Four a, Four b) {
  return b > a ? b : a;
}

struct Points {
  Four x, y;
};

Points four_of(const b2Vec2* points) {
  const Four two = load_lanes<Four>(points), other_two = load_lanes<Four>(points + 2);
  return {__builtin_shufflevector(two, other_two, 0, 2, 4, 6),
          __builtin_shufflevector(two, other_two, 1, 3, 5, 7)};
}

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
    const Points n = four_of(first.m_normals + begin), v = four_of(first.m_vertices + begin);  // of 8
    const Four normal_x = c * n.x - s * n.y, normal_y = s * n.x + c * n.y;
    const Four side_x = (c * v.x - s * v.y) + T_second_first.p.x;
    const Four side_y = (s * v.x + c * v.y) + T_second_first.p.y;
    Four least = Four{} + b2_maxFloat;
    for (int k = 0; k < second.m_count; ++k) {
      const b2Vec2 corner = second.m_vertices[k];
      const Four distance = normal_x * (corner.x - side_x) + normal_y * (corner.y - side_y);
      least = smaller(least, distance);
    }
    const Four used =
        Four{0, 1, 2, 3} < static_cast<float>(first.m_count - begin) ? least : -b2_maxFloat + Four{};
    const Four two = larger(used, __builtin_shufflevector(used, used, 2, 3, 0, 1));
    const float largest = larger(two, __builtin_shufflevector(two, two, 1, 0, 3, 2))[0];
    if (largest > out.distance) {
      int i = 0;
      while (used[i] != largest) ++i;  // the first of equals
      out = {begin + i, used[i]};
    }
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

b2Shape* SolverShape::Clone(b2BlockAllocator* allocator) const {
  // b2Fixture frees a polygon of Box2D's own size.
  static_assert(sizeof(SolverShape) == sizeof(b2PolygonShape));
  return new (allocator->Allocate(sizeof(SolverShape))) SolverShape(*this);
}

void SolverShape::ComputeAABB(b2AABB* bounds, const b2Transform& pose, int32) const {
  const auto at = std::bit_cast<Four>(pose);  // x, y, sine, cosine
  const Four there = __builtin_shufflevector(at, at, 0, 1, 0, 1);
  const Four of_x = __builtin_shufflevector(at, at, 3, 2, 3, 2);   // c, s
  const Four of_y = __builtin_shufflevector(at, -at, 6, 3, 6, 3);  // -s, c
  const auto placed = [&](int first) {
    const Four two = load_lanes<Four>(m_vertices + first);
    const Four x = __builtin_shufflevector(two, two, 0, 0, 2, 2);
    const Four y = __builtin_shufflevector(two, two, 1, 1, 3, 3);
    return (of_x * x + of_y * y) + there;
  };
  const int last = m_count - 2;  // an odd number of vertices: one of the last two is counted twice
  Four low = placed(last), high = low;
  for (int i = 0; i < last; i += 2) {
    const Four now = placed(i);
    low = smaller(low, now);
    high = larger(high, now);
  }
  low = smaller(low, __builtin_shufflevector(low, low, 2, 3, 0, 1));
  high = larger(high, __builtin_shufflevector(high, high, 2, 3, 0, 1));
  const Four skin{-m_radius, -m_radius, m_radius, m_radius};
  *bounds = std::bit_cast<b2AABB>(__builtin_shufflevector(low, high, 0, 1, 4, 5) + skin);
}

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

#ifdef MVSIM_SHARED_BOX2D
namespace mvsim {
namespace {

using ImpactSearch = void (*)(b2TOIOutput*, const b2TOIInput*);

// That of the library.
ImpactSearch original_impact_search() {
  static const auto kOriginal =
      reinterpret_cast<ImpactSearch>(dlsym(RTLD_NEXT, "_Z14b2TimeOfImpactP11b2TOIOutputPK10b2TOIInput"));
  return kOriginal;
}

// A polygon where its sweep begins.
struct SweptPolygon {
  SweptPolygon(const b2DistanceProxy& proxy, const b2Sweep& sweep)
      : vertices(proxy.m_vertices, static_cast<size_t>(proxy.m_count)) {
    sweep.GetTransform(&pose, 0);
    const float turn = b2Abs(sweep.a - sweep.a0);
    if (turn == 0) return;
    float reach = 0;
    for (const b2Vec2 v : vertices) reach = b2Max(reach, b2DistanceSquared(v, sweep.localCenter));
    turning = turn * std::sqrt(reach);
  }

  std::span<const b2Vec2> vertices;
  b2Transform pose;
  float turning = 0;  // m, longest way of a vertex by the turn
};

// Whether the second polygon is farther than `gap` beyond a side of the first. Four sides at a time.
bool is_beyond_side(const SweptPolygon& first, const SweptPolygon& second, float gap) {
  const b2Transform T_second_first = b2MulT(second.pose, first.pose);
  const float c = T_second_first.q.c, s = T_second_first.q.s;
  const size_t count = first.vertices.size();
  for (size_t begin = 0; begin < count; begin += 4) {
    FourLanes x{}, y{}, next_x{}, next_y{};
    for (size_t k = 0; k < 4; ++k) {
      const size_t i = begin + k < count ? begin + k : begin;
      const b2Vec2 v = first.vertices[i], next = first.vertices[i + 1 < count ? i + 1 : 0];
      x[k] = v.x, y[k] = v.y, next_x[k] = next.x, next_y[k] = next.y;
    }
    // outward normals, as long as the sides
    const FourLanes out_x = next_y - y, out_y = x - next_x;
    const FourLanes nx = c * out_x - s * out_y, ny = s * out_x + c * out_y;
    const FourLanes at =
        nx * ((c * x - s * y) + T_second_first.p.x) + ny * ((s * x + c * y) + T_second_first.p.y);
    FourLanes least = FourLanes{} + b2_maxFloat;
    for (const b2Vec2 corner : second.vertices) least = smaller(least, nx * corner.x + ny * corner.y);
    const FourLanes apart = least - at, needed = (gap * gap) * (nx * nx + ny * ny);
    for (int k = 0; k < 4; ++k)
      if (apart[k] > 0 && apart[k] * apart[k] > needed[k]) return true;
  }
  return false;
}

// Returns whether the polygons stay apart in the step, as seen along one of their sides.
bool cannot_meet(const b2TOIInput& in) {
  const SweptPolygon a(in.proxyA, in.sweepA), b(in.proxyB, in.sweepB);
  const b2Vec2 way = (in.sweepB.c - in.sweepB.c0) - (in.sweepA.c - in.sweepA.c0);
  // Box2D ends its search at the skins and a part of its slop; the rest of twice the slop is for rounding
  const float gap =
      way.Length() + a.turning + b.turning + in.proxyA.m_radius + in.proxyB.m_radius + 2 * b2_linearSlop;
  return is_beyond_side(a, b, gap) || is_beyond_side(b, a, gap);
}

}  // namespace
}  // namespace mvsim

// Most pairs that Box2D looks at in a step with contacts are too far apart to meet in it. The search of the
// library takes 2,200 instructions for each.
void b2TimeOfImpact(b2TOIOutput* output, const b2TOIInput* input) {
  if (mvsim::cannot_meet(*input))
    *output = {b2TOIOutput::e_separated, input->tMax};
  else
    mvsim::original_impact_search()(output, input);
}
#endif

namespace mvsim {

void use_own_box2d_functions() {
#ifdef MVSIM_SHARED_BOX2D
  if (!original_impact_search()) throw Error("the library of Box2D has no b2TimeOfImpact()");
#endif
}

}  // namespace mvsim
