// Pairs of bodies in Box2D: the order of contacts, distances, overlaps.
#pragma once

#include <box2d/box2d.h>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/impact_rounds.h"

namespace mvsim {

struct MovingBody;

// The order in which Box2D solves contacts: that of the Model's bodies and their fixtures. Box2D alone would
// use the order of its tree of boxes, which depends on everything that was ever inserted.

// Writes each fixture's rank in the order of pairs into its user data. Fixtures of bodies come first.
void rank_fixtures(size_t index, b2Body& body);
uintptr_t rank_of_square(size_t group, uint32_t x, uint32_t y);  // of squares, row by row
struct SquareIndex {
  int32_t x = 0, y = 0;
};
SquareIndex square_of(uintptr_t rank);

class SolverPairs {
 public:
  explicit SolverPairs(b2World& world);

  // Call before a step of Box2D. Finds the pairs of fixtures that were moved from outside since the last
  // step.
  void find();
  // Call after a step. Sorts the `count` contacts that it has added into the order.
  void arrange_latest(int count);

  // Callback of b2BroadPhase.
  void AddPair(void* proxy_a, void* proxy_b);  // NOLINT(readability-identifier-naming)

 private:
  struct Pair {
    b2Fixture *first, *second;  // in their order
  };
  void add(b2Fixture* a, b2Fixture* b);
  void make_contacts();

  b2ContactManager& manager_;
  std::vector<Pair> pairs_;
};

// How near the two sides of a contact of Box2D are to each other, which it does not say before they touch.

// They touch, or are closer than `threshold`, m.
bool is_near(b2Contact& contact, double threshold);

inline constexpr uintptr_t kStaticBlock = 2;   // user data of a static body of a block that is no wall
inline constexpr uintptr_t kStaticPerson = 3;  // of a person; nothing pushes people

// Returns the kinds of things (Contact) that touch the body or are closer than `threshold`, m. `moving`: all
// bodies that are not static.
uint8_t kinds_near(const b2Body& body, std::span<const MovingBody> moving, double threshold);

// Returns true only if they are farther apart than `distance`, m. The test is quick and may miss such pairs.
bool are_apart(const b2Contact& contact, double distance);

// Separates bodies of several fixtures that are deep inside each other.

// Their contacts may push in opposite directions, a wheel to one side and the chassis to the other, so that
// the bodies never separate. All contacts that are deeper than those at rest therefore push in one direction,
// the shortest way out of the whole bodies. They give no velocity. Fast bodies are skipped, because their
// shortest way out of a thin wall may be its far side.
class OverlapListener final : public b2ContactListener {
 public:
  void PreSolve(b2Contact* contact, const b2Manifold* before) override;
  void PostSolve(b2Contact*, const b2ContactImpulse*) override { rounds.after_solving(); }

  // At the start of the step, for each body that is not static, by its user data.
  std::vector<uint8_t> is_slow;
  ImpactRounds rounds;
};

// Returns the separation of a contact at its deepest point, m: below 0 where the two polygons overlap. These
// are the bits of b2WorldManifold, which also computes points.
float deepest_separation(const b2Contact& contact);

// Returns whether the two sides of the contact overlap by more than Box2D leaves at rest.
bool is_deep(const b2Contact& contact);

}  // namespace mvsim
