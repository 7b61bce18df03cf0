// The order in which Box2D solves contacts: that of the Model's bodies and their fixtures. Box2D alone would
// use the order of its tree of boxes, which depends on everything that was ever inserted.
#pragma once

#include <box2d/box2d.h>

#include <cstdint>
#include <vector>

namespace mvsim {

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

}  // namespace mvsim
