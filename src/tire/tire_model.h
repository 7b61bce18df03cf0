// Interface of tire friction models. Each model has a file of its own and one line in tires.cpp.
//
// A model is a pure function of one wheel's state over one step; it owns no state and is shared by all
// threads.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/geometry.h"
#include "base/params.h"
#include "terrain/ground.h"
#include "tire/wheel_row.h"

namespace mvsim {

struct TireInput {
  double dt = 0;              // s
  double torque = 0;          // N m on the shaft, positive drives forward
  double brake = 0;           // N m, >= 0: opposes the rotation and never reverses it
  double mass = 0;            // kg carried at the contact: share of the chassis plus the wheel itself
  double effective_mass = 0;  // kg that a force at the contact moves, turning the vehicle included; <= mass
  double load = 0;            // N, normal force of that mass
  Vec2 velocity{};            // m/s of the wheel centre, wheel frame (x along the rolling direction)
  double spin = 0;            // rad/s, positive forward
  double radius = 0;          // m
  double inertia = 0;         // kg m2 about the axle
  double width = 0;           // m
  Vec2 slope_force{};         // N, downhill pull on `mass`, wheel frame
  GroundPatch ground{};
  double motor_damping = 0;  // N m s/rad, back-EMF of the motor: comes on top of the tire's own
  double holding_mass = 0;   // kg that a force across may stop in one step; 0: `mass`
  double wheel_spread = 0;   // spread of the vehicle's wheels along it over that across it, m2/m2
};

struct TireOutput {
  Vec2 force;       // N on the chassis at the wheel, wheel frame
  double spin = 0;  // rad/s after the step
};

// A step of two wheels on one rigid shaft.
struct ShaftStep {
  double passed = 0;       // N m that the shaft passes from the front wheel to the rear one
  TireOutput rear, front;  // of one spin
};

// A parameter that does not fit a wheel.
struct TooLarge {
  std::string_view name;
  double max = 0;
};

// Limits of a tire's force along its rolling direction.
struct TireGrip {
  double share = 0;         // of its load
  bool needs_slip = false;  // a tire that just rolls pushes nothing
};

class TireModel {
 public:
  virtual ~TireModel() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const ParamInfo> params() const = 0;
  // `p`: values in the order of params().
  virtual TireOutput step(const double* p, const TireInput& in) const = 0;

  // Sets the step of two wheels on one rigid shaft. Returns false where the model has no way of its own to
  // find it (tire/shaft.h).
  virtual bool step_both(const double* /*p*/, const TireInput& /*rear*/, const TireInput& /*front*/,
                         ShaftStep& /*out*/) const {
    return false;
  }

  // Whether it has step_row(), which makes the step of several wheels at once, on the ground of its
  // parameters and with the bits of step().
  virtual bool has_rows() const { return false; }
  virtual void step_row(const double* /*p*/, WheelRow& /*row*/) const {}

  // On the ground of its parameters; m, N.
  virtual TireGrip grip(const double* p, double radius, double width, double load) const = 0;
  // Returns the metres that a free wheel rolls per radian: `radius` minus the deflection under `load` (N).
  virtual double rolling_radius(const double* /*p*/, double radius, double /*load*/) const { return radius; }
  // Returns a value of `p` that is too large for a wheel of that radius, m, or nothing.
  virtual std::optional<TooLarge> check_radius(const double* /*p*/, double /*radius*/) const {
    return std::nullopt;
  }

  // Further columns of a wheel's log, and their values for a step that was made; computed only when asked.
  virtual std::span<const std::string_view> log_names() const { return {}; }
  // `values`: as many as log_names().
  virtual void log_values(const double* /*p*/, const TireInput& /*in*/, const TireOutput& /*out*/,
                          double* /*values*/) const {}
};

// All registered models (tires.cpp).
std::span<const TireModel* const> tire_models();

}  // namespace mvsim
