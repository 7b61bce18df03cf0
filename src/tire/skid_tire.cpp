// Friction model `skid`: dry friction on an ellipse that opposes the slip of the contact (the law of greatest
// dissipation; Goyal, Ruina and Papadopoulos 1991, "Planar sliding with dry friction"):
//   Fx = c sx,  Fy = -k^2 c vy,  c = mu N / sqrt(sx^2 + k^2 vy^2),
// slip sx = w R - vx, and k the coefficient across over that along the rolling direction.
//
// A robot of four fixed wheels at (+-a, +-b) that turns has vy = omega a; without acceleration, drive and
// drag have the same moment, sx b = k^2 vy a, so its sides run at omega b (1 + k^2 (a/b)^2): as if its track
// were that much wider. This factor is the ratio of the distance of the tracks' instantaneous centres of
// rotation to the track (Martinez et al. 2005, "Approximating kinematics for tracked mobile robots"; Mandow
// et al. 2007, "Experimental kinematics for wheeled skid-steer mobile robots"), and the parameter
// `icr_expansion`.
#include "base/registered.h"
#include "tire/rolling.h"
#include "tire/tire_model.h"

namespace mvsim {
namespace {

enum { kMu, kCDamping, kCRr, kIcrExpansion };

constexpr ParamInfo kParams[] = {
    {.name = "mu", .fallback = 0.8, .min = 0, .max = 1e3},
    {.name = "C_damping", .fallback = 0.01, .min = 0, .max = 1e6, .unit = "N m s/rad"},
    {.name = "C_rr", .fallback = 0, .min = 0, .max = 1e3},
    // absent: set by the compiler to that of friction that is the same in all directions
    {.name = "icr_expansion", .fallback = 1, .min = 1, .max = 100, .is_min_excluded = true},
};

constexpr std::string_view kLog[] = {"motor_torque", "slip_speed", "wheel_lateral_friction",
                                     "wheel_long_friction"};

// Resistance to the slip of one wheel.
struct Contact {
  double limit = 0;      // N along the rolling direction
  double across = 1;     // k^2
  double stiffness = 0;  // N s/m: c of a slip that one step may end
  double sideways2 = 0;  // k^2 vy^2

  // Whether one step may end that slip.
  bool sticks(double slip) const {
    return (slip * slip + sideways2) * stiffness * stiffness <= limit * limit;
  }
};

Contact contact_of(const double* p, const TireInput& in) {
  Contact out;
  out.limit = effective(in.ground.mu, p[kMu]) * in.load;
  if (in.wheel_spread > 0 && p[kIcrExpansion] > 1) out.across = (p[kIcrExpansion] - 1) / in.wheel_spread;
  const double mass = in.effective_mass > 0 ? in.effective_mass : in.mass;
  out.stiffness = mass / (in.dt * std::max(1.0, out.across));
  out.sideways2 = out.across * in.velocity.y * in.velocity.y;
  return out;
}

// c at a slip of that size.
double resistance(const Contact& contact, double slip) {
  const double size = std::sqrt(slip * slip + contact.sideways2);
  return size * contact.stiffness > contact.limit ? contact.limit / size : contact.stiffness;
}

// m/s of rim speed for 1 N over the step, of a wheel of that radius.
double mobility_of(const TireInput& in, double inertia) {
  return in.radius * in.radius * in.dt / inertia;
}

// Returns the slip after the step, m/s, of a rim that would slip at `free` without friction: the root of
// z + mobility c(z) z = |free|. The left side grows with z and bends down where friction is at its limit, so
// Newton's steps from below never pass the root.
double slip_after(const Contact& contact, double mobility, double free) {
  const double whole = std::fabs(free);
  const double sticking = whole / (1 + mobility * contact.stiffness);
  if (resistance(contact, sticking) == contact.stiffness) return std::copysign(sticking, free);
  const double push = mobility * contact.limit, side = contact.sideways2;
  double z = std::max(0.0, whole - push);
  if (side > 0) z = std::max(z, whole / (1 + push / std::sqrt(side)));
  constexpr int kMostSteps = 30;
  constexpr double kEnough = 1e-13;
  for (int i = 0; i < kMostSteps; ++i) {
    const double square = z * z + side, size = std::sqrt(square);
    if (!(size > 0)) break;
    const double missing = whole - z - push * z / size;
    const double change = missing / (1 + push * side / (square * size));
    z += change;
    if (!(change > kEnough * whole)) break;
  }
  return std::copysign(std::min(z, whole), free);
}

// The same of two wheels of one slip, which begins at `before`: the root of
// z + mobility (c1(z) + c2(z)) z = |free|. Its left side is bent alike, so that Newton's steps from anywhere
// lead below the root, and from there to it.
double slip_of_both(const Contact (&contacts)[2], double mobility, double free, double before) {
  const double whole = std::fabs(free);
  const double stiffness = contacts[0].stiffness + contacts[1].stiffness;
  const double least = whole / (1 + mobility * stiffness);
  if (contacts[0].sticks(least) && contacts[1].sticks(least)) return std::copysign(least, free);
  const double low = std::max(least, whole - mobility * (contacts[0].limit + contacts[1].limit));
  double z = std::clamp(free < 0 ? -before : before, low, whole);
  constexpr int kMostSteps = 30;
  constexpr double kEnough = 1e-9;  // the step that leads there leaves the square of this
  for (int i = 0; i < kMostSteps; ++i) {
    double missing = whole - z, slope = 1;
    for (const Contact& contact : contacts) {
      double push = mobility * contact.stiffness;
      if (contact.sticks(z)) {
        slope += push;
      } else {
        const double inverse = 1 / std::sqrt(z * z + contact.sideways2);
        push = mobility * contact.limit * inverse;
        slope += push * contact.sideways2 * inverse * inverse;
      }
      missing -= push * z;
    }
    const double change = missing / slope;
    z = std::clamp(z + change, low, whole);
    if (!(std::fabs(change) > kEnough * whole)) break;
  }
  return std::copysign(z, free);
}

struct Rim {
  double slip = 0, spin = 0;  // m/s and rad/s after the step
};

// Under the torque that losses and brake leave.
Rim turn(const Contact& contact, const TireInput& in, double torque) {
  const double free = in.radius * (in.spin + torque * in.dt / in.inertia) - in.velocity.x;
  const double slip = slip_after(contact, mobility_of(in, in.inertia), free);
  return {slip, (in.velocity.x + slip) / in.radius};
}

Rim step_rim(const Contact& contact, const TireInput& in, const Losses& losses) {
  const double torque = rolling_losses(in, losses).rest_of(in.torque);
  if (!(in.brake > 0)) return turn(contact, in, torque);
  const double locked = -in.velocity.x;
  const double held =
      torque + in.inertia * in.spin / in.dt - in.radius * resistance(contact, locked) * locked;
  if (std::fabs(held) <= in.brake) return {locked, 0};
  return turn(contact, in, torque - std::copysign(in.brake, held));
}

// Losses of two wheels on one shaft, N m.
struct SharedLosses {
  double sum = 0, of_rear = 0;
};

SharedLosses losses_of_both(const TireInput& rear, const TireInput& front, const Losses& of_rear,
                            const Losses& of_front, double spin) {
  const double at_rear = of_rear.damping * rear.spin + of_rear.resistance;
  const double all = at_rear + of_front.damping * front.spin + of_front.resistance;
  if (!may_overshoot(rear, of_rear) && !may_overshoot(front, of_front)) return {all, at_rear};
  TireInput both = rear;
  both.torque += front.torque;
  both.spin = spin;
  both.inertia += front.inertia;
  both.mass += front.mass;
  both.effective_mass += front.effective_mass;
  const LossTorques taken =
      rolling_losses(both, {of_rear.damping + of_front.damping, of_rear.resistance + of_front.resistance});
  const double sum = taken.damping + taken.resistance;
  return {sum, all == 0 ? sum / 2 : sum * (at_rear / all)};
}

// Adds the force that holds the vehicle on a slope, up to the remaining friction.
Vec2 held_on_slope(const Contact& contact, const TireInput& in, Vec2 force) {
  const double used = std::sqrt(force.x * force.x + force.y * force.y / contact.across);
  const Vec2 pull = in.slope_force;
  const double wanted = std::sqrt(pull.x * pull.x + pull.y * pull.y / contact.across);
  if (wanted == 0) return force;
  return force - std::clamp((contact.limit - used) / wanted, 0.0, 1.0) * pull;
}

}  // namespace

class SkidTire final : public TireModel {
 public:
  std::string_view name() const override { return "skid"; }
  std::span<const ParamInfo> params() const override { return kParams; }

  TireOutput step(const double* p, const TireInput& in) const override {
    const Contact contact = contact_of(p, in);
    const Rim rim = step_rim(contact, in, losses_of(p, in));
    return {force_of(contact, in, rim.slip), rim.spin};
  }

  // Wheels of one radius and one speed have one slip.
  bool step_both(const double* p, const TireInput& rear, const TireInput& front,
                 ShaftStep& out) const override {
    if (rear.radius != front.radius || rear.velocity.x != front.velocity.x || rear.brake > 0 ||
        front.brake > 0)
      return false;
    const double inertia = rear.inertia + front.inertia;
    const double spin = rear.spin == front.spin
                            ? rear.spin
                            : (rear.inertia * rear.spin + front.inertia * front.spin) / inertia;
    const SharedLosses lost = losses_of_both(rear, front, losses_of(p, rear), losses_of(p, front), spin);
    const double torque = rear.torque + front.torque - lost.sum;
    const double speed = rear.velocity.x, radius = rear.radius;
    const double free = radius * (spin + torque * rear.dt / inertia) - speed;
    const Contact contacts[] = {contact_of(p, rear), contact_of(p, front)};
    const double slip = slip_of_both(contacts, mobility_of(rear, inertia), free, radius * spin - speed);
    out.rear = {force_of(contacts[0], rear, slip), (speed + slip) / radius};
    out.front = {force_of(contacts[1], front, slip), out.rear.spin};
    out.passed = rear.inertia * (out.rear.spin - rear.spin) / rear.dt +
                 radius * resistance(contacts[0], slip) * slip - rear.torque + lost.of_rear;
    return true;
  }

  TireGrip grip(const double* p, double, double, double) const override { return {p[kMu]}; }

  std::span<const std::string_view> log_names() const override { return kLog; }
  void log_values(const double*, const TireInput& in, const TireOutput& out, double* values) const override {
    values[0] = in.torque;
    values[1] = out.spin * in.radius - in.velocity.x;
    values[2] = out.force.y;
    values[3] = out.force.x;
  }

 private:
  static Losses losses_of(const double* p, const TireInput& in) {
    return losses(in, p[kCDamping], effective(in.ground.c_rr, p[kCRr]));
  }
  static Vec2 force_of(const Contact& contact, const TireInput& in, double slip) {
    const double c = resistance(contact, slip);
    return held_on_slope(contact, in, {c * slip, -contact.across * c * in.velocity.y});
  }
};

template const TireModel& registered<TireModel, SkidTire>();

}  // namespace mvsim
