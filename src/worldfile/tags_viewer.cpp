// Of what people and cameras see beside the things of a world; and what a viewer or a recorder would use,
// whose values are checked and then have no effect: the rows below an element that has none as a whole
// (<gui>) say no more of it.
#include "worldfile/tags.h"

namespace mvsim {
namespace {

constexpr TagInfo kSensorViewer[] = {
    any_number("viz_pointSize").without_effect(), boolean("viz_visiblePlane").without_effect(),
    boolean("viz_visibleLines").without_effect(), boolean("viz_visiblePoints").without_effect(),
    color("viz_pointsColor").without_effect(),    color("viz_planeColor").without_effect()};

constexpr TagInfo kGui[] = {boolean("enabled"),
                            any_integer("win_w"),
                            any_integer("win_h"),
                            boolean("start_maximized"),
                            any_integer("refresh_fps"),
                            boolean("ortho"),
                            boolean("show_forces"),
                            any_number("force_scale"),
                            boolean("show_sensor_points"),
                            any_number("fov_deg", "deg"),
                            any_number("cam_distance", "m"),
                            any_number("cam_azimuth", "deg"),
                            any_number("cam_elevation", "deg"),
                            point("cam_point_to"),
                            any_text("follow_vehicle"),
                            any_number("clip_plane_min", "m"),
                            any_number("clip_plane_max", "m"),
                            boolean("headless")};

constexpr std::string_view kShadowMap = "of MVSim's shadow maps: shadows need none here";
constexpr TagInfo shadow_map(std::string_view name, std::string_view unit = {}) {
  return any_number(name, unit, kShadowMap);
}

constexpr Tag<LightsSpec> kLight[] = {
    boolean("enabled", "`false`: as if it were not there"),
    {boolean("enable_shadows", "of the sun, for cameras and for people"), &LightsSpec::has_shadows},
    {degrees("light_azimuth", -kMaxTurn, kMaxTurn, "the same as `light_azimuth_deg`"), &LightsSpec::azimuth},
    {degrees("light_azimuth_deg", -kMaxTurn, kMaxTurn, "where the sun stands: 0 is +x, 90 is +y"),
     &LightsSpec::azimuth},
    {degrees("light_elevation", -kMaxTurn, kMaxTurn, "the same as `light_elevation_deg`"),
     &LightsSpec::elevation},
    {degrees("light_elevation_deg", -kMaxTurn, kMaxTurn, "90: straight above"), &LightsSpec::elevation},
    {color("light_color", "of the sun"), &LightsSpec::color},
    {number("light_ambient", 0, 1, "", "how bright things are where the sun does not reach"),
     &LightsSpec::ambient},
    integer("shadow_map_size", -kMaxNumber, kMaxNumber, kShadowMap),
    shadow_map("light_clip_plane_min", "m"),
    shadow_map("light_clip_plane_max", "m"),
    shadow_map("shadow_bias"),
    shadow_map("shadow_bias_cam2frag"),
    shadow_map("shadow_bias_normal"),
    shadow_map("eye_distance_to_shadow_map_extension"),
    shadow_map("minimum_shadow_map_extension_ratio")};

constexpr Tag<MarkerSpec> kMarker[] = {own("type", "`line_strip`"),
                                       own("points", "rows of x y z"),
                                       {color("color"), &MarkerSpec::color},
                                       point("translation")};

constexpr TagInfo kSkybox[] = {own(
    "textures", "PNG or JPEG: a name with one `%s`, which stands for Front, Back, Down, Up, Left, Right")};

constexpr Tag<GeoreferenceSpec> kGeoreference[] = {
    boolean("enabled"),
    {number("latitude", -90, 90, "deg"), &GeoreferenceSpec::latitude},
    {number("longitude", -360, 360, "deg"), &GeoreferenceSpec::longitude},
    {any_number("height", "m"), &GeoreferenceSpec::height},
    {any_number("world_to_enu_rotation_deg", "deg"), &GeoreferenceSpec::rotation},
    {boolean("world_is_utm"), &GeoreferenceSpec::is_utm}};

}  // namespace

PlainTags sensor_viewer_tags() {
  return kSensorViewer;
}
PlainTags gui_tags() {
  return kGui;
}
Tags<LightsSpec> light_tags() {
  return kLight;
}
Tags<MarkerSpec> marker_tags() {
  return kMarker;
}
PlainTags skybox_tags() {
  return kSkybox;
}
Tags<GeoreferenceSpec> georeference_tags() {
  return kGeoreference;
}

}  // namespace mvsim
