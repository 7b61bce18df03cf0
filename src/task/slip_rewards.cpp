// Rewards of slip: that of the body (sideslip) and that of the wheels (wheel_slip).
#include <algorithm>
#include <cmath>

#include "sim/measure.h"
#include "task/make_term.h"

namespace mvsim {

// |slip angle of the body|, rad, if it is within `angle` and the robot is faster than `min_speed`, else 0.
// The slip angle is that between the velocity of the reference point and the robot's heading.
class SideslipReward final : public Reward {
 public:
  SideslipReward(TermReader& reader, TaskContext&) : min_speed_(reader.number("min_speed", 1, kPositive)) {
    const Interval degrees = reader.interval("angle", {0, 180}).value_or(Interval{0, 90});
    angle_ = {kDegree * degrees.low, kDegree * degrees.high};
  }
  double value(const EnvState&, const AgentState& agent) const override {
    const Twist2& t = agent.now.twist;
    if (t.vx * t.vx + t.vy * t.vy <= min_speed_ * min_speed_) return 0;
    const double angle = std::fabs(math::atan2(t.vy, t.vx));
    return angle > angle_.low && angle < angle_.high ? angle : 0;
  }

 private:
  double min_speed_;
  Interval angle_;
};
template std::unique_ptr<const Reward> term<SideslipReward>(TermReader&, TaskContext&);

// Mean over the wheels of the speed at which the tire slips along its rolling direction, m/s: the
// difference of spin times rolling radius and the speed of the wheel over the ground.
class WheelSlipReward final : public Reward {
 public:
  WheelSlipReward(TermReader&, TaskContext& context) : vehicle_(context.vehicle) {}
  double value(const EnvState& env, const AgentState&) const override {
    const std::span<const WheelState> wheels = wheel_states(env.simulation, vehicle_);
    double sum = 0;
    for (size_t i = 0; i < wheels.size(); ++i) {
      const Vec2 over_ground =
          Rotation2(wheels[i].steer).unrotate(wheel_velocity(env.simulation, vehicle_, i));
      sum += std::fabs(wheels[i].spin * rolling_radius(env.simulation, vehicle_, i) - over_ground.x);
    }
    return sum / static_cast<double>(std::max<size_t>(wheels.size(), 1));
  }

 private:
  size_t vehicle_;
};
template std::unique_ptr<const Reward> term<WheelSlipReward>(TermReader&, TaskContext&);

}  // namespace mvsim
