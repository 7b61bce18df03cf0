// People near an agent: the tracker, its infos and its reward (discomfort).
#include <algorithm>

#include "raycast/polygon_cast.h"
#include "sim/measure.h"
#include "task/make_term.h"
#include "task/move/movers.h"
#include "task/terms.h"
#include "task/track/tracker.h"

namespace mvsim {

// Distances between the agent's chassis and the discs of people, m. All doubles.
struct PeopleNear {
  double now = 0, least = 0;
  double close = 0;  // number of periods in which the agent was in a personal space
};

class PeopleTracker final : public TrackerOf<PeopleNear> {
 public:
  void start(const TrackerView& view) const override;
  void measure(const TrackerView& view) const override;
  void hash(ArchiveHasher& hasher) const override;
  std::vector<std::string> infos() const override { return {"person_distance", "personal_space"}; }
  size_t write_infos(const EnvState& env, const AgentState& agent, double* out) const override;
};

template <>
std::unique_ptr<Tracker> tracker<PeopleTracker>(const TrackerContext& context) {
  if (!may_have_people(context.spec, *context.models.front())) return nullptr;
  return std::make_unique<PeopleTracker>();
}

void PeopleTracker::start(const TrackerView& view) const {
  PeopleNear& near = state(view.agent);
  near.least = kFarFromPeople;
  measure(view);
  near.close = 0;  // the start belongs to no period
}

void PeopleTracker::measure(const TrackerView& view) const {
  const SimScene sim = view.env.simulation;
  PeopleNear& near = state(view.agent);
  const Polygon outline = vehicle_outline(sim, view.vehicle);
  near.now = kFarFromPeople;
  for (const ActorModel& actor : sim.model.actors) {
    if (actor.block < 0) continue;
    const Pose3 pose = block_pose(sim, static_cast<size_t>(actor.block));
    near.now =
        std::min(near.now, std::max(0.0, polygon_point_distance(outline, {pose.x, pose.y}) - actor.radius));
  }
  near.least = std::min(near.least, near.now);
  if (near.now < kPersonalSpace) ++near.close;
}

void PeopleTracker::hash(ArchiveHasher& hasher) const {
  hasher(true);
}

// Writes the nearest distance, and the share of the periods without a person in the personal space.
size_t PeopleTracker::write_infos(const EnvState& env, const AgentState& agent, double* out) const {
  out[0] = state(agent).least;
  const auto periods = static_cast<double>(std::max<int64_t>(env.steps, 1));
  out[1] = 1 - std::max(0.0, state(agent).close) / periods;
  return 2;
}

// How much nearer than `limit` the nearest person is (m), times the control period (s).
template <>
std::unique_ptr<const Reward> term<class DiscomfortReward>(TermReader& reader, TaskContext& context) {
  const auto* const people = find_tracker<PeopleTracker>(context.trackers);
  const double limit = reader.number("limit", 0.4, {0, kFarFromPeople});
  if (!people) reader.fail("class", "the world has no people, expected a <people> or an <actor> with solid");
  return reward([people, limit, period = context.control_period](const EnvState&, const AgentState& agent) {
    return std::max(0.0, limit - people->state(agent).now) * period;
  });
}

}  // namespace mvsim
