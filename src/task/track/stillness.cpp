// Detects robots that do not move away: a tracker for each term `stuck`, and the termination that uses it.
#include "task/make_term.h"
#include "task/track/tracker.h"

namespace mvsim {
namespace {

struct Stillness {
  Vec2 anchor;      // position when the agent last moved `distance` away from the former anchor
  double time = 0;  // s since that time
};

class StillnessTracker final : public TrackerOf<Stillness> {
 public:
  explicit StillnessTracker(double distance) : distance_(distance) {}
  void start(const TrackerView& view) const override {
    state(view.agent) = {view.agent.start, -view.period};
    measure(view);
  }
  void measure(const TrackerView& view) const override {
    Stillness& still = state(view.agent);
    still.time += view.period;
    if (norm(view.position() - still.anchor) > distance_) still = {view.position(), 0};
  }
  void hash(ArchiveHasher&) const override {}

 private:
  double distance_;  // m
};

}  // namespace

// Ends when the agent moved less than `distance` (m) for `within` seconds.
template <>
std::unique_ptr<const Termination> term<class StuckTermination>(TermReader& reader, TaskContext& context) {
  const double within = reader.number("within", 5, kPositive);
  const auto& still = context.needs.track<StillnessTracker>(reader.number("distance", 0.3, kPositive));
  return failure([&still, within](const EnvState&, const AgentState& agent) {
    return still.state(agent).time >= within - 1e-9;
  });
}

}  // namespace mvsim
