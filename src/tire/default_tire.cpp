// Friction model `default`: Coulomb limits mu N on both axes separately.
#include "base/registered.h"
#include "tire/rolling.h"
#include "tire/tire_model.h"

namespace mvsim {
namespace {

enum { kMu, kCDamping, kCRr };

constexpr ParamInfo kParams[] = {
    {.name = "mu", .fallback = 0.8, .min = 0, .max = 1e3},
    {.name = "C_damping", .fallback = 0.01, .min = 0, .max = 1e6, .unit = "N m s/rad"},
    {.name = "C_rr", .fallback = 0, .min = 0, .max = 1e3},
};

constexpr std::string_view kLog[] = {
    "F_friction_lon", "actual_wheel_alpha",     "desired_wheel_alpha", "desired_wheel_w_impulse",
    "motor_torque",   "wheel_lateral_friction", "wheel_long_friction"};

}  // namespace

class DefaultTire final : public TireModel {
 public:
  std::string_view name() const override { return "default"; }
  std::span<const ParamInfo> params() const override { return kParams; }

  TireOutput step(const double* p, const TireInput& in) const override {
    const double limit = effective(in.ground.mu, p[kMu]) * in.load;
    const RollingStep rolled = roll(in, losses_of(p, in), limit);
    return {{hold_on_slope(in, rolled.force, limit), lateral_hold(in, limit)}, rolled.spin};
  }

  bool has_rows() const override { return true; }
  void step_row(const double* p, WheelRow& row) const override {
    set_losses(row, p[kCDamping], p[kCRr]);
    for (size_t i = 0; i < row.count; ++i) row.limit_x[i] = row.limit_y[i] = p[kMu] * row.load[i];
    roll_row(row);
  }

  TireGrip grip(const double* p, double, double, double) const override { return {p[kMu]}; }

  std::span<const std::string_view> log_names() const override { return kLog; }
  void log_values(const double* p, const TireInput& in, const TireOutput& out,
                  double* values) const override {
    const double desired = rolling_acceleration(in);
    values[0] = rolling_force(in, rolling_losses(in, losses_of(p, in)).rest_of(in.torque));
    values[1] = (out.spin - in.spin) / in.dt;
    values[2] = desired;
    values[3] = desired * in.dt;
    values[4] = in.torque;
    values[5] = out.force.y;
    values[6] = out.force.x;
  }

 private:
  static Losses losses_of(const double* p, const TireInput& in) {
    return losses(in, p[kCDamping], effective(in.ground.c_rr, p[kCRr]));
  }
};

template const TireModel& registered<TireModel, DefaultTire>();

}  // namespace mvsim
