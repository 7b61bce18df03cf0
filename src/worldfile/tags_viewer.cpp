// Tags of <visual>, lights, sky, markers and the like, and tags that only a viewer or a recorder would use.
// Values of the latter are checked and have no effect. The rows of an element without any effect, such as
// <gui>, do not repeat that.
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

constexpr Tag<VisualSpec> kVisual[] = {
    boolean("enabled", "`false`: as if it were not there"),
    any_text("model_uri", "a mesh: `dae`, `stl`, `obj`, `fbx`, `glb` or `ply`; absent: the tag is ignored"),
    {number_above("model_scale", 0, 1e6), &VisualSpec::scale},
    {number("model_offset_x", -kFarthest, kFarthest, "m"), &VisualSpec::x},
    {number("model_offset_y", -kFarthest, kFarthest, "m"), &VisualSpec::y},
    {number("model_offset_z", -kFarthest, kFarthest, "m"), &VisualSpec::z},
    {degrees("model_yaw", -kMaxTurn, kMaxTurn), &VisualSpec::yaw},
    {degrees("model_pitch", -kMaxTurn, kMaxTurn, "positive: nose down"), &VisualSpec::pitch},
    {degrees("model_roll", -kMaxTurn, kMaxTurn, "90 stands a mesh upright, which is read with y up"),
     &VisualSpec::roll},
    boolean("show_bounding_box").without_effect(),
    any_text("name", "what `linked_yaw` of a wheel calls it; absent: `group`"),
    {color("model_color", "another one than white: instead of the colours of the materials"),
     &VisualSpec::color},
    {choice("model_cull_faces", kFaces, "the side of the triangles that is not drawn"), &VisualSpec::cull},
    any_number("model_split_size", "m", "a mesh is one here").without_effect()};

}  // namespace

constinit const PlainTags kSensorViewerTags = kSensorViewer;
constinit const PlainTags kGuiTags = kGui;
constinit const Tags<LightsSpec> kLightTags = kLight;
constinit const Tags<MarkerSpec> kMarkerTags = kMarker;
constinit const PlainTags kSkyboxTags = kSkybox;
constinit const Tags<GeoreferenceSpec> kGeoreferenceTags = kGeoreference;

constinit const Tags<VisualSpec> kVisualTags = kVisual;

}  // namespace mvsim
