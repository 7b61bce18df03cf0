// Interface of controllers, and their list.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "base/geometry.h"
#include "base/params.h"
#include "vehicle/wheel.h"

namespace mvsim {

// Interface of vehicle controllers, which turn a command into actuation. Each dynamics class lists its
// controllers in controllers().
//
// Stateless and shared; parameters, command and state are arrays that the Simulation owns.

inline constexpr int kMaxCommand = 4;
inline constexpr int kMaxActuation = 4;

// Caches of steering, which spare its computation while the command stays. They change no value.

// Rotations of both front wheels, from vehicle to wheel frame.
struct FrontRotations {
  Rotation2 left, right;
};

// The angles of the front wheels for a steering angle.
struct FrontMemo {
  double wanted = std::numeric_limits<double>::quiet_NaN(), max = 0;  // rad
  double left = 0, right = 0;                                         // rad
  FrontRotations rotations;                                           // set by front_rotations()
};

// The rotations that a controller asks for, where a servo turns the wheels.
struct HeadingMemo {
  double steer = std::numeric_limits<double>::quiet_NaN(), max = 0;  // rad
  Vec2 velocity;                                                     // m/s, of the middle of the front axle
  FrontRotations rotations;
};

// Those of one vehicle.
struct SteerMemo {
  FrontMemo asked;    // by the controller
  FrontMemo steered;  // by the dynamics class, after the servo
  LatestRotation asked_left, asked_right;
  LatestRotation commanded;  // by the steering angle of the command
  HeadingMemo heading;
};

struct ControllerInput {
  double dt = 0;
  std::span<const WheelModel> wheels;
  std::span<const WheelState> states;  // of the previous step
  Twist2 odometry;                     // estimate from the wheel spins: what a real robot's controller sees
  const double* dynamics_params = nullptr;    // of the dynamics class
  const double* beliefs = nullptr;            // by Belief; null: all are 1
  double climbing_force = 0;                  // N, weight of the chassis along the slope, positive uphill
  std::span<RotationMemo> steer_rotations{};  // cache by wheel; empty: there is none
  SteerMemo* memo = nullptr;                  // of this vehicle; null: there is none
  bool has_servo = false;                     // the steering follows the actuation by a servo
};

// Beliefs of a controller about its wheels, as factors of what is true, with the names of ros2_control's
// diff_drive_controller. In the order of kKinematicsTags.
enum Belief { kBelievedTrack, kBelievedLeftRadius, kBelievedRightRadius, kBeliefCount };

// A value of a controller's command, e.g. "vx" in m/s.
struct CommandInfo {
  std::string_view name;
  std::string_view unit;
};

inline constexpr CommandInfo kTwistCommand[] = {{"vx", "m/s"}, {"omega", "rad/s"}};

// The motion that a controller sets itself, whatever the forces of the wheels.
enum class Imposes {
  kNothing,
  // The body twist is set to the command after every step. Then no wheel force acts on the chassis.
  kTwist,
  // Driven wheels turn as commanded on any ground. Then the actuation of a wheel is its spin in rad/s, and
  // its torque after the step is the torque that this took.
  kSpins,
};

class Controller {
 public:
  virtual ~Controller() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const ParamInfo> params() const { return {}; }
  virtual std::span<const CommandInfo> command() const = 0;
  virtual bool accepts_twist() const { return false; }  // the command is (vx, omega)
  virtual size_t state_size() const { return 0; }
  // Command before the first one of a user, by default zero; `out` has command().size() values.
  virtual void initial_command(const double* /*p*/, double* out) const {
    std::fill_n(out, command().size(), 0.0);
  }
  // Writes the actuation of the dynamics class; torques are positive forward.
  virtual void step(const double* p, const ControllerInput& in, const double* command, double* state,
                    double* actuation) const = 0;
  // Further columns of the log of the vehicle's first wheel, and their values for a step that was just made.
  virtual std::span<const std::string_view> log_names() const { return {}; }
  // `state` and `actuation` as step() left them; `values`: as many as log_names().
  virtual void log_values(const double* /*p*/, const ControllerInput& /*in*/, const double* /*command*/,
                          const double* /*state*/, const double* /*actuation*/, double* /*values*/) const {}
  // Values and no virtual functions, because each step asks several times.
  bool imposes_twist() const { return imposes_ == Imposes::kTwist; }
  bool imposes_spins() const { return imposes_ == Imposes::kSpins; }

 protected:
  explicit Controller(Imposes imposes = Imposes::kNothing) : imposes_(imposes) {}

 private:
  Imposes imposes_;
};

using ControllerRow = decltype(&registered<Controller, Controller>);

}  // namespace mvsim
