// Tags of <element class="...">.
#include "assets/map_files.h"
#include "worldfile/tags.h"

namespace mvsim {
namespace {

constexpr TagInfo place(std::string_view name, std::string_view text = {}) {
  return number(name, -kFarthest, kFarthest, "m", text);
}

constexpr Tag<Rect> kExtent[] = {{place("x_min"), &Rect::x_min},
                                 {place("x_max"), &Rect::x_max},
                                 {place("y_min"), &Rect::y_min},
                                 {place("y_max"), &Rect::y_max}};

constexpr TagInfo kElementVisual = own("visual", "a model that is drawn beside it");

constexpr double kMaxPixel = 1e6;
constexpr Tag<OccupancyGridSpec> kGrid[] = {
    own("file",
        "needed: an image (dark is occupied), a ROS map_server `.yaml`, or a serialized grid of MRPT "
        "(`.gridmap`, `.gridmap.gz`)"),
    {number("resolution", kMinResolution, kMaxResolution, "m",
            "of a pixel of an image; a `.yaml` or `.gridmap` says itself where it lies"),
     &OccupancyGridSpec::resolution},
    {number("centerpixel_x", -kMaxPixel, kMaxPixel, "",
            "from the lower left corner, with `centerpixel_y`; absent: the middle"),
     &OccupancyGridSpec::center_x},
    {number("centerpixel_y", -kMaxPixel, kMaxPixel), &OccupancyGridSpec::center_y},
    boolean("show_collisions").without_effect(),
    {number("restitution", 0, 1), &OccupancyGridSpec::restitution},
    {number("lateral_friction", 0, 1e3), &OccupancyGridSpec::lateral_friction},
    kElementVisual};

constexpr Tag<ElevationMapSpec> kElevationMap[] = {
    own("elevation_image", "PNG or PGM of 8 or 16 bits, no gamma"),
    {place("elevation_image_min_z", "height of its darkest grey"), &ElevationMapSpec::min_z},
    {place("elevation_image_max_z", "height of its brightest grey"), &ElevationMapSpec::max_z},
    own("elevation_data_matrix", "heights in its place: `[a b; c d]` or a row a line"),
    {number("elevation_data_matrix_scale", -kFarthest, kFarthest, "", "these are multiplied with it"),
     &ElevationMapSpec::data_scale},
    own("dem_xyzrgb_file", "a text file of rows `x y z r g b` in their place: each node takes the nearest"),
    own("dem_offset_x", "added to these points (m)"),
    own("dem_offset_y"),
    own("dem_offset_z"),
    own("apply_kernel", "a square of weights, convolved with the heights"),
    {number("resolution", 1e-3, 1e4, "m", "between nodes"), &ElevationMapSpec::resolution},
    {place("corner_min_x", "absent: centred on the origin; of a DEM the lowest of its points"),
     &ElevationMapSpec::corner_x},
    {place("corner_min_y", "the same"), &ElevationMapSpec::corner_y},
    {color("mesh_color", "where there is no texture"), &ElevationMapSpec::color},
    own("texture_image",
        "PNG or JPEG: its rows lie along +x, its columns along +y, as those of `elevation_image`"),
    own("texture_image_rotate", "0, 90, -90, 180 or -180 deg"),
    own("texture_extension_x", "of one copy of it (m); 0: all of the map"),
    own("texture_extension_y"),
    any_number("model_split_size", "m", "a map is one mesh here").without_effect(),
    kElementVisual};

constexpr Tag<HorizontalPlaneSpec> kHorizontalPlane[] = {
    {place("z"), &HorizontalPlaneSpec::z},
    {color("color"), &HorizontalPlaneSpec::color},
    {choice("cull_face", kFaces, "the side that is not drawn; `FRONT` is the upper one"),
     &HorizontalPlaneSpec::cull},
    {boolean("enable_shadows", "above 0 it throws a shadow, unless `FRONT` is not drawn"),
     &HorizontalPlaneSpec::casts_shadow},
    kElementVisual};

constexpr Tag<TextureSpec> kPlaneTexture[] = {
    own("texture", "PNG or JPEG, in place of the colour"),
    {number_above("texture_size_x", 0, kMaxNumber, "m", "of one copy of it"), &TextureSpec::size_x},
    {number_above("texture_size_y", 0, kMaxNumber, "m"), &TextureSpec::size_y}};

constexpr Tag<VerticalPlaneSpec> kVerticalPlane[] = {
    {place("x0"), &VerticalPlaneSpec::x0},
    {place("y0"), &VerticalPlaneSpec::y0},
    {place("x1"), &VerticalPlaneSpec::x1},
    {place("y1"), &VerticalPlaneSpec::y1},
    {place("z"), &VerticalPlaneSpec::z},
    {number_above("height", 0, kFarthest, "m"), &VerticalPlaneSpec::height},
    {number("thickness", kThinnest, kFarthest, "m"), &VerticalPlaneSpec::thickness},
    {color("color"), &VerticalPlaneSpec::color},
    choice("cull_face", kFaces, "a wall has a thickness, and is seen from both sides").without_effect(),
    {boolean("enable_shadows", "it throws one"), &VerticalPlaneSpec::casts_shadow},
    kElementVisual,
    own("door", "a gap from floor to top"),
    own("window", "a hole for eyes: bodies and 2D lidars find the wall solid, as in MVSim")};

constexpr Tag<OpeningSpec> kOpening[] = {
    {any_number("position", "", "as a share of the wall's length"), &OpeningSpec::position},
    {place("width"), &OpeningSpec::width},
    {place("z_start", "the same as `z_min`"), &OpeningSpec::z_min},
    {place("z_end", "the same as `z_max`"), &OpeningSpec::z_max},
    {place("z_min", "of what is drawn, absolute; a door is a gap for bodies from floor to top"),
     &OpeningSpec::z_min},
    {place("z_max"), &OpeningSpec::z_max},
    any_text("name")};

constexpr Tag<PropertyRegionSpec> kRegion[] = {
    own("property_name", "see below"),
    own("value_double"),
    own("value_bool"),
    own("value_string"),
    {place("z_min", "must not be above 0"), &PropertyRegionSpec::z_min},
    {place("z_max", "must not be below 0"), &PropertyRegionSpec::z_max}};

constexpr Tag<PointCloudSpec> kPointCloud[] = {
    own("file_txt_3d", "rows of x y z (m); this or `file_txt_2d` is needed"),
    own("file_txt_2d", "rows of x y"),
    own("file", "the same as `file_txt_3d`"),
    {number_above("points_size", 0, 1000, "px", "a point is drawn 5 mm wide a pixel"), &PointCloudSpec::size},
    {number_above("render_points_size", 0, 1000, "px", "the same"), &PointCloudSpec::size},
    own("pose_3d", "x y z yaw pitch roll (m, degrees)"),
    kElementVisual};

constexpr Tag<GroundGridSpec> kGroundGrid[] = {
    {boolean("floating", "it moves along with a vehicle, in steps of `interval`"), &GroundGridSpec::floating},
    any_text("floating_focus", "the name of that vehicle; absent: the one whose name comes first"),
    any_text("float_center_at_vehicle_name", "the same"),
    {number_above("interval", 0, kFarthest, "m"), &GroundGridSpec::interval},
    {color("color"), &GroundGridSpec::color},
    {number("line_width", 0, 1000, "px", "a line is drawn 2 cm wide a pixel"), &GroundGridSpec::line_width}};

}  // namespace

constinit const Tags<Rect> kExtentTags = kExtent;
constinit const Tags<OccupancyGridSpec> kOccupancyGridTags = kGrid;
constinit const Tags<ElevationMapSpec> kElevationMapTags = kElevationMap;
constinit const Tags<TextureSpec> kPlaneTextureTags = kPlaneTexture;
constinit const Tags<HorizontalPlaneSpec> kHorizontalPlaneTags = kHorizontalPlane;
constinit const Tags<VerticalPlaneSpec> kVerticalPlaneTags = kVerticalPlane;
constinit const Tags<OpeningSpec> kOpeningTags = kOpening;
constinit const Tags<PropertyRegionSpec> kPropertyRegionTags = kRegion;
constinit const Tags<PointCloudSpec> kPointCloudTags = kPointCloud;
constinit const Tags<GroundGridSpec> kGroundGridTags = kGroundGrid;

}  // namespace mvsim
