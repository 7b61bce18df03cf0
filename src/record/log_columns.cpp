#include "record/log_columns.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "sim/simulation.h"

namespace mvsim {
namespace {

const char* const kPoseColumns[] = {"Timestamp", "q0x", "q1y", "q2z",   "q3yaw", "q4pitch", "q5roll",
                                    "dqx",       "dqy", "dqw", "odo_x", "odo_y", "odo_yaw"};
const char* const kWheelColumns[] = {"Timestamp",  "torque",     "force_z",     "velocity_x", "velocity_y",
                                     "friction_x", "friction_y", "wheel_pos_x", "wheel_pos_y"};

}  // namespace

LogColumns log_columns(const VehicleModel& vehicle) {
  LogColumns out{{std::begin(kPoseColumns), std::end(kPoseColumns)}};
  for (size_t k = 0; k < vehicle.wheels.size(); ++k) {
    std::vector<std::string> names(std::begin(kWheelColumns), std::end(kWheelColumns));
    for (const std::string_view name : vehicle.tire->log_names()) names.emplace_back(name);
    if (k == 0)
      for (const std::string_view name : vehicle.controller->log_names()) names.emplace_back(name);
    out.push_back(std::move(names));
  }
  return out;
}

void pose_values(const Simulation& simulation, size_t vehicle, double start, std::vector<double>& values) {
  const Pose3 p = vehicle_pose(simulation, vehicle);
  const Twist2 twist = vehicle_twist(simulation, vehicle);
  const Pose2& odometry = simulation.state().vehicles[vehicle].odometry;
  values = {start,    p.x,      p.y,         p.z,        p.yaw,      p.pitch,     p.roll,
            twist.vx, twist.vy, twist.omega, odometry.x, odometry.y, odometry.yaw};
}

// Appends the tire's input at the start of the step and its output.
void wheel_values(const Simulation& simulation, size_t vehicle, size_t wheel, const StepDetails& details,
                  double start, std::vector<double>& values) {
  const VehicleModel& v = simulation.model().vehicles[vehicle];
  const WheelState& state = wheel_states(simulation, vehicle)[wheel];
  const TireStep& tire = details.tires[v.first_wheel + wheel];
  const Vec2 velocity = Rotation2(state.steer).rotate(tire.in.velocity);
  const Vec2 at = v.wheels[wheel].position;
  values = {start,         state.torque,  state.load, velocity.x, velocity.y,
            state.force_x, state.force_y, at.x,       at.y};
  const size_t shared = values.size();
  values.resize(shared + v.tire->log_names().size());
  v.tire->log_values(simulation.state().params.data() + v.tire_params, tire.in, tire.out,
                     values.data() + shared);
  if (wheel == 0)
    values.insert(values.end(), details.controllers[vehicle].begin(), details.controllers[vehicle].end());
}

StepLog::StepLog(Simulation& simulation) : simulation_(simulation) {
  rows_.resize(simulation.model().vehicles.size());
  simulation_.add_observer(*this);
}

StepLog::~StepLog() {
  simulation_.remove_observer(*this);
}

LogColumns StepLog::columns(size_t vehicle) const {
  return log_columns(simulation_.model().vehicles.at(vehicle));
}

void StepLog::after_step(const Simulation& simulation, const StepDetails& details, double start) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].resize(1 + simulation.model().vehicles[i].wheels.size());
    pose_values(simulation, i, start, rows_[i][0]);
    for (size_t k = 1; k < rows_[i].size(); ++k)
      wheel_values(simulation, i, k - 1, details, start, rows_[i][k]);
  }
}

}  // namespace mvsim
