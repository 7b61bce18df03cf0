#include <algorithm>
#include <array>

#include "env/observe_terms.h"

namespace mvsim {
namespace {

constexpr size_t kValues = 6;  // of a neighbour

// The nearest other agents, nearest first: of each x, y, vx, vy in the robot's frame, its radius, and 1.
// Zeros where there are fewer.
class Neighbours final : public ObservationOf<float> {
 public:
  Neighbours(TermReader& reader, TaskContext& context)
      : vehicles_(context.agents.begin(), context.agents.end()),
        vehicle_(context.vehicle),
        count_(static_cast<size_t>(reader.integer("count", 4, 1, static_cast<int>(kMaxAgents)))),
        max_distance_(reader.number("max_distance", 10, kPositive)),
        max_speed_(context.vx_max > 0 ? reader.number("max_speed", 1.5 * context.vx_max, kPositive)
                                      : reader.required_number("max_speed", kPositive)) {
    for (const size_t v : vehicles_) max_radius_ = std::max(max_radius_, context.model.vehicles[v].radius);
  }

  std::vector<Interval> bounds() const override {
    const Interval place{-max_distance_, max_distance_}, speed{-max_speed_, max_speed_};
    std::vector<Interval> out;
    for (size_t i = 0; i < count_; ++i)
      out.insert(out.end(), {place, place, speed, speed, {0, max_radius_}, {0, 1}});
    return out;
  }

  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    std::array<Other, kMaxAgents> others;
    const auto end = find_others(env, agent, others);
    const auto found = std::min(count_, static_cast<size_t>(end - others.begin()));
    std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(found), end);
    std::fill_n(out, count_ * kValues, 0.0f);
    for (size_t i = 0; i < found; ++i, out += kValues) {
      const size_t vehicle = others[i].vehicle;
      const Vec2 to = agent.now.heading.unrotate(others[i].to);
      const Twist2 world = vehicle_world_twist(env.simulation, vehicle);
      const Vec2 velocity = agent.now.heading.unrotate({world.vx, world.vy});
      const double values[kValues] = {
          to.x, to.y, velocity.x, velocity.y, env.simulation.model().vehicles[vehicle].radius, 1};
      std::transform(values, values + kValues, out, [](double v) { return static_cast<float>(v); });
    }
  }

 private:
  struct Other {
    double distance = 0;
    size_t vehicle = 0;
    Vec2 to;  // world frame
    bool operator<(const Other& b) const {
      return distance != b.distance ? distance < b.distance : vehicle < b.vehicle;
    }
  };

  // Those within reach; a robot that was taken out of the world is nobody's neighbour.
  std::array<Other, kMaxAgents>::iterator find_others(const EnvState& env, const AgentState& agent,
                                                      std::array<Other, kMaxAgents>& others) const {
    auto end = others.begin();
    const Vec2 here{agent.now.pose.x, agent.now.pose.y};
    for (size_t a = 0; a < vehicles_.size(); ++a) {
      const AgentState& other = env.agents[a];
      if (vehicles_[a] == vehicle_ || (other.waits && other.then == Then::kLeave)) continue;
      const Pose3 pose = vehicle_pose(env.simulation, vehicles_[a]);
      const Vec2 to = Vec2{pose.x, pose.y} - here;
      if (const double distance = norm(to); distance <= max_distance_) *end++ = {distance, vehicles_[a], to};
    }
    return end;
  }

  std::vector<size_t> vehicles_;
  size_t vehicle_, count_;
  double max_distance_, max_speed_, max_radius_ = 0;
};

}  // namespace

std::unique_ptr<const Observation> make_neighbours_observation(TermReader& reader, TaskContext& context) {
  return std::make_unique<Neighbours>(reader, context);
}

}  // namespace mvsim
