// The policy `python`: the velocity that the caller sets between two control periods.
#include "task/move/body_policy.h"

namespace mvsim {
namespace {

class Callers final : public BodyPolicy {
 public:
  Vec2 velocity(const BodyView&, MoverState& mover, RandomStream&) const override { return mover.asked; }
  bool is_callers() const override { return true; }
};

}  // namespace

std::unique_ptr<const BodyPolicy> make_callers(TermReader&) {
  return std::make_unique<Callers>();
}

}  // namespace mvsim
