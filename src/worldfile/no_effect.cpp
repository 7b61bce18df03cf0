// Tags whose content is checked and then has no effect: what a viewer, a server or a recorder would use.
#include <algorithm>

#include "worldfile/expression.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

enum class Kind { kText, kNumber, kPositive, kInt, kBool, kColor, kPoint3, kCullFace };

struct TypedTag {
  std::string_view name;
  Kind kind;
};

constexpr TypedTag kTopTags[] = {{"joystick_enabled", Kind::kBool},
                                 {"server_address", Kind::kText},
                                 {"save_to_rawlog", Kind::kText},
                                 {"rawlog_odometry_rate", Kind::kPositive},
                                 {"save_ground_truth_trajectory", Kind::kText},
                                 {"ground_truth_rate", Kind::kPositive},
                                 {"max_slope_to_collide", Kind::kNumber},
                                 {"min_slope_to_collide", Kind::kNumber}};
constexpr TypedTag kVehicleTags[] = {{"log_path", Kind::kText}};
constexpr TypedTag kSensorTags[] = {{"viz_pointSize", Kind::kNumber},  {"viz_visiblePlane", Kind::kBool},
                                    {"viz_visibleLines", Kind::kBool}, {"viz_visiblePoints", Kind::kBool},
                                    {"viz_pointsColor", Kind::kColor}, {"viz_planeColor", Kind::kColor}};
constexpr TypedTag kPlaneTags[] = {{"cull_face", Kind::kCullFace},
                                   {"texture", Kind::kText},
                                   {"texture_size_x", Kind::kPositive},
                                   {"texture_size_y", Kind::kPositive},
                                   {"enable_shadows", Kind::kBool}};
constexpr TypedTag kElevationTags[] = {{"texture_image", Kind::kText},
                                       {"texture_image_rotate", Kind::kInt},
                                       {"texture_extension_x", Kind::kNumber},
                                       {"texture_extension_y", Kind::kNumber},
                                       {"model_split_size", Kind::kNumber}};
constexpr TypedTag kVisualTags[] = {{"model_uri", Kind::kText},         {"model_scale", Kind::kNumber},
                                    {"model_offset_x", Kind::kNumber},  {"model_offset_y", Kind::kNumber},
                                    {"model_offset_z", Kind::kNumber},  {"model_yaw", Kind::kNumber},
                                    {"model_pitch", Kind::kNumber},     {"model_roll", Kind::kNumber},
                                    {"show_bounding_box", Kind::kBool}, {"name", Kind::kText},
                                    {"model_color", Kind::kColor},      {"model_cull_faces", Kind::kCullFace},
                                    {"model_split_size", Kind::kNumber}};
constexpr TypedTag kPublishTags[] = {{"publish_pose_topic", Kind::kText},
                                     {"publish_pose_period", Kind::kNumber},
                                     {"publish_relative_pose_topic", Kind::kText},
                                     {"publish_relative_pose_objects", Kind::kText}};
constexpr TypedTag kSensorPublishTags[] = {{"publish_topic", Kind::kText}};
constexpr TypedTag kGuiTags[] = {{"win_w", Kind::kInt},
                                 {"win_h", Kind::kInt},
                                 {"start_maximized", Kind::kBool},
                                 {"refresh_fps", Kind::kInt},
                                 {"ortho", Kind::kBool},
                                 {"show_forces", Kind::kBool},
                                 {"force_scale", Kind::kNumber},
                                 {"show_sensor_points", Kind::kBool},
                                 {"fov_deg", Kind::kNumber},
                                 {"cam_distance", Kind::kNumber},
                                 {"cam_azimuth", Kind::kNumber},
                                 {"cam_elevation", Kind::kNumber},
                                 {"cam_point_to", Kind::kPoint3},
                                 {"follow_vehicle", Kind::kText},
                                 {"clip_plane_min", Kind::kNumber},
                                 {"clip_plane_max", Kind::kNumber},
                                 {"headless", Kind::kBool}};
constexpr TypedTag kLightTags[] = {{"enable_shadows", Kind::kBool},
                                   {"shadow_map_size", Kind::kInt},
                                   {"light_azimuth_deg", Kind::kNumber},
                                   {"light_azimuth", Kind::kNumber},
                                   {"light_elevation_deg", Kind::kNumber},
                                   {"light_elevation", Kind::kNumber},
                                   {"light_color", Kind::kColor},
                                   {"light_ambient", Kind::kNumber},
                                   {"light_clip_plane_min", Kind::kNumber},
                                   {"light_clip_plane_max", Kind::kNumber},
                                   {"shadow_bias", Kind::kNumber},
                                   {"shadow_bias_cam2frag", Kind::kNumber},
                                   {"shadow_bias_normal", Kind::kNumber},
                                   {"eye_distance_to_shadow_map_extension", Kind::kNumber},
                                   {"minimum_shadow_map_extension_ratio", Kind::kNumber}};

constexpr TypedTag kGeoreferenceTags[] = {{"latitude", Kind::kNumber},
                                          {"longitude", Kind::kNumber},
                                          {"height", Kind::kNumber},
                                          {"world_to_enu_rotation_deg", Kind::kNumber},
                                          {"world_is_utm", Kind::kBool}};

void check_value(const NamedText& value, Kind kind) {
  switch (kind) {
    case Kind::kText:
      break;
    case Kind::kNumber:
      parse_number(value);
      break;
    case Kind::kPositive:
      check_range({.name = value.name, .min = 0, .open_min = true}, parse_number(value), value.where);
      break;
    case Kind::kInt:
      parse_int(value);
      break;
    case Kind::kBool:
      parse_bool(value);
      break;
    case Kind::kColor:
      parse_color(value);
      break;
    case Kind::kPoint3:
      parse_numbers(value, 2, 3, "x y and optionally z (m)");
      break;
    case Kind::kCullFace: {
      const std::string_view text = trimmed(value.text);
      if (text != "NONE" && text != "BACK" && text != "FRONT")
        throw WorldFileError(value.where, "<" + value.name + ">: found '" + shortened(text) +
                                              "', expected NONE, BACK or FRONT");
    }
  }
}

const TypedTag* find_tag(std::span<const TypedTag> table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const TypedTag& t) { return t.name == name; });
  return found == table.end() ? nullptr : &*found;
}

void check_group(LoadState& state, const Element& e, std::span<const TypedTag> table, const Scope& scope) {
  const Fields fields(state, scope, e);
  std::vector<std::string_view> known{"enabled"};
  for (const TypedTag& tag : table) known.push_back(tag.name);
  fields.warn_unknown(e.tag(), known);
  for (const Element& child : fields.groups()[0].children)
    if (const TypedTag* tag = find_tag(table, child.tag()))
      check_value(text_of(state, child, scope), tag->kind);
  if (const std::optional<NamedText> enabled = attribute_of(state, e, "enabled", scope)) parse_bool(*enabled);
  warn_no_effect(state, e);
}

}  // namespace

void check_visual(LoadState& state, const Element& e, const Scope& scope) {
  check_group(state, e, kVisualTags, scope);
}

std::vector<std::string> visual_names(LoadState& state, const Fields& object) {
  std::vector<std::string> out;
  for (const Element& visual : object.nodes("visual")) {
    const Fields fields(state, object.scope(), visual);
    bool enabled = true;
    fields.read("enabled", enabled);
    const std::optional<NamedText> model = fields.scalar("model_uri");
    if (!enabled || !model || trimmed(model->text).empty()) continue;
    const std::optional<NamedText> name = fields.scalar("name");
    out.emplace_back(name ? trimmed(name->text) : "group");
  }
  return out;
}

void check_publish(LoadState& state, const Element& e, const Scope& scope) {
  check_group(state, e, kPublishTags, scope);
  if (static_cast<bool>(e.node.child("publish_relative_pose_topic")) !=
      static_cast<bool>(e.node.child("publish_relative_pose_objects")))
    throw WorldFileError(
        e.where(),
        "<publish> has one of publish_relative_pose_topic and publish_relative_pose_objects, "
        "expected both or none");
}

void check_sensor_publish(LoadState& state, const Element& e, const Scope& scope) {
  check_group(state, e, kSensorPublishTags, scope);
}

void check_gui(LoadState& state, const Element& e) {
  check_group(state, e, kGuiTags, {});
}

void check_lights(LoadState& state, const Element& e) {
  check_group(state, e, kLightTags, {});
}

// Only a GNSS receiver would look at it. Coordinates of a UTM zone need nothing else: Model::origin.
void check_georeference(LoadState& state, const Element& e) {
  check_group(state, e, kGeoreferenceTags, {});
  const Fields fields(state, {}, e);
  bool utm = false;
  double rotation = 0, latitude = 0, longitude = 0;
  fields.read("world_is_utm", utm);
  fields.read({.name = "world_to_enu_rotation_deg"}, rotation);
  fields.read({.name = "latitude", .min = -90, .max = 90}, latitude);
  fields.read({.name = "longitude", .min = -360, .max = 360}, longitude);
  if (utm && rotation != 0)
    throw WorldFileError(e.where(), "<georeference>: found <world_is_utm> with a rotation of " +
                                        number_text(rotation) +
                                        " degrees, expected <world_to_enu_rotation_deg> 0");
  if (utm && (latitude == 0 || longitude == 0))
    throw WorldFileError(e.where(),
                         "<georeference>: found <world_is_utm> alone, expected <latitude> and <longitude>");
}

void check_skybox(LoadState& state, const Element& e) {
  const Fields fields(state, {}, e);
  const std::optional<NamedText> textures = fields.scalar("textures");
  if (!textures || textures->text.find("%s") == std::string::npos)
    throw WorldFileError(textures ? textures->where : e.where(),
                         "<element class=\"skybox\">: expected <textures> with one %s in it");
  constexpr std::string_view kKnown[] = {"textures"};
  fields.warn_unknown("element class=\"skybox\"", kKnown);
  state.warnings.add("no effect skybox", e.where(),
                     "<element class=\"skybox\"> has no effect in this version");
}

void check_marker(LoadState& state, const Element& e) {
  const NamedText type = required_attribute(state, e, "type", {});
  if (type.text != "line_strip")
    throw WorldFileError(type.where,
                         "<marker>: found type '" + shortened(type.text) + "', expected line_strip");
  const Fields fields(state, {}, e);
  const std::optional<NamedText> points = fields.scalar("points");
  if (!points) throw WorldFileError(e.where(), "<marker> has no <points>");
  constexpr size_t kMostNumbers = 3000000;
  if (parse_numbers(*points, 3, kMostNumbers, "rows of x y z").size() % 3 != 0)
    throw WorldFileError(points->where, "<points>: expected rows of x y z");
  if (const std::optional<NamedText> color = fields.scalar("color")) parse_color(*color);
  if (const std::optional<NamedText> shift = fields.scalar("translation")) check_value(*shift, Kind::kPoint3);
  constexpr std::string_view kKnown[] = {"type", "points", "color", "translation"};
  fields.warn_unknown("marker", kKnown);
  warn_no_effect(state, e);
}

bool check_scalar_without_effect(LoadState& state, const Element& e, std::string_view of,
                                 const Scope& scope) {
  std::span<const TypedTag> table = kTopTags;
  if (of == "vehicle") table = kVehicleTags;
  if (of == "sensor") table = kSensorTags;
  if (of == "horizontal_plane" || of == "vertical_plane") table = kPlaneTags;
  if (of == "elevation_map") table = kElevationTags;
  if (const TypedTag* tag = find_tag(table, e.tag()))
    check_value(text_of(state, e, scope), tag->kind);
  else if (of != "sensor")
    return false;
  warn_no_effect(state, e);
  return true;
}

}  // namespace mvsim
