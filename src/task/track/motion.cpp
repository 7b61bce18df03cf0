// The tracker of how smoothly an agent moves among people: its jerk (Francis et al. 2023, Principles and
// Guidelines for Evaluating Social Robot Navigation Algorithms).
#include <algorithm>

#include "task/move/movers.h"
#include "task/track/tracker.h"

namespace mvsim {
namespace {

// Differences between the ends of control periods, world axes. All doubles.
struct Motion {
  Vec2 velocity, acceleration;   // of the reference point over ground: m/s, m/s2
  double jerk = 0, periods = 0;  // m/s3, the sum of its magnitudes, and how many they are
};

}  // namespace

class MotionTracker final : public TrackerOf<Motion> {
 public:
  void start(const TrackerView& view) const override {
    state(view.agent) = {};
    state(view.agent).velocity = velocity(view);
  }
  void measure(const TrackerView& view) const override {
    Motion& motion = state(view.agent);
    const Vec2 now = velocity(view), acceleration = 1 / view.period * (now - motion.velocity);
    motion.jerk += norm(acceleration - motion.acceleration) / view.period;
    motion.periods += 1;
    motion.velocity = now;
    motion.acceleration = acceleration;
  }
  void hash(ArchiveHasher& hasher) const override { hasher(true); }
  std::vector<std::string> infos() const override { return {"jerk"}; }
  size_t write_infos(const EnvState&, const AgentState& agent, double* out) const override {
    out[0] = state(agent).jerk / std::max(1.0, state(agent).periods);
    return 1;
  }

 private:
  static Vec2 velocity(const TrackerView& view) {
    const Twist2& twist = view.agent.now.twist;
    return view.agent.now.heading.rotate({twist.vx, twist.vy});
  }
};

template <>
std::unique_ptr<Tracker> tracker<MotionTracker>(const TrackerContext& context) {
  if (!may_have_people(context.spec, *context.models.front())) return nullptr;
  return std::make_unique<MotionTracker>();
}

}  // namespace mvsim
