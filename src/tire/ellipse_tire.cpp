// Friction model `ellipse`. The limit of each force grows with its own slip (slip ratio s, slip angle a) up
// to saturation (ss, as), and shrinks with the slip of the other direction:
//   |Fx| <= N C_s s sqrt(1 - C_s_alpha (a/as)^2),  |Fy| <= N C_alpha a sqrt(1 - C_alpha_s (s/ss)^2).
// Without slip there is no grip, so a tire that rolls straight carries no side load.
#include "base/registered.h"
#include "tire/rolling.h"
#include "tire/tire_model.h"

namespace mvsim {
namespace {

enum { kCDamping, kCRr, kCAlpha, kAngleSaturation, kCAlphaS, kCS, kRatioSaturation, kCSAlpha };

constexpr ParamInfo kParams[] = {
    {.name = "C_damping", .fallback = 0.01, .min = 0, .max = 1e6, .unit = "N m s/rad"},
    {.name = "C_rr", .fallback = 0, .min = 0, .max = 1e3},
    {.name = "C_alpha", .fallback = 8.5, .min = 0, .max = 1e6},
    {.name = "slip_angle_saturation", .fallback = 0.1, .min = 1e-9, .max = 1e3, .unit = "rad"},  // in XML too
    {.name = "C_alpha_s", .fallback = 0.5, .min = 0, .max = 1e3},
    {.name = "C_s", .fallback = 7.5, .min = 0, .max = 1e6},
    {.name = "slip_ratio_saturation", .fallback = 0.1, .min = 1e-9, .max = 1e3},
    {.name = "C_s_alpha", .fallback = 0.5, .min = 0, .max = 1e3},
};

constexpr std::string_view kLog[] = {"actual_wheel_alpha",
                                     "motor_torque",
                                     "slip_angle",
                                     "slip_ratio",
                                     "vel_w_x",
                                     "vel_w_y",
                                     "wheel_ground_point_vel",
                                     "wheel_lateral_friction",
                                     "wheel_long_friction"};

constexpr double kMinSpeed = 1e-3;  // m/s, below it there is no slip angle
constexpr double kMinSpin = 1e-5;   // rad/s, and m/s of the contact point

double contact_speed(double spin, double radius) {
  return std::fabs(spin) > kMinSpin ? spin * radius : kMinSpin;
}

// `contact`: as of contact_speed().
double slip_ratio_of(double contact, double speed) {
  return std::clamp((contact - speed) / std::fabs(contact), -1.0, 1.0);
}

// Angle of the velocity to the rolling direction, forward or backward, in [0, pi/2].
double slip_angle_of(Vec2 v) {
  if (std::fabs(v.x) <= kMinSpeed && std::fabs(v.y) <= kMinSpeed) return 0;
  return math::angle_from_axis(v.y, v.x);
}

struct Limits {
  double x, y;  // N
};

// `contact`: as of contact_speed(); `velocity`: as of TireInput.
Limits limits(const double* p, double load, double contact, Vec2 velocity) {
  const double s = std::min(std::fabs(slip_ratio_of(contact, velocity.x)), p[kRatioSaturation]);
  const double a = std::min(slip_angle_of(velocity), p[kAngleSaturation]);
  const double of_s = s / p[kRatioSaturation], of_a = a / p[kAngleSaturation];
  return {load * p[kCS] * s * std::sqrt(std::max(0.0, 1 - p[kCSAlpha] * (of_a * of_a))),
          load * p[kCAlpha] * a * std::sqrt(std::max(0.0, 1 - p[kCAlphaS] * (of_s * of_s)))};
}

}  // namespace

class EllipseTire final : public TireModel {
 public:
  std::string_view name() const override { return "ellipse"; }
  std::span<const ParamInfo> params() const override { return kParams; }

  TireOutput step(const double* p, const TireInput& in) const override {
    const Limits limit = limits(p, in.load, contact_speed(in.spin, in.radius), in.velocity);
    const Losses taken = losses(in, p[kCDamping], effective(in.ground.c_rr, p[kCRr]));
    const RollingStep rolled = roll(in, taken, limit.x);
    return {{hold_on_slope(in, rolled.force, limit.x), lateral_hold(in, limit.y)}, rolled.spin};
  }

  bool has_rows() const override { return true; }
  void step_row(const double* p, WheelRow& row) const override {
    set_losses(row, p[kCDamping], p[kCRr]);
    for (size_t i = 0; i < row.count; ++i) {
      const Limits limit = limits(p, row.load[i], contact_speed(row.spin[i], row.radius[i]),
                                  {row.velocity_x[i], row.velocity_y[i]});
      row.limit_x[i] = limit.x;
      row.limit_y[i] = limit.y;
    }
    roll_row(row);
  }

  TireGrip grip(const double* p, double, double, double) const override {
    return {p[kCS] * p[kRatioSaturation], true};
  }

  std::span<const std::string_view> log_names() const override { return kLog; }
  void log_values(const double*, const TireInput& in, const TireOutput& out, double* values) const override {
    values[0] = (out.spin - in.spin) / in.dt;
    values[1] = in.torque;
    // with the sign of a turn to the left while it rolls forward
    const double angle = slip_angle_of(in.velocity), contact = contact_speed(in.spin, in.radius);
    values[2] = (in.velocity.y < 0) == (in.velocity.x < 0) ? angle : -angle;
    values[3] = slip_ratio_of(contact, in.velocity.x);
    values[4] = in.velocity.x;
    values[5] = in.velocity.y;
    values[6] = contact;
    values[7] = out.force.y;
    values[8] = out.force.x;
  }
};

template const TireModel& registered<TireModel, EllipseTire>();

}  // namespace mvsim
