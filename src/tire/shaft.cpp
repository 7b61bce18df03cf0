#include "tire/shaft.h"

#include <cmath>

namespace mvsim {
namespace {

// Sets the outputs of a step in which the shaft passes that torque from the front wheel to the rear one.
// Returns by how much faster the rear one turns, rad/s.
double step_with(const TireModel& tire, const double* p, const TireInput& rear, const TireInput& front,
                 double passed, ShaftStep& out) {
  out.rear.torque = rear.torque + passed;
  out.front.torque = front.torque - passed;
  out.rear_out = tire.step(p, out.rear);
  out.front_out = tire.step(p, out.front);
  return out.rear_out.spin - out.front_out.spin;
}

// Finds the torque in the shaft with which both wheels have nearly one spin. The difference of the spins
// grows with this torque, at most as fast as without friction, so the second guess does not pass the root.
// From there secants lead beyond it, and then the Illinois algorithm to it (Dowell and Jarratt 1971, "A
// modified regula falsi method").
ShaftStep solve(const TireModel& tire, const double* p, const TireInput& rear, const TireInput& front,
                double guess) {
  constexpr int kMostSteps = 20;
  constexpr double kLongest = 8;             // times the last step
  const double enough = 1e-3 / rear.radius;  // rad/s: 1 mm/s at the rim is little beside the slip of a turn
  ShaftStep out{rear, front, {}, {}};
  double a = guess, apart_a = step_with(tire, p, rear, front, a, out);
  if (std::fabs(apart_a) <= enough) return out;
  double b = a - apart_a / (rear.dt / rear.inertia + front.dt / front.inertia);
  double apart_b = step_with(tire, p, rear, front, b, out);
  bool is_between = (apart_a < 0) != (apart_b < 0);
  for (int i = 0; i < kMostSteps && std::fabs(apart_b) > enough; ++i) {
    const double secant = apart_b == apart_a ? kLongest : apart_b / (apart_a - apart_b);  // times b - a
    const double next = b + (b - a) * (is_between ? secant : std::fmin(secant, kLongest));
    const double apart_next = step_with(tire, p, rear, front, next, out);
    if (is_between && (apart_next < 0) == (apart_b < 0)) {
      apart_a /= 2;
    } else {
      is_between = (apart_next < 0) != (apart_b < 0) || is_between;
      a = b, apart_a = apart_b;
    }
    b = next, apart_b = apart_next;
  }
  return out;
}

}  // namespace

ShaftStep step_on_shaft(const TireModel& tire, const double* p, const TireInput& rear, const TireInput& front,
                        double last_rear_force, double last_front_force) {
  const double both = rear.inertia + front.inertia;
  const double guess = (rear.inertia * (front.torque - front.radius * last_front_force) -
                        front.inertia * (rear.torque - rear.radius * last_rear_force)) /
                       both;
  ShaftStep out = solve(tire, p, rear, front, guess);
  // what is left of the difference goes without a change of their angular momentum
  out.rear_out.spin = out.front_out.spin =
      (rear.inertia * out.rear_out.spin + front.inertia * out.front_out.spin) / both;
  return out;
}

}  // namespace mvsim
