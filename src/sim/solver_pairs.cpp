#include "sim/solver_pairs.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

}  // namespace mvsim
