// Friction model `wardiagnemma`: `default` with the terrain drag
// F_rr = -sgn(vx) N (R1 (1 - exp(-A_roll |vx|)) + R2 |vx|). The drag brakes the chassis and does not act on
// the spin (Ward and Iagnemma, A Dynamic-Model-Based Wheel Slip Detector for Mobile Robots on Outdoor
// Terrain, IEEE Transactions on Robotics 24(4), 2008).
#include "base/registered.h"
#include "tire/rolling.h"
#include "tire/tire_model.h"

namespace mvsim {
namespace {

enum { kMu, kCDamping, kCRr, kARoll, kR1, kR2 };

constexpr ParamInfo kParams[] = {
    {.name = "mu", .fallback = 0.8, .min = 0, .max = 1e3},
    {.name = "C_damping", .fallback = 0.01, .min = 0, .max = 1e6, .unit = "N m s/rad"},
    {.name = "C_rr", .fallback = 0, .min = 0, .max = 1e3},
    {.name = "A_roll", .fallback = 50, .min = 0, .max = 1e6, .unit = "s/m"},
    {.name = "R1", .fallback = 0.0075, .min = 0, .max = 1e3},
    {.name = "R2", .fallback = 0.02, .min = 0, .max = 1e3, .unit = "s/m"},
};

constexpr std::string_view kLog[] = {"F_rr", "actual_wheel_alpha", "desired_wheel_alpha", "motor_torque",
                                     "wheel_long_friction"};

}  // namespace

class WardIagnemmaTire final : public TireModel {
 public:
  std::string_view name() const override { return "wardiagnemma"; }
  std::span<const ParamInfo> params() const override { return kParams; }

  TireOutput step(const double* p, const TireInput& in) const override {
    const double limit = effective(in.ground.mu, p[kMu]) * in.load;
    const Losses taken = losses(in, p[kCDamping], effective(in.ground.c_rr, p[kCRr]));
    const RollingStep rolled = roll(in, taken, limit, drag(p, in));
    return {{hold_on_slope(in, rolled.force, limit), lateral_hold(in, limit)}, rolled.spin};
  }

  TireGrip grip(const double* p, double, double, double) const override { return {p[kMu]}; }

  std::span<const std::string_view> log_names() const override { return kLog; }
  void log_values(const double* p, const TireInput& in, const TireOutput& out,
                  double* values) const override {
    values[0] = drag(p, in);
    values[1] = (out.spin - in.spin) / in.dt;
    values[2] = rolling_acceleration(in);
    values[3] = in.torque;
    values[4] = out.force.x;
  }

 private:
  static double drag(const double* p, const TireInput& in) {
    const double speed = std::fabs(in.velocity.x);
    if (speed == 0) return 0;
    const double share = p[kR1] * (1 - math::exp(-p[kARoll] * speed)) + p[kR2] * speed;
    // drag stops, it never turns round
    return -std::copysign(std::min(in.load * share, in.mass * speed / in.dt), in.velocity.x);
  }
};

template const TireModel& registered<TireModel, WardIagnemmaTire>();

}  // namespace mvsim
