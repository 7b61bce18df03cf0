// Tags of the world itself, of joints between its bodies, of <actor> (people on paths) and of <publish>.
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

constexpr double kMaxActorSpeed = 1e3;  // m/s

constexpr Tag<ActorSpec> kActor[] = {
    {number_above("walking_speed", 0, kMaxActorSpeed, "m/s"), &ActorSpec::walking_speed},
    {number_above("running_speed", 0, kMaxActorSpeed, "m/s"), &ActorSpec::running_speed},
    {boolean("solid", "has a body: vehicles run into it, lidars see it, it is counted as a person"),
     &ActorSpec::solid},
    {number_above("height", 0, 100, "m", "without effect"), &ActorSpec::height},
    {number_above("collision_radius", 0, 100, "m", "of the figure that is drawn, and of its body"),
     &ActorSpec::collision_radius},
    {number_above("collision_height", 0, 100, "m", "the same"), &ActorSpec::collision_height},
    any_text("animation_idle", "of a model: without effect"),
    any_text("animation_walk", "the same"),
    any_text("animation_run", "the same"),
    any_text("turning_rate", "without effect, as in MVSim"),
    own("path", "its `waypoint`s: x y yaw, or x y z yaw pitch roll; `loop`: true unless it says false"),
    own("visual", "a model in place of the figure, whose limbs do not move")};

constexpr Tag<WaypointSpec> kWaypoint[] = {{number("pause", 0, 1e6, "s", "there"), &WaypointSpec::pause},
                                           own("animation", "`walk`, `run` or `idle`: on the way there")};

constexpr Tag<PublicationSpec> kPublish[] = {
    boolean("enabled", "`false`: as without `publish`"),
    any_text("publish_pose_topic", "of its pose, instead of `/NAME/pose`"),
    {number("publish_pose_period", 0, 1e6, "s", "of the wall between two poses; 0: at each step"),
     &PublicationSpec::period},
    any_text("publish_relative_pose_topic", "of the poses of others in its frame"),
    any_text("publish_relative_pose_objects",
             "these others: names of vehicles and blocks, between blanks or commas; both or none")};

constexpr TagInfo kSensorPublish[] = {
    boolean("enabled", "`false`: as without `publish`"),
    any_text("publish_topic",
             "of its readings, instead of `/VEHICLE/SENSOR`; a `laser` has another with `_scan` behind it")};

}  // namespace

constinit const Tags<WorldSpec> kWorldTags = kWorld;
constinit const PlainTags kJointTags = kJoint;
constinit const Tags<JointSpec> kDistanceJointTags = kDistance;
constinit const Tags<JointSpec> kRevoluteJointTags = kRevolute;

constinit const Tags<ActorSpec> kActorTags = kActor;
constinit const Tags<WaypointSpec> kWaypointTags = kWaypoint;

constinit const Tags<PublicationSpec> kPublishTags = kPublish;
constinit const PlainTags kSensorPublishTags = kSensorPublish;

}  // namespace mvsim
