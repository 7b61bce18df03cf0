// Friction model `vti`: the tire and terrain of MAVS's vehicle-terrain interface. Longitudinal force by a
// magic formula on rigid ground and by mobility numerics on sand and clay, lateral force after Crolla, both
// within a friction ellipse.
//
// Tires as stiff as these would oscillate at any practical time step. So the force over slip is taken as a
// secant, F = K (r w - v), which is solved for the slip speed after the step. Forces never overshoot, and
// steady states are those of the curve. Below kLowSpeed the wheel sticks: K grows without bound, but the
// limit of the force stays.
#include "base/registered.h"
#include "tire/rolling.h"
#include "tire/tire_model.h"
#include "tire/vti_mavs.h"
#include "tire/vti_traction.h"

namespace mvsim {
namespace {

enum { kForm, kSurface, kConeIndex, kSectionHeight, kStiffness, kCrossover, kCDamping, kCRr };
enum { kCorrected, kMavs };

constexpr std::string_view kForms[] = {"corrected", "mavs"};

constexpr ParamInfo kParams[] = {
    choice_param("form", kForms, kCorrected),
    choice_param("surface", kSurfaceNames, 0),
    {.name = "cone_index_Pa",
     .fallback = 1723690,
     .min = 0,
     .max = 1e9,
     .is_min_excluded = true,
     .unit = "Pa"},                                                                   // 250 psi
    {.name = "section_height", .fallback = 0, .min = 0, .max = 100, .unit = "m"},     // 0: half of the radius
    {.name = "stiffness", .fallback = 470000, .min = 1, .max = 1e12, .unit = "N/m"},  // vertical
    {.name = "crossover_angle",
     .fallback = 5 * kDegree,
     .min = 0,
     .max = 90 * kDegree,
     .type = ParamType::kDegrees,
     .is_min_excluded = true},
    {.name = "C_damping", .fallback = 0.01, .min = 0, .max = 1e6, .unit = "N m s/rad"},
    {.name = "C_rr", .fallback = 0, .min = 0, .max = 1e3},
};

constexpr std::string_view kLog[] = {
    "actual_wheel_alpha", "deflection", "motor_torque",           "slip_angle",
    "slip_ratio",         "surface",    "wheel_lateral_friction", "wheel_long_friction"};

// Slip below which the secant is that of this slip: at zero the curve's slope.
constexpr double kMinSlip = 1e-3;

Surface surface_of(const double* p, const TireInput& in) {
  return static_cast<Surface>(in.ground.surface >= 0 ? in.ground.surface : static_cast<int>(p[kSurface]));
}

double section_height_of(const double* p, double radius) {
  return p[kSectionHeight] > 0 ? p[kSectionHeight] : radius / 2;
}

// Returns the deflection of the tire under `load`, m. It ends at the rim.
double deflection_of(const double* p, double radius, double load) {
  return std::min(load / p[kStiffness], 0.95 * std::min(section_height_of(p, radius), radius));
}

TireContact contact_of(const double* p, const TireInput& in) {
  TireContact c;
  c.load = in.load;
  c.section_height = section_height_of(p, in.radius);
  c.deflection = deflection_of(p, in.radius, in.load);
  c.width = in.width;
  c.diameter = 2 * in.radius;
  c.cone_index = in.ground.cone_index > 0 ? in.ground.cone_index : p[kConeIndex];
  return c;
}

// A force against a speed, solved for the speed after the step.
struct ImplicitForce {
  double compliance = 0;  // m/s per N, the inverse of the secant; 0: the contact sticks
  double limit = 0;       // N

  // `speed`: m/s that the contact would have without the force; `response`: m/s that 1 N takes off it.
  double at(double speed, double response) const {
    return std::clamp(speed / (compliance + response), -limit, limit);
  }
};

struct Wheel {
  double arm = 0;            // m, loaded radius
  double rolling_speed = 0;  // m/s
  double brake = 0;          // N m of all that opposes the rotation
  double inertia = 0;        // kg m2, with the effect of damping in a step
  bool sticks = false;
  double secant = 0;      // N s/m, of the longitudinal force over the slip speed
  double limit = 0;       // N, of that force
  double resistance = 0;  // N, the most that soil takes from motion
};

Wheel wheel_of(const double* p, const TireInput& in) {
  Wheel w;
  const TireContact contact = contact_of(p, in);
  const double c_rr = in.ground.c_rr >= 0 ? in.ground.c_rr : p[kCRr];
  w.arm = in.radius - contact.deflection;
  w.rolling_speed = w.arm * in.spin;
  w.brake = in.brake + c_rr * in.load * in.radius;
  w.inertia = in.inertia + in.dt * p[kCDamping];
  w.sticks = std::max(std::fabs(w.rolling_speed), norm(in.velocity)) < kLowSpeed;
  const double speed = in.velocity.x;
  const double min = kMinSlip * std::max({std::fabs(w.rolling_speed), std::fabs(speed), kLowSpeed});
  const double slip = std::fabs(slip_ratio(w.rolling_speed, speed));
  const Traction t = traction(surface_of(p, in), contact, std::max(slip, kMinSlip));
  w.secant = in.load * t.gross / std::max(std::fabs(w.rolling_speed - speed), min);
  w.limit = in.load * t.peak;
  w.resistance = in.load * t.resistance;  // the same at any slip
  return w;
}

ImplicitForce longitudinal(const Wheel& w) {
  return {w.sticks ? 0 : 1 / w.secant, w.limit};
}

// `limit` is the grip that the longitudinal force leaves, N.
ImplicitForce lateral(const Wheel& w, const TireInput& in, double crossover, double peak, double limit) {
  const double min = kMinSlip * std::max(std::fabs(in.velocity.x), kLowSpeed);
  const double speed = std::max(std::fabs(in.velocity.y), min);
  const double share = peak * crolla(slip_angle(in.velocity.x, speed), crossover);
  return {w.sticks ? 0 : speed / (in.load * share), limit};
}

// m/s of a hub after a step under `force`.
double speed_after(const TireInput& in, double speed, double force) {
  return speed + in.dt * force / in.effective_mass;
}

// Returns the force of the soil on a wheel under another force, N. It resists motion and at most ends it.
double soil_force(const Wheel& w, const TireInput& in, double force) {
  const double stop = in.velocity.x * in.effective_mass / in.dt + force;
  return -std::clamp(stop, -w.resistance, w.resistance);
}

struct Turned {
  double force = 0, spin = 0;
};

// Longitudinal force and spin of a wheel that its brake locks if it can.
Turned turn(const Wheel& w, const TireInput& in, const ImplicitForce& along) {
  const double hub = speed_after(in, in.velocity.x, in.slope_force.x + soil_force(w, in, in.slope_force.x));
  const double response = in.dt / in.effective_mass;
  const double locked = along.at(-hub, response);
  const double turning = in.torque + in.inertia * in.spin / in.dt - w.arm * locked;
  if (std::fabs(turning) <= w.brake) return {locked, 0};
  const double momentum = in.inertia * in.spin + in.dt * (in.torque - std::copysign(w.brake, turning));
  const double force =
      along.at(w.arm * momentum / w.inertia - hub, in.dt * w.arm * w.arm / w.inertia + response);
  return {force, (momentum - in.dt * w.arm * force) / w.inertia};
}

TireOutput corrected_step(const double* p, const TireInput& in) {
  const Wheel w = wheel_of(p, in);
  const ImplicitForce along = longitudinal(w);
  const Turned turned = turn(w, in, along);
  const double peak = in.load > 0 ? along.limit / in.load : 0;
  const double rest = along.limit * ellipse_rest(turned.force, along.limit);
  const ImplicitForce across = lateral(w, in, p[kCrossover], peak, rest);
  const double hub = speed_after(in, in.velocity.y, in.slope_force.y);
  return {{turned.force + soil_force(w, in, in.slope_force.x + turned.force),
           across.at(-hub, in.dt / in.effective_mass)},
          turned.spin};
}

TireOutput mavs_step(const double* p, const TireInput& in) {
  const TireContact contact = contact_of(p, in);
  const MavsTire tire{.radius = in.radius,
                      .width = in.width,
                      .section_height = contact.section_height,
                      .stiffness = p[kStiffness],
                      .inertia = in.inertia,
                      .viscous = p[kCDamping] / in.inertia,
                      .crossover = p[kCrossover]};
  const MavsUpdate out = mavs_update(tire, surface_of(p, in), contact.cone_index,
                                     {.dt = in.dt,
                                      .depth = in.load / p[kStiffness],
                                      .speed = in.velocity.x,
                                      .lateral_speed = in.velocity.y,
                                      .spin = in.spin,
                                      .torque = in.torque,
                                      .starting = in.torque == 0 && in.spin == 0});
  // a brake that stops the wheel and does not turn it backward, unlike MAVS's
  const double braked = std::max(0.0, std::fabs(out.spin) - in.dt * in.brake / in.inertia);
  return {{out.forward, out.left}, std::copysign(braked, out.spin)};
}

}  // namespace

class VtiTire final : public TireModel {
 public:
  std::string_view name() const override { return "vti"; }
  std::span<const ParamInfo> params() const override { return kParams; }

  TireOutput step(const double* p, const TireInput& in) const override {
    return p[kForm] == double{kMavs} ? mavs_step(p, in) : corrected_step(p, in);
  }

  TireGrip grip(const double* p, double radius, double width, double load) const override {
    TireInput in;
    in.radius = radius;
    in.width = width;
    in.load = load;
    return {traction(surface_of(p, in), contact_of(p, in), 0).peak};
  }
  double rolling_radius(const double* p, double radius, double load) const override {
    return radius - deflection_of(p, radius, load);
  }
  std::optional<TooLarge> check_radius(const double* p, double radius) const override {
    if (p[kSectionHeight] > radius) return TooLarge{kParams[kSectionHeight].name, radius};
    return std::nullopt;
  }
  std::span<const std::string_view> log_names() const override { return kLog; }
  void log_values(const double* p, const TireInput& in, const TireOutput& out,
                  double* values) const override {
    const double deflection = contact_of(p, in).deflection;
    values[0] = (out.spin - in.spin) / in.dt;
    values[1] = deflection;
    values[2] = in.torque;
    values[3] = slip_angle(in.velocity.x, in.velocity.y);
    values[4] = slip_ratio((in.radius - deflection) * in.spin, in.velocity.x);
    values[5] = static_cast<double>(surface_of(p, in));
    values[6] = out.force.y;
    values[7] = out.force.x;
  }
};

template const TireModel& registered<TireModel, VtiTire>();

}  // namespace mvsim
