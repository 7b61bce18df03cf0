#include <algorithm>
#include <tuple>
#include <vector>

#include "task/make_term.h"
#include "task/move/movers.h"

namespace mvsim {
namespace {

constexpr size_t kValues = 6;  // for each neighbour

constexpr size_t kMostOthers = kMaxAgents + kMaxPeople;

}  // namespace

// The nearest other agents and people, nearest first. Each has x, y, vx, vy in the robot's frame, its radius,
// and 1. Unused entries are zero.
class NeighboursObservation final : public ObservationOf<float> {
 public:
  NeighboursObservation(TermReader& reader, TaskContext& context)
      : vehicles_(context.agents.begin(), context.agents.end()),
        vehicle_(context.vehicle),
        count_(static_cast<size_t>(reader.integer("count", 4, 1, static_cast<int>(kMostOthers)))),
        max_distance_(reader.number("max_distance", 10, kPositive)),
        max_speed_(context.vx_max > 0 ? reader.number("max_speed", 1.5 * context.vx_max, kPositive)
                                      : reader.required_number("max_speed", kPositive)) {
    for (const size_t v : vehicles_) max_radius_ = std::max(max_radius_, context.model.vehicles[v].radius);
    people_ = people_in(context.model);
    for (const Person& person : people_) max_radius_ = std::max(max_radius_, person.radius);
  }

  std::vector<Interval> bounds() const override {
    const Interval place{-max_distance_, max_distance_}, speed{-max_speed_, max_speed_};
    std::vector<Interval> out;
    for (size_t i = 0; i < count_; ++i)
      out.insert(out.end(), {place, place, speed, speed, {0, max_radius_}, {0, 1}});
    return out;
  }

  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    std::vector<Other> others = others_within_reach(env, agent);
    const size_t found = std::min(count_, others.size());
    std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(found), others.end());
    std::fill_n(out, count_ * kValues, 0.0f);
    for (size_t i = 0; i < found; ++i, out += kValues) {
      const Other& other = others[i];
      const Vec2 to = agent.now.heading.unrotate(other.to);
      const Twist2 world = other.is_person ? block_world_twist(env.simulation, people_[other.index].block)
                                           : vehicle_world_twist(env.simulation, other.index);
      const Vec2 velocity = agent.now.heading.unrotate({world.vx, world.vy});
      const double radius =
          other.is_person ? people_[other.index].radius : env.simulation.model().vehicles[other.index].radius;
      const double values[kValues] = {to.x, to.y, velocity.x, velocity.y, radius, 1};
      std::transform(values, values + kValues, out, [](double v) { return static_cast<float>(v); });
    }
  }

 private:
  struct Other {
    double distance = 0;
    bool is_person = false;
    size_t index = 0;  // of the vehicle, or in people_
    Vec2 to;           // world frame
    bool operator<(const Other& b) const {
      return std::tie(distance, is_person, index) < std::tie(b.distance, b.is_person, b.index);
    }
  };

  // Returns the others within reach, without robots that were taken out of the world.
  std::vector<Other> others_within_reach(const EnvState& env, const AgentState& agent) const {
    std::vector<Other> others;
    others.reserve(vehicles_.size() + people_.size());
    const Vec2 here{agent.now.pose.x, agent.now.pose.y};
    const auto add = [&](const Pose3& pose, bool is_person, size_t index) {
      const Vec2 to = Vec2{pose.x, pose.y} - here;
      if (const double distance = norm(to); distance <= max_distance_)
        others.push_back({distance, is_person, index, to});
    };
    for (size_t a = 0; a < vehicles_.size(); ++a) {
      const AgentState& other = env.agents[a];
      if (vehicles_[a] == vehicle_ || (other.waits && other.then == Then::kLeave)) continue;
      add(vehicle_pose(env.simulation, vehicles_[a]), false, vehicles_[a]);
    }
    for (size_t i = 0; i < people_.size(); ++i) add(block_pose(env.simulation, people_[i].block), true, i);
    return others;
  }

  std::vector<size_t> vehicles_;
  std::vector<Person> people_;
  size_t vehicle_, count_;
  double max_distance_, max_speed_, max_radius_ = 0;
};
template std::unique_ptr<const Observation> term<NeighboursObservation>(TermReader&, TaskContext&);

}  // namespace mvsim
