// Separates bodies of several fixtures that are deep inside each other.
#pragma once

#include <box2d/box2d.h>

#include <cstdint>
#include <vector>

namespace mvsim {

// Their contacts may push in opposite directions, a wheel to one side and the chassis to the other, so that
// the bodies never separate. All contacts that are deeper than those at rest therefore push in one direction,
// the shortest way out of the whole bodies. They give no velocity. Fast bodies are skipped, because their
// shortest way out of a thin wall may be its far side.
class OverlapListener final : public b2ContactListener {
 public:
  void PreSolve(b2Contact* contact, const b2Manifold* before) override;

  // At the start of the step, for each body that is not static, by its user data.
  std::vector<uint8_t> is_slow;
};

// Returns whether the two sides of the contact overlap by more than Box2D leaves at rest.
bool is_deep(const b2Contact& contact);

}  // namespace mvsim
