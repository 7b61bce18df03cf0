#include <cstdio>

#include "worldfile/tags.h"

namespace mvsim {
namespace {

// As a file would give it.
std::string text_of(const TagInfo& tag, double value) {
  return short_number(tag.type == TagType::kDegrees ? value / kDegree : value, 9);
}
std::string text_of(const TagInfo& /*tag*/, int value) {
  return std::to_string(value);
}
std::string text_of(const TagInfo& /*tag*/, bool value) {
  return value ? "true" : "false";
}
std::string text_of(const TagInfo& /*tag*/, const Color& c) {
  char text[16];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.r, c.g, c.b);
  return text;
}
std::string text_of(const TagInfo& tag, CullFaces faces) {
  return std::string(tag.range.choices[static_cast<size_t>(faces)]);
}
template <typename T>
std::string text_of(const TagInfo& tag, const std::optional<T>& value) {
  return value ? text_of(tag, *value) : "";
}

class List {
 public:
  // The defaults are those of the struct's own initialisers, or of `spec`.
  template <typename Spec>
  void add(const std::string& element, Tags<Spec> tags) {
    static const Spec kDefaults{};
    add(element, tags, kDefaults);
  }
  template <typename Spec>
  void add(const std::string& element, Tags<Spec> tags, const Spec& spec) {
    for (const Tag<Spec>& tag : tags)
      rows_.push_back(
          {element, tag, std::visit([&](auto member) { return fallback(tag, spec, member); }, tag.field)});
  }
  void add(const std::string& element, PlainTags tags) {
    for (const TagInfo& tag : tags) rows_.push_back({element, tag, ""});
  }
  std::vector<TagRow> take() { return std::move(rows_); }

 private:
  template <typename Spec>
  static std::string fallback(const TagInfo&, const Spec&, std::monostate) {
    return "";
  }
  template <typename Spec, typename Member>
  static std::string fallback(const TagInfo& tag, const Spec& spec, Member member) {
    return text_of(tag, spec.*member);
  }

  std::vector<TagRow> rows_;
};

}  // namespace

std::vector<TagRow> all_tags() {
  static const HorizontalPlaneSpec kPlane{};
  static const PropertyRegionSpec kRegion{};
  static const GroundGridSpec kGrid{};
  List list;
  list.add("world", kWorldTags);
  list.add("placement", kPlacementTags);
  list.add("vehicle", kVehicleTags);
  list.add("chassis", kChassisTags);
  list.add("wheel", kWheelTags);
  list.add("odometry", kOdometryTags);
  list.add("limits linear", kLinearLimitTags);
  list.add("limits angular", kAngularLimitTags);
  list.add("kinematics", kKinematicsTags);
  list.add("motor", kMotorTags);
  list.add("servo", kServoTags);
  list.add("block", kBlockTraitTags);
  list.add("block", kBlockTags);
  list.add("geometry", kGeometryTags);
  list.add("geometry", kGeometrySizeTags);
  list.add("walls", kWallsTags);
  list.add("actor", kActorTags);
  list.add("waypoint", kWaypointTags);
  list.add("joint", kJointTags);
  list.add("distance joint", kDistanceJointTags);
  list.add("revolute joint", kRevoluteJointTags);
  list.add("occupancy_grid", kOccupancyGridTags);
  list.add("elevation_map", kElevationMapTags);
  list.add("horizontal_plane", kExtentTags, kPlane.extent);
  list.add("horizontal_plane", kHorizontalPlaneTags);
  list.add("horizontal_plane", kPlaneTextureTags);
  list.add("vertical_plane", kVerticalPlaneTags);
  list.add("vertical_plane", kPlaneTextureTags);
  list.add("door", kOpeningTags);
  list.add("property_region", kPropertyRegionTags);
  list.add("property_region", kExtentTags, kRegion.extent);
  list.add("ground_grid", kGroundGridTags);
  list.add("ground_grid", kExtentTags, kGrid.extent);
  list.add("pointcloud", kPointCloudTags);
  list.add("visual", kVisualTags);
  list.add("publish", kPublishTags);
  list.add("sensor publish", kSensorPublishTags);
  list.add("sensor", kSensorViewerTags);
  list.add("gui", kGuiTags);
  list.add("lights", kLightTags);
  list.add("marker", kMarkerTags);
  list.add("skybox", kSkyboxTags);
  list.add("georeference", kGeoreferenceTags);
  return list.take();
}

}  // namespace mvsim
