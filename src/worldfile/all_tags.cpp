#include <cstdio>

#include "worldfile/tags.h"

namespace mvsim {
namespace {

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// As a file would give it.
std::string text_of(const TagInfo& tag, double value) {
  return short_text(tag.type == TagType::kDegrees ? value / kDegree : value);
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
  list.add("world", world_tags());
  list.add("placement", placement_tags());
  list.add("vehicle", vehicle_tags());
  list.add("chassis", chassis_tags());
  list.add("wheel", wheel_tags());
  list.add("odometry", odometry_tags());
  list.add("limits linear", linear_limit_tags());
  list.add("limits angular", angular_limit_tags());
  list.add("kinematics", kinematics_tags());
  list.add("motor", motor_tags());
  list.add("servo", servo_tags());
  list.add("block", block_trait_tags());
  list.add("block", block_tags());
  list.add("geometry", geometry_tags());
  list.add("geometry", geometry_size_tags());
  list.add("walls", walls_tags());
  list.add("actor", actor_tags());
  list.add("waypoint", waypoint_tags());
  list.add("joint", joint_tags());
  list.add("distance joint", distance_joint_tags());
  list.add("revolute joint", revolute_joint_tags());
  list.add("occupancy_grid", occupancy_grid_tags());
  list.add("elevation_map", elevation_map_tags());
  list.add("horizontal_plane", extent_tags(), kPlane.extent);
  list.add("horizontal_plane", horizontal_plane_tags());
  list.add("horizontal_plane", plane_texture_tags());
  list.add("vertical_plane", vertical_plane_tags());
  list.add("vertical_plane", plane_texture_tags());
  list.add("door", opening_tags());
  list.add("property_region", property_region_tags());
  list.add("property_region", extent_tags(), kRegion.extent);
  list.add("ground_grid", ground_grid_tags());
  list.add("ground_grid", extent_tags(), kGrid.extent);
  list.add("pointcloud", point_cloud_tags());
  list.add("visual", visual_tags());
  list.add("publish", publish_tags());
  list.add("sensor publish", sensor_publish_tags());
  list.add("sensor", sensor_viewer_tags());
  list.add("gui", gui_tags());
  list.add("lights", light_tags());
  list.add("marker", marker_tags());
  list.add("skybox", skybox_tags());
  list.add("georeference", georeference_tags());
  return list.take();
}

}  // namespace mvsim
