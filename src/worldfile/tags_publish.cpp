#include "worldfile/tags.h"

namespace mvsim {
namespace {

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

Tags<PublicationSpec> publish_tags() {
  return kPublish;
}
PlainTags sensor_publish_tags() {
  return kSensorPublish;
}

}  // namespace mvsim
