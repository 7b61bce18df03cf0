// What a viewer or a recorder would use: its values are checked and then have no effect. The
// rows below an element that has none as a whole (<gui>, <lights>...) say no more of it.
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

constexpr TagInfo kLight[] = {boolean("enabled"),
                              boolean("enable_shadows"),
                              any_integer("shadow_map_size"),
                              any_number("light_azimuth_deg", "deg"),
                              any_number("light_azimuth"),
                              any_number("light_elevation_deg", "deg"),
                              any_number("light_elevation"),
                              color("light_color"),
                              any_number("light_ambient"),
                              any_number("light_clip_plane_min", "m"),
                              any_number("light_clip_plane_max", "m"),
                              any_number("shadow_bias"),
                              any_number("shadow_bias_cam2frag"),
                              any_number("shadow_bias_normal"),
                              any_number("eye_distance_to_shadow_map_extension"),
                              any_number("minimum_shadow_map_extension_ratio")};

constexpr Tag<MarkerSpec> kMarker[] = {own("type", "`line_strip`"),
                                       own("points", "rows of x y z"),
                                       {color("color"), &MarkerSpec::color},
                                       point("translation")};

constexpr TagInfo kSkybox[] = {own("textures", "the name of a file with one `%s`")};

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
PlainTags light_tags() {
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
