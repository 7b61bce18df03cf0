// The tracker of people: their distances to an agent. Immutable, any thread.
#pragma once

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

}  // namespace mvsim
