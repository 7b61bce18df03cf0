// Controller `twist_pid`: one PID per side on the wheel speed that odometry reports.
#include "base/registered.h"
#include "vehicle/controller.h"
#include "vehicle/speed_pid.h"

namespace mvsim {
namespace {

constexpr auto kParams = speed_pid_params(10, 100, "W");

constexpr std::string_view kLog[] = {
    "pid_act_vel_l", "pid_act_vel_r", "pid_error_l",  "pid_error_r",  "pid_feedforward",
    "pid_sp_vel_l",  "pid_sp_vel_r",  "pid_torque_l", "pid_torque_r",
};

// Speeds of the left and the right side, m/s.
struct Sides {
  double setpoint[2], actual[2];
};

Sides sides_of(const ControllerInput& in, const double* command) {
  const double track = in.wheels[0].position.y - in.wheels[1].position.y;
  Sides out{};
  for (int i = 0; i < 2; ++i) {
    const double lever = (i == 0 ? -0.5 : 0.5) * track;
    out.setpoint[i] = command[0] + lever * command[1];
    if (in.beliefs) {
      // it sets the spin of a wheel whose radius it believes to be another
      const double believed = command[0] + in.beliefs[kBelievedTrack] * lever * command[1];
      out.setpoint[i] = believed / in.beliefs[i == 0 ? kBelievedLeftRadius : kBelievedRightRadius];
    }
    out.actual[i] = in.odometry.vx + lever * in.odometry.omega;
  }
  return out;
}

// Returns the torque (N m) that each side needs against the slope.
double torque_against_slope(const ControllerInput& in) {
  return in.climbing_force * mean_radius(in.wheels) / 2;
}

}  // namespace

class DifferentialTwistPid final : public Controller {
 public:
  std::string_view name() const override { return "twist_pid"; }
  std::span<const ParamInfo> params() const override { return kParams; }
  std::span<const CommandInfo> command() const override { return kTwistCommand; }
  bool accepts_twist() const override { return true; }
  size_t state_size() const override { return 2 * kSpeedPidState; }
  void initial_command(const double* p, double* command) const override {
    command[0] = p[kFirstCommand];
    command[1] = p[kSecondCommand];
  }

  void step(const double* p, const ControllerInput& in, const double* command, double* state,
            double* actuation) const override {
    const Sides sides = sides_of(in, command);
    speed_pid(p,
              {.dt = in.dt,
               .setpoint = sides.setpoint,
               .actual = sides.actual,
               .torque_against_slope = torque_against_slope(in)},
              state, actuation);
  }

  std::span<const std::string_view> log_names() const override { return kLog; }
  void log_values(const double* p, const ControllerInput& in, const double* command, const double* state,
                  const double* actuation, double* values) const override {
    const Sides sides = sides_of(in, command);
    for (int i = 0; i < 2; ++i) {
      const double setpoint = filtered_setpoint(p, state + i * kSpeedPidState, sides.setpoint[i]);
      values[i] = sides.actual[i];
      values[2 + i] = setpoint - sides.actual[i];
      values[5 + i] = setpoint;
      values[7 + i] = -actuation[i];  // MVSim's sign
    }
    values[4] = slope_feedforward(p, torque_against_slope(in));
  }
};

template const Controller& registered<Controller, DifferentialTwistPid>();

}  // namespace mvsim
