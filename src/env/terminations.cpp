// When an episode ends as an outcome of the task: goal, collision, contacts, off_map, stuck, tilt, laps,
// backwards, rows. (The time limit truncates instead.)
#include <array>
#include <cmath>

#include "env/contact_kinds.h"
#include "env/crop_terms.h"
#include "env/race_terms.h"
#include "env/terms.h"

namespace mvsim {
namespace {

// Near the goal, and slow enough if `max_speed` is given.
class Goal final : public Termination {
 public:
  Goal(TermReader& reader, TaskContext& context)
      : radius_(reader.required_number("radius", kPositive)),
        max_speed_(reader.number("max_speed", kNoLimit, kPositive)) {
    if (!context.has_goal) reader.fail("class", "expected a <goal> in <reset>");
    context.has_goal_termination = true;
    context.goal_radius = radius_;
  }
  bool holds(const EnvState&, const AgentState& agent) const override {
    const Twist2& t = agent.now.twist;
    return agent.now.goal_distance < radius_ && t.vx * t.vx + t.vy * t.vy <= max_speed_ * max_speed_;
  }
  Verdict verdict() const override { return Verdict::kSuccess; }

 private:
  static constexpr double kNoLimit = 1e9;

  double radius_, max_speed_;
};

class Collision final : public Termination {
 public:
  Collision(TermReader& reader, TaskContext&) : with_(read_contact_kinds(reader)) {}
  bool holds(const EnvState&, const AgentState& agent) const override {
    return (agent.now.contacts & with_) != 0;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  uint8_t with_;
};

// So many contacts have begun.
class Contacts final : public Termination {
 public:
  Contacts(TermReader& reader, TaskContext& context)
      : max_(reader.integer("max", 5, 1, 1000000)), index_(context.needs.counted_contacts.size()) {
    context.needs.counted_contacts.push_back(read_contact_kinds(reader));
  }
  bool holds(const EnvState&, const AgentState& agent) const override {
    return agent.contact_counts[index_] >= max_;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  int max_;
  size_t index_;  // in AgentState::contact_counts
};

// The reference point is outside of the world's bounds widened by `margin`.
class OffMap final : public Termination {
 public:
  OffMap(TermReader& reader, TaskContext&) : margin_(reader.number("margin", 0)) {}
  bool holds(const EnvState& env, const AgentState& agent) const override {
    const Pose2& p = agent.now.pose;
    const Rect& r = env.simulation.model().bounds;
    return p.x < r.x_min - margin_ || p.x > r.x_max + margin_ || p.y < r.y_min - margin_ ||
           p.y > r.y_max + margin_;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  double margin_;
};

// Not `distance` (m) away from where it was for `within` seconds: immobilised.
class Stuck final : public Termination {
 public:
  Stuck(TermReader& reader, TaskContext& context)
      : within_(reader.number("within", 5, kPositive)), index_(context.needs.stuck_distances.size()) {
    context.needs.stuck_distances.push_back(reader.number("distance", 0.3, kPositive));
  }
  bool holds(const EnvState&, const AgentState& agent) const override {
    return agent.stillness[index_].time >= within_ - 1e-9;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  double within_;
  size_t index_;  // in AgentState::stillness
};

// Pitch or roll beyond `max` (degrees in XML): a real vehicle would tip over.
class Tilt final : public Termination {
 public:
  Tilt(TermReader& reader, TaskContext& context)
      : vehicle_(context.vehicle), max_(kDegree * reader.required_number("max", kPositive)) {}
  bool holds(const EnvState& env, const AgentState&) const override {
    const VehicleState& v = env.simulation.state().vehicles[vehicle_];
    return std::fabs(v.pitch) > max_ || std::fabs(v.roll) > max_;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  size_t vehicle_;
  double max_;
};

template <typename T>
std::unique_ptr<const Termination> make(TermReader& reader, TaskContext& context) {
  return std::make_unique<T>(reader, context);
}

constexpr auto kClasses = std::to_array<TermClass<Termination>>({
    {"goal", make<Goal>},
    {"collision", make<Collision>},
    {"contacts", make<Contacts>},
    {"off_map", make<OffMap>},
    {"stuck", make<Stuck>},
    {"tilt", make<Tilt>},
    {"laps", make_laps},
    {"backwards", make_backwards},
    {"rows", make_rows},
});

}  // namespace

std::span<const TermClass<Termination>> termination_classes() {
  return kClasses;
}

}  // namespace mvsim
