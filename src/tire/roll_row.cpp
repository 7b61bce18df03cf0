#include "tire/wheel_row.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tire/roll_row.cpp"
#include "base/highway_targets.h"

HWY_BEFORE_NAMESPACE();
namespace mvsim::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 4>;  // most vehicles have four wheels
using VD = hn::Vec<D>;
using MD = hn::Mask<D>;

// As std::clamp.
HWY_INLINE VD clamped(VD value, VD low, VD high) {
  return hn::IfThenElse(hn::Lt(value, low), low, hn::IfThenElse(hn::Lt(high, value), high, value));
}

// The wheels [0, Lanes(D)) from an offset on. Each function has the operations of the one of the same name in
// tire/rolling.h, in their order.
struct Lanes {
  HWY_INLINE Lanes(const WheelRow& row, size_t at)
      : dt(hn::Set(D(), row.dt)),
        torque(hn::Load(D(), row.torque.of + at)),
        spin(hn::Load(D(), row.spin.of + at)),
        radius(hn::Load(D(), row.radius.of + at)),
        inertia(hn::Load(D(), row.inertia.of + at)),
        damping(hn::Load(D(), row.damping.of + at)),
        resistance(hn::Load(D(), row.resistance.of + at)),
        rolling(hn::Div(hn::Load(D(), row.velocity_x.of + at), radius)),
        stops(
            hn::And(hn::Ne(resistance, hn::Zero(D())), hn::Ge(hn::Mul(torque, resistance), hn::Zero(D())))) {}

  HWY_INLINE VD stopping(VD momentum) const {
    // Where all momenta are far from an end, the results do not wait for a division.
    const VD zero = hn::Zero(D()), far = hn::Mul(hn::Add(dt, dt), hn::Mul(resistance, resistance));
    if (hn::AllTrue(D(), hn::Or(hn::Not(stops), hn::Gt(hn::Mul(momentum, resistance), far))))
      return resistance;
    const VD end = hn::Div(momentum, dt);
    const MD is_forward = hn::Gt(resistance, zero);
    const VD limited = clamped(end, hn::IfThenElse(is_forward, zero, resistance),
                               hn::IfThenElse(is_forward, resistance, zero));
    return hn::IfThenElse(stops, limited, resistance);
  }

  // Torque that the losses leave, where damping and resistance may change with the momentum, N m s.
  HWY_INLINE VD rest(MD changes_damping, VD momentum, VD carried) const {
    VD damped = hn::Mul(damping, spin);
    if (!hn::AllFalse(D(), changes_damping))
      damped =
          hn::IfThenElse(changes_damping,
                         hn::Div(hn::Mul(damping, momentum), hn::Add(carried, hn::Mul(damping, dt))), damped);
    const VD resisted = stopping(hn::Sub(momentum, hn::Mul(dt, damped)));
    return hn::Sub(hn::Sub(torque, damped), resisted);
  }

  HWY_INLINE VD rest_rolling(VD carried) const {
    const VD momentum =
        hn::Sub(hn::Add(hn::Mul(carried, rolling), hn::Mul(dt, hn::Add(torque, hn::Zero(D())))),
                hn::Mul(inertia, hn::Sub(rolling, spin)));
    const VD sum = hn::Add(carried, inertia);
    const VD four = hn::Set(D(), 4.0);
    const MD strong = hn::Gt(hn::Mul(hn::Mul(hn::Mul(four, damping), dt), carried), hn::Mul(sum, sum));
    return rest(strong, momentum, carried);
  }

  HWY_INLINE VD rest_slipping(VD felt) const {
    const VD momentum = hn::Add(hn::Mul(inertia, spin), hn::Mul(dt, hn::Sub(torque, felt)));
    return rest(hn::Gt(hn::Mul(damping, dt), inertia), momentum, inertia);
  }

  VD dt, torque, spin, radius, inertia, damping, resistance;
  VD rolling;  // rad/s
  MD stops;    // resistance may stop the wheel
};

void roll_wheels(WheelRow& row) {
  const D d;
  for (size_t at = 0; at < row.count; at += hn::Lanes(d)) {
    const Lanes wheel(row, at);
    const VD limit = hn::Load(d, row.limit_x.of + at);
    const MD overshoots = hn::Or(hn::Ne(wheel.resistance, hn::Zero(d)),
                                 hn::Gt(hn::Mul(wheel.damping, wheel.dt), wheel.inertia));
    VD torque = hn::Sub(hn::Sub(wheel.torque, hn::Mul(wheel.damping, wheel.spin)), wheel.resistance);
    if (!hn::AllFalse(d, overshoots))
      torque = hn::IfThenElse(overshoots, wheel.rest_rolling(hn::Load(d, row.carried.of + at)), torque);
    const VD acceleration = hn::Div(hn::Sub(wheel.rolling, wheel.spin), wheel.dt);
    const VD wanted = hn::Div(hn::Sub(torque, hn::Mul(wheel.inertia, acceleration)), wheel.radius);
    const VD force = clamped(wanted, hn::Neg(limit), limit);
    const VD felt = hn::Mul(wheel.radius, force);
    const MD slips = hn::AndNot(hn::Eq(force, wanted), overshoots);
    if (!hn::AllFalse(d, slips)) torque = hn::IfThenElse(slips, wheel.rest_slipping(felt), torque);
    const VD gained = hn::Mul(hn::Div(hn::Sub(torque, felt), wheel.inertia), wheel.dt);
    hn::Store(force, d, row.force_x.of + at);
    hn::Store(hn::Add(wheel.spin, gained), d, row.spin_after.of + at);

    const VD across = hn::Load(d, row.limit_y.of + at);
    const VD hold =
        hn::Div(hn::Mul(hn::Neg(hn::Load(d, row.velocity_y.of + at)), hn::Load(d, row.holding_mass.of + at)),
                wheel.dt);
    hn::Store(clamped(hold, hn::Neg(across), across), d, row.force_y.of + at);
  }
}

}  // namespace mvsim::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mvsim {
namespace {

HWY_EXPORT(roll_wheels);

}  // namespace

void roll_row(WheelRow& row) {
  HWY_DYNAMIC_DISPATCH(roll_wheels)(row);
}

}  // namespace mvsim
#endif
