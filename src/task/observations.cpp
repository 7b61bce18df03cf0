// Observations of the robot and its goal: scan, goal, waypoint, velocity, odometry, attitude, steer,
// last_action.
#include <algorithm>
#include <cmath>

#include "task/make_term.h"
#include "task/observe_view.h"
#include "task/track/localization.h"
#include "vehicle/car.h"

namespace mvsim {

// The ranges of a sensor. Each sector is the minimum of its beams.
class ScanObservation final : public ObservationOf<float> {
 public:
  ScanObservation(TermReader& reader, TaskContext& context) {
    const Model& model = context.model;
    sensor_ = reader.has("sensor") ? find_sensor(reader, context) : first_lidar(reader, context);
    const Sensor& sensor = *model.sensors[sensor_].sensor;
    if (sensor.kind() != SensorKind::kRay)
      reader.fail("sensor",
                  "found a sensor without rays, expected a lidar or an observation of class 'reading'");
    beams_ = static_cast<int>(sensor.reading().size());
    sectors_ = reader.integer("sectors", beams_, 1, 1 << 20);
    if (sectors_ > beams_)
      reader.fail("sectors", "found " + std::to_string(sectors_) + ", expected at most the sensor's " +
                                 std::to_string(beams_) + " beams");
    for (int s = 0; s < sectors_; ++s)
      ends_.push_back(static_cast<int>(static_cast<int64_t>(beams_) * (s + 1) / sectors_));
    max_ = read_max(reader, context, sensor.reading().high);
    scheduled_ = read_timing(reader, context, sensor_);
  }

  static size_t first_lidar(const TermReader& reader, const TaskContext& context) {
    const Model& model = context.model;
    for (size_t i = 0; i < model.sensors.size(); ++i)
      if (model.sensors[i].vehicle == context.vehicle && model.sensors[i].sensor->kind() == SensorKind::kRay)
        return i;
    reader.fail("sensor", "vehicle '" + model.vehicles[context.vehicle].name + "' has no lidar");
  }

  std::vector<Interval> bounds() const override { return std::vector<Interval>(sectors_, Interval{0, max_}); }
  std::optional<size_t> sensor() const override { return sensor_; }

  void write(EnvState& env, AgentState&, Scratch& scratch, float* out) const override {
    if (scheduled_ && env.simulation.state().sensors[sensor_].count == 0) {
      std::fill_n(out, sectors_, static_cast<float>(max_));
    } else if (scheduled_) {
      reduce(env.simulation.reading(sensor_).data(), out);
    } else if (sectors_ == beams_) {
      env.simulation.read_now(sensor_, out, nullptr);
    } else {
      if (scratch.values.size() < static_cast<size_t>(beams_)) scratch.values.resize(beams_);
      env.simulation.read_now(sensor_, scratch.values.data(), nullptr);
      reduce(scratch.values.data(), out);
    }
  }

 private:
  // Reduces beams to sectors. Sector s begins with beam beams * s / sectors and ends before the next sector.
  void reduce(const float* values, float* out) const {
    if (sectors_ == beams_) {
      std::copy_n(values, beams_, out);
      return;
    }
    int begin = 0;
    for (const int end : ends_) {
      float least = values[begin];
      for (int i = begin + 1; i < end; ++i) least = std::min(least, values[i]);
      *out++ = least;
      begin = end;
    }
  }

  size_t sensor_ = 0;
  int beams_ = 0, sectors_ = 0;
  std::vector<int> ends_;  // end of the beams of each sector
  double max_ = 0;
  bool scheduled_ = false;
};

template <>
std::unique_ptr<const Observation> term<ScanObservation>(TermReader& reader, TaskContext& context) {
  if (reader.has("sensor")) {
    const size_t sensor = find_sensor(reader, context);
    if (context.model.sensors[sensor].sensor->kind() == SensorKind::kView)
      return make_view_scan(reader, context, sensor);
  }
  return std::make_unique<ScanObservation>(reader, context);
}

// The goal in the robot's frame: (min(d, max_distance), cos, sin).
template <>
std::unique_ptr<const Observation> term<class GoalObservation>(TermReader& reader, TaskContext& context) {
  const SeenPose seen(context);
  const double max = reader.number("max_distance", 15, kPositive);
  if (!context.has_goal) reader.fail("class", "expected a <goal> in <reset>");
  const std::vector<Interval> bounds{{0, max}, symmetric(1), symmetric(1)};
  return observation(bounds, [seen, max](EnvState&, AgentState& agent, float* out) {
    const SeenPose::At here = seen.of(agent);
    const Vec2 to_goal = agent.goal - here.position, d = here.heading.unrotate(to_goal);
    const double length = norm(to_goal);
    out[0] = static_cast<float>(std::min(length, max));
    out[1] = static_cast<float>(length > 0 ? d.x / length : 1.0);
    out[2] = static_cast<float>(length > 0 ? d.y / length : 0.0);
  });
}

// The point `ahead` metres along the shortest path to the goal: (x, y) in the robot's frame.
template <>
std::unique_ptr<const Observation> term<class WaypointObservation>(TermReader& reader, TaskContext& context) {
  const SeenPose seen(context);
  const double ahead = reader.number("ahead", 2, kPositive);
  if (!context.has_goal) reader.fail("class", "expected a <goal> in <reset>");
  context.needs.path = true;
  const std::vector<Interval> bounds{symmetric(ahead), symmetric(ahead)};
  return observation(bounds, [seen, ahead](EnvState&, AgentState& agent, float* out) {
    const SeenPose::At here = seen.of(agent);
    const Vec2 point = agent.field->point_ahead(here.position, ahead);
    const Vec2 d = here.heading.unrotate(point - here.position);
    out[0] = static_cast<float>(d.x);
    out[1] = static_cast<float>(d.y);
  });
}

// (vx, omega), or (vx, vy, omega) with `lateral`: true values, or those that the wheels report, which is the
// default with <localization>.
template <>
std::unique_ptr<const Observation> term<class VelocityObservation>(TermReader& reader, TaskContext& context) {
  const bool from_wheels = reader.has("source") ? reader.choice("source", {"body", "odometry"}) == 1
                                                : !SeenPose(context).is_true();
  const auto limit = [&](const char* name, double fallback) {
    return fallback > 0 ? reader.number(name, fallback, kPositive) : reader.required_number(name, kPositive);
  };
  // 1.5 times the largest command, so that overshoot is visible
  const double vx = limit("vx_max", 1.5 * context.vx_max);
  const double omega = limit("omega_max", 1.5 * context.omega_max);
  const bool lateral = reader.boolean("lateral", false);
  std::vector<Interval> bounds{symmetric(vx), symmetric(omega)};
  if (lateral) bounds.insert(bounds.begin() + 1, symmetric(reader.number("vy_max", vx, kPositive)));
  const size_t vehicle = context.vehicle;
  return observation(bounds, [=](EnvState& env, AgentState& agent, float* out) {
    const Twist2 twist = from_wheels ? vehicle_odometry_twist(env.simulation, vehicle) : agent.now.twist;
    *out++ = static_cast<float>(twist.vx);
    if (lateral) *out++ = static_cast<float>(twist.vy);
    *out = static_cast<float>(twist.omega);
  });
}

// The wheel odometry since the reset: (x, y, cos yaw, sin yaw).
template <>
std::unique_ptr<const Observation> term<class OdometryObservation>(TermReader& reader, TaskContext& context) {
  const double max = reader.number("max", 100, kPositive);
  const std::vector<Interval> bounds{symmetric(max), symmetric(max), symmetric(1), symmetric(1)};
  return observation(bounds, [vehicle = context.vehicle](EnvState& env, AgentState&, float* out) {
    const Pose2& p = env.simulation.state().vehicles[vehicle].odometry;
    const Rotation2 r(p.yaw);
    out[0] = static_cast<float>(p.x);
    out[1] = static_cast<float>(p.y);
    out[2] = static_cast<float>(r.c);
    out[3] = static_cast<float>(r.s);
  });
}

// The attitude on the terrain: (pitch, roll), rad; positive pitch is nose down.
template <>
std::unique_ptr<const Observation> term<class AttitudeObservation>(TermReader& reader, TaskContext& context) {
  const double max = kDegree * reader.number("max", 90, kPositive);
  const std::vector<Interval> bounds{symmetric(max), symmetric(max)};
  return observation(bounds, [vehicle = context.vehicle](EnvState& env, AgentState&, float* out) {
    const VehicleState& v = env.simulation.state().vehicles[vehicle];
    out[0] = static_cast<float>(v.pitch);
    out[1] = static_cast<float>(v.roll);
  });
}

template <>
std::unique_ptr<const Observation> term<class LastActionObservation>(TermReader&, TaskContext& context) {
  const size_t size = context.action_size;
  const std::vector<Interval> bounds(size, symmetric(1));
  return observation(bounds, [size](EnvState&, AgentState& agent, float* out) {
    for (size_t i = 0; i < size; ++i) out[i] = static_cast<float>(agent.action[i]);
  });
}

// The current angle (rad) of a virtual wheel in the middle of the front axle.
template <>
std::unique_ptr<const Observation> term<class SteerObservation>(TermReader& reader, TaskContext& context) {
  if (context.steer_max == 0) reader.fail("class", "expected an <action> with a steering angle");
  const std::vector<Interval> bounds{symmetric(context.steer_max)};
  return observation(bounds, [vehicle = context.vehicle](EnvState& env, AgentState&, float* out) {
    const auto wheels = wheel_states(env.simulation, vehicle);
    const double left = wheels[kFrontLeft].steer, right = wheels[kFrontRight].steer;
    // the cotangent of the middle angle is the mean of both cotangents
    const SinCos l = sin_cos(left), r = sin_cos(right);
    const double angle = l.sin == 0 || r.sin == 0
                             ? 0
                             : std::copysign(math::atan2(2, std::fabs(l.cos / l.sin + r.cos / r.sin)), left);
    *out = static_cast<float>(angle);
  });
}

}  // namespace mvsim
