#include "tire/shaft.h"

#include <cmath>

namespace mvsim {
namespace {

// Wheels whose shaft passes some torque, and their step.
class Wheels {
 public:
  Wheels(const TireModel& tire, const double* p, const TireInput& rear, const TireInput& front)
      : tire_(tire),
        p_(p),
        rear_(rear),
        front_(front),
        rear_torque_(rear.torque),
        front_torque_(front.torque) {}

  // Returns by how much faster the rear wheel turns after the step, rad/s.
  double step(double passed) {
    step_.passed = passed;
    rear_.torque = rear_torque_ + passed;
    front_.torque = front_torque_ - passed;
    step_.rear = tire_.step(p_, rear_);
    step_.front = tire_.step(p_, front_);
    return step_.rear.spin - step_.front.spin;
  }
  const ShaftStep& last() const { return step_; }

 private:
  const TireModel& tire_;
  const double* p_;
  TireInput rear_, front_;
  double rear_torque_, front_torque_;
  ShaftStep step_;
};

// Finds the torque in the shaft with which both wheels have nearly one spin. The difference of the spins
// grows with this torque, at most as fast as without friction, so the second guess does not pass the root.
// From there secants lead beyond it, and then the Illinois algorithm to it (Dowell and Jarratt 1971, "A
// modified regula falsi method").
ShaftStep solve(const TireModel& tire, const double* p, const TireInput& rear, const TireInput& front,
                double guess) {
  constexpr int kMostSteps = 20;
  constexpr double kLongest = 8;             // times the last step
  const double enough = 1e-3 / rear.radius;  // rad/s: 1 mm/s at the rim is little beside the slip of a turn
  Wheels wheels(tire, p, rear, front);
  double a = guess, apart_a = wheels.step(a);
  if (std::fabs(apart_a) <= enough) return wheels.last();
  double b = a - apart_a / (rear.dt / rear.inertia + front.dt / front.inertia);
  double apart_b = wheels.step(b);
  bool is_between = (apart_a < 0) != (apart_b < 0);
  for (int i = 0; i < kMostSteps && std::fabs(apart_b) > enough; ++i) {
    const double secant = apart_b == apart_a ? kLongest : apart_b / (apart_a - apart_b);  // times b - a
    const double next = b + (b - a) * (is_between ? secant : std::fmin(secant, kLongest));
    const double apart_next = wheels.step(next);
    if (is_between && (apart_next < 0) == (apart_b < 0)) {
      apart_a /= 2;
    } else {
      is_between = (apart_next < 0) != (apart_b < 0) || is_between;
      a = b, apart_a = apart_b;
    }
    b = next, apart_b = apart_next;
  }
  return wheels.last();
}

}  // namespace

ShaftStep step_on_shaft(const TireModel& tire, const double* p, const TireInput& rear, const TireInput& front,
                        double last_rear_force, double last_front_force) {
  ShaftStep out;
  if (tire.step_both(p, rear, front, out)) return out;
  const double both = rear.inertia + front.inertia;
  const double guess = (rear.inertia * (front.torque - front.radius * last_front_force) -
                        front.inertia * (rear.torque - rear.radius * last_rear_force)) /
                       both;
  out = solve(tire, p, rear, front, guess);
  // what is left of the difference goes without a change of their angular momentum
  out.rear.spin = out.front.spin = (rear.inertia * out.rear.spin + front.inertia * out.front.spin) / both;
  return out;
}

}  // namespace mvsim
