// Takes apart bodies of several fixtures that are deep inside each other.
#pragma once

#include <box2d/box2d.h>

#include <cstdint>
#include <vector>

namespace mvsim {

// The contacts of two such bodies may push in opposite directions, a wheel to one side and the chassis to the
// other, and none of them ever gets free. Contacts that are deeper than any at rest therefore push as one,
// along the shortest way out of the whole bodies. They give no velocity. Fast bodies are skipped: the
// shortest way out of a thin wall may be its far side.
class OverlapListener final : public b2ContactListener {
 public:
  void PreSolve(b2Contact* contact, const b2Manifold* before) override;

  std::vector<uint8_t> is_slow;  // of each body that is not static, by its user data: as the step began
};

// The sides of the contact overlap by more than Box2D leaves of an overlap.
bool is_deep(const b2Contact& contact);

}  // namespace mvsim
