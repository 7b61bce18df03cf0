// Controllers `twist_front_steer_pid` (commanded by a twist) and `front_steer_pid` (by a speed and a steering
// angle) of cars: a PID on the speed of each front wheel, or of the car where one engine drives.
#include <algorithm>
#include <cmath>
#include <optional>

#include "vehicle/car.h"
#include "vehicle/controller.h"
#include "vehicle/speed_pid.h"

namespace mvsim {
namespace {

using Params = std::array<ParamInfo, kSpeedPidParamCount>;
enum class Motors { kFrontWheels, kEngine };
enum class Command { kTwist, kSteer };

// A speed whose square is below has no heading that could be computed from it, (m/s)2.
constexpr double kLeastSquare = 1e-200;

constexpr CommandInfo kSteerCommand[] = {{"vx", "m/s"}, {"steer", "rad"}};

class CarSpeedPid final : public Controller {
 public:
  CarSpeedPid(Motors motors, Command command, double max_torque)
      : motors_(motors),
        command_(command),
        params_(speed_pid_params(100, max_torque, command == Command::kTwist ? "W" : "STEER_ANG")) {}

  std::string_view name() const override {
    return command_ == Command::kTwist ? "twist_front_steer_pid" : "front_steer_pid";
  }
  std::span<const ParamInfo> params() const override { return params_; }
  std::span<const CommandInfo> command() const override {
    return command_ == Command::kTwist ? kTwistCommand : kSteerCommand;
  }
  bool accepts_twist() const override { return command_ == Command::kTwist; }
  size_t state_size() const override { return (motors_ == Motors::kEngine ? 1 : 2) * kSpeedPidState; }
  void initial_command(const double* p, double* command) const override {
    command[0] = p[kFirstCommand];
    command[1] = p[kSecondCommand];
  }

  void step(const double* p, const ControllerInput& in, const double* command, double* state,
            double* actuation) const override {
    const double vx = command[0], length = wheelbase(in.wheels);
    const double steer = command_ == Command::kTwist ? steer_of_twist(length, vx, command[1]) : command[1];
    actuation[kCarSteer] = steer;
    actuation[kCarBrake] = 0;

    const double torque_against_slope = in.climbing_force * mean_radius(in.wheels);
    if (motors_ == Motors::kEngine) {
      const double actual = in.odometry.vx;
      speed_pid(p,
                {.dt = in.dt,
                 .setpoint = {&vx, 1},
                 .actual = {&actual, 1},
                 .torque_against_slope = torque_against_slope},
                state, actuation + kCarTorque);
      return;
    }
    std::optional<SteerMemo> none;
    SteerMemo& memo = in.memo ? *in.memo : none.emplace();
    double omega = command[1];
    if (command_ == Command::kSteer) {
      const Rotation2& turned = memo.commanded.of(std::clamp(steer, -kSteerLimit, kSteerLimit));
      omega = vx * turned.s / (turned.c * length);
    }
    const FrontRotations wanted = in.has_servo ? asked_of_servo(in, steer, {vx, length * omega}, memo.heading)
                                               : asked_rotations(in, steer, memo);
    const Twist2 twist{vx, 0, omega};
    const double setpoint[] = {wheel_speed(in.wheels[kFrontLeft], twist, wanted.left),
                               wheel_speed(in.wheels[kFrontRight], twist, wanted.right)};
    const double actual[] = {wheel_speed(in.wheels[kFrontLeft], in.odometry, steered(in, kFrontLeft)),
                             wheel_speed(in.wheels[kFrontRight], in.odometry, steered(in, kFrontRight))};
    speed_pid(p,
              {.dt = in.dt,
               .setpoint = setpoint,
               .actual = actual,
               .torque_against_slope = torque_against_slope / 2},
              state, actuation + kCarTorque);
  }

 private:
  // Speed along the rolling direction of a wheel of that yaw when the body has that twist.
  static double wheel_speed(const WheelModel& wheel, const Twist2& body, const Rotation2& yaw) {
    const Vec2 velocity{body.vx - body.omega * wheel.position.y, body.vy + body.omega * wheel.position.x};
    return yaw.unrotate(velocity).x;
  }

  static FrontRotations asked_rotations(const ControllerInput& in, double steer, SteerMemo& memo) {
    const FrontMemo& angles = front_angles(in.wheels, in.dynamics_params[kMaxSteer], steer, memo.asked);
    return {memo.asked_left.of(angles.left), memo.asked_right.of(angles.right)};
  }

  // Those of a car with a servo. `velocity`: of the middle of the front axle.
  static FrontRotations asked_of_servo(const ControllerInput& in, double steer, Vec2 velocity,
                                       HeadingMemo& memo) {
    const double most = in.dynamics_params[kMaxSteer];
    if (steer == memo.steer && most == memo.max && velocity == memo.velocity) return memo.rotations;
    const double square = dot(velocity, velocity);
    Vec2 heading = velocity.x < 0 ? -1 * velocity : velocity;
    if (!(std::fabs(steer) <= most && square > kLeastSquare && square < 1 / kLeastSquare)) {
      const SinCos sc = sin_cos(std::clamp(steer, -most, most));
      heading = {sc.cos, sc.sin};
    }
    memo = {steer, most, velocity, front_rotations(in.wheels, heading)};
    return memo.rotations;
  }

  static Rotation2 steered(const ControllerInput& in, CarWheel wheel) {
    const double steer = in.states[wheel].steer;
    return in.steer_rotations.empty() ? Rotation2(steer) : in.steer_rotations[wheel].of(steer);
  }

  Motors motors_;
  Command command_;
  Params params_;
};

}  // namespace

template <>
const Controller& registered<Controller, class AckermannTwistPid>() {
  static const CarSpeedPid kController(Motors::kFrontWheels, Command::kTwist, 100);
  return kController;
}

template <>
const Controller& registered<Controller, class AckermannSteerPid>() {
  static const CarSpeedPid kController(Motors::kFrontWheels, Command::kSteer, 100);
  return kController;
}

template <>
const Controller& registered<Controller, class DrivetrainTwistPid>() {
  static const CarSpeedPid kController(Motors::kEngine, Command::kTwist, 400);
  return kController;
}

template <>
const Controller& registered<Controller, class DrivetrainSteerPid>() {
  static const CarSpeedPid kController(Motors::kEngine, Command::kSteer, 100);
  return kController;
}

}  // namespace mvsim
