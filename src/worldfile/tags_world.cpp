// Of the world itself, and of what holds its bodies together.
#include "worldfile/tags.h"

namespace mvsim {
namespace {

constexpr Tag<WorldSpec> kWorld[] = {
    {number("simul_timestep", kShortestPeriod, 1, "s", "the step")
         .or_value(0, "automatic: the shortest sensor period, at most 5 ms"),
     &WorldSpec::timestep},
    {number("gravity", 0, 1000, "m/s2"), &WorldSpec::gravity},
    {integer("b2d_vel_iters", 1, 1000, "solver iterations on velocities"), &WorldSpec::velocity_iterations},
    {integer("b2d_pos_iters", 1, 1000, "solver iterations on positions"), &WorldSpec::position_iterations},
    {number("collision_threshold", 0, 10, "m", "distance that counts as a collision"),
     &WorldSpec::collision_threshold},
    boolean("joystick_enabled").without_effect(),
    any_text("server_address").without_effect(),
    any_text("save_to_rawlog").without_effect(),
    number_above("rawlog_odometry_rate", 0, kMaxNumber, "Hz").without_effect(),
    any_text("save_ground_truth_trajectory").without_effect(),
    number_above("ground_truth_rate", 0, kMaxNumber, "Hz").without_effect(),
    any_number("max_slope_to_collide").without_effect(),
    any_number("min_slope_to_collide").without_effect()};

constexpr TagInfo kJoint[] = {
    own("type", "needed, see below"), own("body_a", "needed: a vehicle or a tangible block"),
    own("body_b", "needed, another one"), own("anchor_a", "needed: x y in the frame of `body_a` (m)"),
    own("anchor_b", "needed: x y in the frame of `body_b` (m)")};

constexpr double kMaxStiffness = 1e9;
constexpr double kMinLength = 0.01;  // m; Box2D takes less than half a centimetre for none
constexpr Tag<JointSpec> kDistance[] = {
    {number("max_length", kMinLength, kMaxLength, "m"), &JointSpec::max_length},
    {number("min_length", 0, kMaxLength, "m"), &JointSpec::min_length},
    {number("stiffness", 0, kMaxStiffness, "N/m", "with it also a spring whose rest is `max_length`"),
     &JointSpec::stiffness},
    {number("damping", 0, kMaxStiffness, "N s/m", "of that spring"), &JointSpec::damping}};
constexpr Tag<JointSpec> kRevolute[] = {
    {boolean("enable_limit"), &JointSpec::limited},
    {degrees("lower_angle_deg", -kMaxTurn, kMaxTurn), &JointSpec::lower_angle},
    {degrees("upper_angle_deg", -kMaxTurn, kMaxTurn), &JointSpec::upper_angle}};

}  // namespace

Tags<WorldSpec> world_tags() {
  return kWorld;
}
PlainTags joint_tags() {
  return kJoint;
}
Tags<JointSpec> distance_joint_tags() {
  return kDistance;
}
Tags<JointSpec> revolute_joint_tags() {
  return kRevolute;
}

}  // namespace mvsim
