// Controller `twist_pid`: one PID per side on the wheel speed that odometry reports (physics 4.13).
#include "vehicle/controllers.h"
#include "vehicle/speed_pid.h"

namespace mvsim {
namespace {

constexpr auto kParams = speed_pid_params(10, 100, "W");
constexpr CommandInfo kCommand[] = {{"vx", "m/s"}, {"omega", "rad/s"}};

class DifferentialTwistPid final : public Controller {
 public:
  std::string_view name() const override { return "twist_pid"; }
  std::span<const ParamInfo> params() const override { return kParams; }
  std::span<const CommandInfo> command() const override { return kCommand; }
  bool accepts_twist() const override { return true; }
  size_t state_size() const override { return 2 * kSpeedPidState; }
  void initial_command(const double* p, double* command) const override {
    command[0] = p[kFirstCommand];
    command[1] = p[kSecondCommand];
  }

  void step(const double* p, const ControllerInput& in, const double* command, double* state,
            double* actuation) const override {
    const double track = in.wheels[0].position.y - in.wheels[1].position.y;
    double setpoint[2], actual[2];
    for (int i = 0; i < 2; ++i) {
      const double lever = (i == 0 ? -0.5 : 0.5) * track;
      setpoint[i] = command[0] + lever * command[1];
      actual[i] = in.odometry.vx + lever * in.odometry.omega;
    }
    speed_pid(p,
              {.dt = in.dt,
               .setpoint = setpoint,
               .actual = actual,
               .climbing_torque = in.climbing_force * mean_radius(in.wheels) / 2},
              state, actuation);
  }
};

}  // namespace

const Controller& differential_twist_pid() {
  static const DifferentialTwistPid kController;
  return kController;
}

}  // namespace mvsim
