#include "vehicle/car.h"

#include <algorithm>
#include <cmath>

namespace mvsim {
namespace {

// place_wheels() puts the front wheels to their places.
constexpr WheelSlot kSlots[] = {{"rl_wheel", {0, 0.9}, true},
                                {"rr_wheel", {0, -0.9}, true},
                                {"fl_wheel", {}, true},
                                {"fr_wheel", {}, true}};

enum { kFrontX, kFrontTrack };
constexpr ParamInfo kGeometry[] = {
    {.name = "f_wheels_x", .fallback = 1.3, .min = -1e6, .max = 1e6, .unit = "m"},
    {.name = "f_wheels_d", .fallback = 2, .min = 0, .max = 1e6, .is_min_excluded = true, .unit = "m"},
};

}  // namespace

FrontAngles ackermann_angles(std::span<const WheelModel> wheels, double max_steer, double steer) {
  const double size = std::min(std::fabs(steer), max_steer);
  if (size == 0) return {};
  const double track = wheels[kFrontLeft].position.y - wheels[kFrontRight].position.y;
  const double part = track / (2 * wheelbase(wheels));
  const SinCos sc = sin_cos(size);
  const double cot = sc.cos / sc.sin;
  const double outer = math::atan2(1, cot + part), inner = math::atan2(1, cot - part);
  return steer > 0 ? FrontAngles{inner, outer} : FrontAngles{-outer, -inner};
}

const FrontMemo& front_angles(std::span<const WheelModel> wheels, double max_steer, double steer,
                              FrontMemo& memo) {
  if (steer != memo.wanted || max_steer != memo.max) {
    const FrontAngles angles = ackermann_angles(wheels, max_steer, steer);
    memo.wanted = steer, memo.max = max_steer;
    memo.left = angles.left, memo.right = angles.right;
  }
  return memo;
}

namespace {

Rotation2 rotation_towards(double x, double y) {
  const double inverse = 1 / std::sqrt(x * x + y * y);
  Rotation2 out;
  out.c = x * inverse;
  out.s = y * inverse;
  return out;
}

}  // namespace

FrontRotations front_rotations(std::span<const WheelModel> wheels, Vec2 heading) {
  if (heading.y == 0) return {};
  const double track = wheels[kFrontLeft].position.y - wheels[kFrontRight].position.y;
  const double shift = track / (2 * wheelbase(wheels)) * heading.y;
  return {rotation_towards(heading.x - shift, heading.y), rotation_towards(heading.x + shift, heading.y)};
}

const FrontMemo& front_rotations(std::span<const WheelModel> wheels, double steer, FrontMemo& memo) {
  if (steer == memo.wanted) return memo;
  const SinCos sc = sin_cos(steer);
  memo.wanted = steer;
  memo.rotations = front_rotations(wheels, {sc.cos, sc.sin});
  memo.left = math::atan2(memo.rotations.left.s, memo.rotations.left.c);
  memo.right = math::atan2(memo.rotations.right.s, memo.rotations.right.c);
  return memo;
}

double wheelbase(std::span<const WheelModel> wheels) {
  return wheels[kFrontLeft].position.x - wheels[kRearLeft].position.x;
}

double steer_of_twist(double wheelbase, double vx, double omega) {
  if (omega == 0) return 0;
  return math::atan2(vx < 0 ? -wheelbase * omega : wheelbase * omega, std::fabs(vx));
}

std::span<const WheelSlot> Car::wheel_slots() const {
  return kSlots;
}

std::span<const ParamInfo> Car::geometry() const {
  return kGeometry;
}

void Car::place_wheels(const double* geometry, std::span<WheelModel> wheels) const {
  wheels[kFrontLeft].position = {geometry[kFrontX], geometry[kFrontTrack] / 2};
  wheels[kFrontRight].position = {geometry[kFrontX], -geometry[kFrontTrack] / 2};
}

std::string_view Car::check_wheels(std::span<const WheelModel> wheels, const Controller&) const {
  if (wheels[kRearLeft].position.y == wheels[kRearRight].position.y)
    return "the rear wheels have the same y: odometry cannot tell them apart";
  if (!(wheelbase(wheels) > 0))
    return "the front wheels (f_wheels_x) are not ahead of rl_wheel, expected a wheelbase above 0";
  return {};
}

void Car::steer_and_brake(const double* p, const double* actuation, std::span<const WheelModel> wheels,
                          std::span<WheelState> states, SteerMemo& memo) {
  const FrontMemo& angles = front_angles(wheels, p[kMaxSteer], actuation[kCarSteer], memo.steered);
  states[kFrontLeft].steer = angles.left;
  states[kFrontRight].steer = angles.right;
  for (WheelState& wheel : states) wheel.brake = actuation[kCarBrake];
}

}  // namespace mvsim
