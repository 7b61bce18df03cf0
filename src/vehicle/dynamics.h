// Interface of dynamics classes, and their list.
#pragma once

#include <span>
#include <string_view>

#include "vehicle/controller.h"
#include "vehicle/wheel.h"

namespace mvsim {

// Interface of dynamics classes: wheel layout, drive and steering. Each family has a file of its own and a
// line in dynamics_classes().

struct WheelSlot {
  std::string_view tag;
  Vec2 default_position;
  bool expected = false;  // a file that leaves it out gets a warning
};

class Dynamics {
 public:
  virtual ~Dynamics() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view alias() const { return {}; }        // a second name in files
  virtual std::span<const WheelSlot> wheel_slots() const = 0;  // in index order
  virtual std::span<const Controller* const> controllers() const = 0;
  virtual bool steers() const { return false; }      // turns by the angle of its wheels, not by their speeds
  virtual bool has_engine() const { return false; }  // one motor drives several wheels
  // Returns the share of a motor that turns this wheel while all spin alike: 1 of its own motor, 0 of none.
  virtual double motor_share(const double* p, size_t wheel) const = 0;
  virtual double default_mass() const = 0;  // kg, chassis
  virtual double default_z_min() const = 0;
  virtual double default_z_max() const = 0;
  virtual Color default_color() const { return {0xff, 0, 0, 255}; }
  virtual const Polygon& default_shape() const = 0;
  // Numbers that place wheels ("f_wheels_x"); read once, when the world is compiled.
  virtual std::span<const ParamInfo> geometry() const { return {}; }
  virtual void place_wheels(const double* /*geometry*/, std::span<WheelModel> /*wheels*/) const {}
  // Numbers of the drive and the steering ("max_steer_ang_deg", "drivetrain/front_rear_split").
  virtual std::span<const ParamInfo> params() const { return {}; }
  // Returns the fault of these wheels under this controller, or "".
  virtual std::string_view check_wheels(std::span<const WheelModel> wheels,
                                        const Controller& controller) const = 0;
  // Turns the actuation of a controller into motor torque (positive: forward), brake torque and steering
  // angle of each wheel. `p`: values in the order of params(); `memo`: of this vehicle, or a new one.
  virtual void drive(const double* p, const double* actuation, std::span<const WheelModel> wheels,
                     std::span<WheelState> states, SteerMemo& memo) const = 0;
};

std::span<const Dynamics* const> dynamics_classes();

// Returns the body twist from the spins of the first two wheels (left, right). Their rim speeds w R are those
// of a body that turns about a point of their axle, so vy = 0.
Twist2 odometry_twist(std::span<const WheelModel> wheels, std::span<const WheelState> states);

}  // namespace mvsim
