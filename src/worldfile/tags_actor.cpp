// Of people on paths.
#include "worldfile/tags.h"

namespace mvsim {
namespace {

constexpr double kMaxSpeed = 1e3;  // m/s

constexpr Tag<ActorSpec> kActor[] = {
    {number_above("walking_speed", 0, kMaxSpeed, "m/s"), &ActorSpec::walking_speed},
    {number_above("running_speed", 0, kMaxSpeed, "m/s"), &ActorSpec::running_speed},
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

}  // namespace

Tags<ActorSpec> actor_tags() {
  return kActor;
}
Tags<WaypointSpec> waypoint_tags() {
  return kWaypoint;
}

}  // namespace mvsim
