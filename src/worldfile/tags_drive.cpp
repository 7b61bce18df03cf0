#include <array>

#include "worldfile/tags.h"

namespace mvsim {
namespace {

constexpr double kUnbounded = kMaxNumber;  // no bound of its own

// One table a unit: "m/s" or "rad/s".
struct LimitUnits {
  std::string_view speed, acceleration, jerk;
};

constexpr std::array<Tag<LimitSpec>, 8> limit_tags(const LimitUnits& units) {
  constexpr std::string_view kOpen = "absent: no limit";
  return {{
      {number("max_velocity", 0, kUnbounded, units.speed, kOpen).randomised(), &LimitSpec::max_velocity},
      {number("min_velocity", -kUnbounded, 0, units.speed, "absent: `-max_velocity`").randomised(),
       &LimitSpec::min_velocity},
      {number("max_acceleration", 0, kUnbounded, units.acceleration, kOpen).randomised(),
       &LimitSpec::max_acceleration},
      {number("max_deceleration", -kUnbounded, 0, units.acceleration,
              "while it moves forward; absent: `max_acceleration_reverse`")
           .randomised(),
       &LimitSpec::max_deceleration},
      {number("max_acceleration_reverse", -kUnbounded, 0, units.acceleration, "absent: `-max_acceleration`")
           .randomised(),
       &LimitSpec::max_acceleration_reverse},
      {number("max_deceleration_reverse", 0, kUnbounded, units.acceleration,
              "while it moves backward; absent: `max_acceleration`")
           .randomised(),
       &LimitSpec::max_deceleration_reverse},
      {number("max_jerk", 0, kUnbounded, units.jerk, kOpen).randomised(), &LimitSpec::max_jerk},
      {number("min_jerk", -kUnbounded, 0, units.jerk, "absent: `-max_jerk`").randomised(),
       &LimitSpec::min_jerk},
  }};
}

constexpr auto kLinear = limit_tags({"m/s", "m/s2", "m/s3"});
constexpr auto kAngular = limit_tags({"rad/s", "rad/s2", "rad/s3"});

constexpr Tag<KinematicsSpec> kKinematics[] = {
    {number("wheel_separation_multiplier", 0.01, 100, "", "believed track over the true one").randomised(),
     &KinematicsSpec::wheel_separation},
    {number("left_wheel_radius_multiplier", 0.01, 100, "", "believed radius over the true one").randomised(),
     &KinematicsSpec::left_radius},
    {number("right_wheel_radius_multiplier", 0.01, 100, "", "the same").randomised(),
     &KinematicsSpec::right_radius}};

constexpr Tag<MotorSpec> kMotor[] = {
    {number_above("stall_torque", 0, 1e6, "N m", "of the rotor, at the rated voltage; needed").randomised(),
     &MotorSpec::stall_torque},
    {number_above("no_load_speed", 0, 1e6, "rad/s", "of the rotor, at the rated voltage; needed")
         .randomised(),
     &MotorSpec::no_load_speed},
    {number("gear_ratio", 1e-3, 1e5, "", "turns of the rotor for one of the wheel").randomised(),
     &MotorSpec::gear_ratio},
    {number_above("efficiency", 0, 1, "", "of the gear").randomised(), &MotorSpec::efficiency},
    {number("rotor_inertia", 0, 1e6, "kg m2").randomised(), &MotorSpec::rotor_inertia},
    {number_above("rated_voltage", 0, 1e5, "V").randomised(), &MotorSpec::rated_voltage},
    {number("battery_voltage", 0, 1e5, "V", "absent: the rated one").randomised(),
     &MotorSpec::battery_voltage},
    {boolean("torque_control",
             "false: a command sets the voltage, its torque falls with the speed; true: it sets the torque, "
             "up to the curve"),
     &MotorSpec::torque_control}};

constexpr Tag<ServoSpec> kServo[] = {
    {degrees("rate", 0, 1e6 * kDegree, "a second; absent: no limit").randomised(), &ServoSpec::rate},
    {number("time_constant", 0, 1e3, "s", "of the first-order lag").randomised(), &ServoSpec::time_constant}};

}  // namespace

constinit const Tags<LimitSpec> kLinearLimitTags = kLinear;
constinit const Tags<LimitSpec> kAngularLimitTags = kAngular;
constinit const Tags<KinematicsSpec> kKinematicsTags = kKinematics;
constinit const Tags<MotorSpec> kMotorTags = kMotor;
constinit const Tags<ServoSpec> kServoTags = kServo;

}  // namespace mvsim
