// The policy that drives straight to the goal and avoids nothing.
#include "task/move/body_policy.h"

namespace mvsim {
namespace {

class GoToGoal final : public BodyPolicy {
 public:
  Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream&) const override {
    return velocity_to(mover.goal, view, mover);
  }
};

}  // namespace

std::unique_ptr<const BodyPolicy> make_go_to_goal(TermReader&) {
  return std::make_unique<GoToGoal>();
}

}  // namespace mvsim
