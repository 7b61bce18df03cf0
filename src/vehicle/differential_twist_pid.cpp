// Controller `twist_pid`: one PID per side on the wheel speed that odometry reports (physics 4.13).
#include <algorithm>
#include <cmath>

#include "vehicle/controllers.h"
#include "vehicle/pid.h"

namespace mvsim {
namespace {

enum {
  kKp,
  kKi,
  kKd,
  kIMax,
  kN,
  kMaxTorque,
  kV,
  kW,
  kAntiWindup,
  kFeedforward,
  kFeedforwardGain,
  kFilter,
  kFilterTau,
  kFilterOrder,
  kZeroThreshold,
  kStopThreshold
};

constexpr double kNoLimit = -1;
constexpr ParamInfo kParams[] = {
    {.name = "KP", .fallback = 10},
    {.name = "KI", .fallback = 0},
    {.name = "KD", .fallback = 0},
    {.name = "I_MAX", .fallback = kNoLimit},            // bound of the integral of the error
    {.name = "N", .fallback = 0, .min = 0},             // 1/s
    {.name = "max_torque", .fallback = 100, .min = 0},  // N m
    {.name = "V", .fallback = 0},                       // m/s before the first command
    {.name = "W", .fallback = 0, .type = ParamType::kDegrees},
    {.name = "enable_antiwindup", .fallback = 0, .type = ParamType::kBool},
    {.name = "enable_feedforward", .fallback = 0, .type = ParamType::kBool},
    {.name = "feedforward_gain", .fallback = 1},
    {.name = "enable_reference_filter", .fallback = 0, .type = ParamType::kBool},
    {.name = "reference_filter_tau", .fallback = 0.1, .min = 0},  // s
    {.name = "reference_filter_order", .fallback = 1, .min = 1, .max = 2, .type = ParamType::kInt},
    {.name = "zero_threshold", .fallback = 0.001, .min = 0},  // m/s
    {.name = "stop_threshold", .fallback = 0.05, .min = 0},   // m/s
};

constexpr CommandInfo kCommand[] = {{"vx", "m/s"}, {"omega", "rad/s"}};

// Memory of one side; the Simulation keeps it as an array of numbers.
struct Side {
  PidState pid;
  ReferenceFilterState filter;
};
constexpr size_t kSideSize = 6;
static_assert(sizeof(Side) == kSideSize * sizeof(double));

Side load(const double* s) {
  return {{s[0], s[1], s[2], s[3]}, {s[4], s[5]}};
}
void store(const Side& side, double* s) {
  s[0] = side.pid.integral;
  s[1] = side.pid.derivative;
  s[2] = side.pid.last_error;
  s[3] = side.pid.has_last;
  s[4] = side.filter.first;
  s[5] = side.filter.second;
}

class DifferentialTwistPid final : public Controller {
 public:
  std::string_view name() const override { return "twist_pid"; }
  std::span<const ParamInfo> params() const override { return kParams; }
  std::span<const CommandInfo> command() const override { return kCommand; }
  bool accepts_twist() const override { return true; }
  size_t state_size() const override { return 2 * kSideSize; }
  void initial_command(const double* p, double* command) const override {
    command[0] = p[kV];
    command[1] = p[kW];
  }

  void step(const double* p, const ControllerInput& in, const double* command, double* state,
            double* actuation) const override {
    const double track = in.wheels[0].position.y - in.wheels[1].position.y;
    const PidGains gains{.kp = p[kKp],
                         .ki = p[kKi],
                         .kd = p[kKd],
                         .derivative_filter = p[kN],
                         .max_output = p[kMaxTorque],
                         .integral_max = p[kIMax],
                         .anti_windup = p[kAntiWindup] != 0};
    Side sides[2] = {load(state), load(state + kSideSize)};
    double setpoint[2], actual[2];
    for (int i = 0; i < 2; ++i) {
      const double lever = (i == 0 ? -0.5 : 0.5) * track;
      setpoint[i] = command[0] + lever * command[1];
      actual[i] = in.odometry.vx + lever * in.odometry.omega;
    }
    if (p[kFilter] != 0)
      for (int i = 0; i < 2; ++i)
        setpoint[i] = reference_filter(sides[i].filter, setpoint[i], p[kFilterTau],
                                       static_cast<int>(p[kFilterOrder]), in.dt);
    const auto both_below = [](const double* v, double most) {
      return std::fabs(v[0]) < most && std::fabs(v[1]) < most;
    };
    const bool wants_stop = both_below(setpoint, p[kZeroThreshold]);
    const bool stopped = wants_stop && both_below(actual, p[kStopThreshold]);
    for (int i = 0; i < 2; ++i) {
      if (stopped) {
        actuation[i] = 0;
        sides[i].pid = {};
        continue;
      }
      // on level ground the slope feedforward (physics 4.13) is zero
      const double torque = -pid_step(gains, sides[i].pid, setpoint[i] - actual[i], in.dt, 0);
      actuation[i] = torque;
      // stopping may brake but never reverse
      if (wants_stop) actuation[i] = actual[i] > 0 ? std::max(0.0, torque) : std::min(0.0, torque);
    }
    store(sides[0], state);
    store(sides[1], state + kSideSize);
  }
};

}  // namespace

const Controller& differential_twist_pid() {
  static const DifferentialTwistPid kController;
  return kController;
}

}  // namespace mvsim
