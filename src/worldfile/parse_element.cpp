#include <algorithm>
#include <cmath>

#include "assets/map_yaml.h"
#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMostYamlBytes = 1 << 20;

constexpr std::string_view kGridTags[] = {
    "file",        "resolution",      "centerpixel_x", "centerpixel_y", "show_collisions",
    "restitution", "lateral_friction"};
constexpr std::string_view kPlaneTags[] = {"x_min",
                                           "x_max",
                                           "y_min",
                                           "y_max",
                                           "z",
                                           "color",
                                           "cull_face",
                                           "texture",
                                           "texture_size_x",
                                           "texture_size_y",
                                           "enable_shadows",
                                           "init_pose",
                                           "init_pose3d",
                                           "init_vel",
                                           "publish",
                                           "skip_elevation_adjust",
                                           "animation"};
constexpr std::string_view kGroundTags[] = {"floating",  "floating_focus", "float_center_at_vehicle_name",
                                            "x_min",     "x_max",          "y_min",
                                            "y_max",     "interval",       "color",
                                            "line_width"};
constexpr std::string_view kRegionTags[] = {"property_name", "value_double", "value_bool", "value_string",
                                            "x_min",         "x_max",        "y_min",      "y_max",
                                            "z_min",         "z_max"};
constexpr std::string_view kNotBuilt[] = {"pointcloud", "point_cloud"};

template <typename Check>
void check_without_effect(LoadState& state, const Fields& fields, const char* name, Check check) {
  const std::optional<NamedText> text = fields.scalar(name);
  if (!text) return;
  check(*text);
  state.warnings.add(std::string("no effect ") + name, text->where,
                     "<" + std::string(name) + "> has no effect in this version");
}

void read_extent(const Fields& fields, const Element& e, Rect& extent) {
  fields.read({.name = "x_min", .min = -kFarthest, .max = kFarthest}, extent.x_min);
  fields.read({.name = "x_max", .min = -kFarthest, .max = kFarthest}, extent.x_max);
  fields.read({.name = "y_min", .min = -kFarthest, .max = kFarthest}, extent.y_min);
  fields.read({.name = "y_max", .min = -kFarthest, .max = kFarthest}, extent.y_max);
  if (!(extent.x_min < extent.x_max && extent.y_min < extent.y_max))
    throw WorldFileError(e.where(), "<element>: expected x_min < x_max and y_min < y_max");
}

// Some maps say themselves where they lie; that wins over tags beside it.
void warn_of_placement(LoadState& state, const Fields& fields) {
  for (const char* tag : {"resolution", "centerpixel_x", "centerpixel_y"})
    if (const std::optional<NamedText> ignored = fields.scalar(tag))
      state.warnings.add(std::string("the map wins ") + tag, ignored->where,
                         "<" + ignored->name + "> is ignored: the map's file says where it lies");
}

void read_grid_image(LoadState& state, const OpenFile& file, OccupancyGridSpec& out) {
  out.image_path = file.path();
  out.image = decoded(out.where, "<element class=\"occupancy_grid\">",
                      [&] { return state.session.cache.image(file, out.where, state.session.guard); });
}

void read_yaml(LoadState& state, const Fields& fields, const OpenFile& file, OccupancyGridSpec& out) {
  const std::shared_ptr<const MapYaml> parsed = decoded(out.where, "<element class=\"occupancy_grid\">", [&] {
    return state.session.cache.map_yaml(file, kMostYamlBytes);
  });
  const MapYaml& yaml = *parsed;
  const bool is_first = yaml.unknown.empty() || state.warnings.is_new("yaml key " + yaml.unknown[0].text());
  for (size_t i = 0; is_first && i < yaml.unknown.size(); ++i) {
    const SourceLocation& where = yaml.unknown[i];
    state.warnings.add("yaml key " + where.text(), where, "the key is unknown in a map yaml and ignored");
  }
  if (std::fabs(yaml.origin.yaw) > 2 * kPi)
    state.warnings.add(
        "yaml yaw " + file.path(), yaml.origin_where,
        "the origin's yaw is in radians here, expected -6.28 to 6.28: does it stand in degrees?");
  warn_of_placement(state, fields);
  read_grid_image(
      state, open_named_file(state, {"image", yaml.image, yaml.image_where}, folder_of(file.path())), out);
  out.is_ros = true;
  out.resolution = yaml.resolution;
  out.center_pixel.reset();
  out.origin = yaml.origin;
  out.negate = yaml.negate;
  out.occupied_threshold = yaml.occupied_threshold;
  out.free_threshold = yaml.free_threshold;
  out.mode = yaml.mode;
}

void read_center_pixel(const Fields& fields, const Element& e, OccupancyGridSpec& out) {
  std::optional<double> x, y;
  fields.read({.name = "centerpixel_x", .min = -1e6, .max = 1e6}, x);
  fields.read({.name = "centerpixel_y", .min = -1e6, .max = 1e6}, y);
  if (x.has_value() != y.has_value())
    throw WorldFileError(e.where(),
                         "<element>: one of centerpixel_x and centerpixel_y is given, expected both");
  if (x) out.center_pixel = Vec2{*x, *y};
}

void parse_grid(LoadState& state, const Fields& fields, const Element& e) {
  OccupancyGridSpec out;
  out.where = e.where();
  out.order = state.order++;
  std::optional<NamedText> file = fields.scalar("file");
  if (file) file->text = trimmed(file->text);
  if (!file || file->text.empty())
    throw WorldFileError(file ? file->where : e.where(), "<element class=\"occupancy_grid\"> has no <file>");
  fields.read({.name = "resolution", .min = kMinResolution, .max = kMaxResolution}, out.resolution);
  read_center_pixel(fields, e, out);
  check_without_effect(state, fields, "show_collisions", [](const NamedText& text) { parse_bool(text); });
  fields.read({.name = "restitution", .min = 0, .max = 1}, out.restitution);
  fields.read({.name = "lateral_friction", .min = 0, .max = 1e3}, out.lateral_friction);
  fields.warn_unknown("element class=\"occupancy_grid\"", kGridTags);
  const OpenFile opened = open_named_file(state, *file, state.folder);
  const std::string& path = opened.path();
  if (path.ends_with(".yaml") || path.ends_with(".yml")) {
    read_yaml(state, fields, opened, out);
  } else if (path.ends_with(".gridmap") || path.ends_with(".gridmap.gz")) {
    warn_of_placement(state, fields);
    out.image_path = path;
    out.mrpt = decoded(out.where, "<element class=\"occupancy_grid\">",
                       [&] { return state.session.cache.mrpt_grid(opened, out.where, state.session.guard); });
  } else {
    read_grid_image(state, opened, out);
  }
  state.world.grids.push_back(std::move(out));
}

void parse_plane(LoadState& state, const Fields& fields, const Element& e) {
  HorizontalPlaneSpec out;
  out.where = e.where();
  out.order = state.order++;
  read_extent(fields, e, out.extent);
  fields.read({.name = "z", .min = -kFarthest, .max = kFarthest}, out.z);
  fields.read("color", out.color);
  const PlacementSpec placement = parse_placement(state, fields, out.where);
  out.pose = placement.pose;
  out.has_pose = placement.has_pose;
  out.adjust_elevation = placement.adjust_elevation;
  if (const Element* velocity = fields.node("init_vel"))
    state.warnings.add("no effect init_vel of a plane", velocity->where(),
                       "<init_vel> has no effect in a plane, which never moves");
  for (const Element& child : fields.groups()[0].children)
    check_scalar_without_effect(state, child, "horizontal_plane", {});
  fields.warn_unknown("element class=\"horizontal_plane\"", kPlaneTags);
  state.world.planes.push_back(std::move(out));
}

void parse_region(LoadState& state, const Fields& fields, const Element& e) {
  PropertyRegionSpec out;
  out.where = e.where();
  const std::optional<NamedText> name = object_name(state, e, {});
  out.name = name ? name->text : "region" + std::to_string(state.world.regions.size() + 1);
  if (const std::optional<NamedText> property = fields.scalar("property_name"))
    out.property = trimmed(property->text);
  // the first type that is given counts
  std::optional<NamedText> value;
  for (const std::string_view type : {"value_double", "value_bool", "value_string"})
    if (!value) value = fields.scalar(type);
  if (!value)
    throw WorldFileError(
        e.where(),
        "<element class=\"property_region\"> has no <value_double>, <value_bool> or <value_string>");
  out.value = *value;
  read_extent(fields, e, out.extent);
  fields.read({.name = "z_min", .min = -kFarthest, .max = kFarthest}, out.z_min);
  fields.read({.name = "z_max", .min = -kFarthest, .max = kFarthest}, out.z_max);
  if (!(out.z_min <= out.z_max)) throw WorldFileError(e.where(), "<element>: expected z_min <= z_max");
  fields.warn_unknown("element class=\"property_region\"", kRegionTags);
  state.world.regions.push_back(std::move(out));
}

void parse_ground_grid(LoadState& state, const Fields& fields, const Element& e) {
  GroundGridSpec out;
  out.where = e.where();
  fields.read("floating", out.floating);
  for (const char* name : {"float_center_at_vehicle_name", "floating_focus"})
    check_without_effect(state, fields, name, [&](const NamedText& focus) {
      if (trimmed(focus.text).empty())
        throw WorldFileError(focus.where, "<" + focus.name + "> is empty, expected the name of a vehicle");
      out.floating = true;
    });
  read_extent(fields, e, out.extent);
  fields.read({.name = "interval", .min = 0, .max = kFarthest, .open_min = true}, out.interval);
  fields.read("color", out.color);
  check_without_effect(state, fields, "line_width", [](const NamedText& width) {
    check_range({.name = width.name, .min = 0}, parse_number(width), width.where);
  });
  fields.warn_unknown("element class=\"ground_grid\"", kGroundTags);
  state.world.ground_grids.push_back(std::move(out));
}

}  // namespace

void parse_element(LoadState& state, const Element& e) {
  const NamedText class_name = required_attribute(state, e, "class", {});
  const Fields fields(state, {}, e);
  if (class_name.text == "occupancy_grid") return parse_grid(state, fields, e);
  if (class_name.text == "elevation_map") return parse_elevation_map(state, fields, e);
  if (class_name.text == "horizontal_plane") return parse_plane(state, fields, e);
  if (class_name.text == "vertical_plane") return parse_vertical_plane(state, fields, e);
  if (class_name.text == "property_region") return parse_region(state, fields, e);
  if (class_name.text == "ground_grid") return parse_ground_grid(state, fields, e);
  if (class_name.text == "skybox") return check_skybox(state, e);
  if (std::find(std::begin(kNotBuilt), std::end(kNotBuilt), class_name.text) != std::end(kNotBuilt))
    refuse(e, "<element class=\"" + class_name.text + "\">");
  std::vector<std::string> names{"occupancy_grid",  "elevation_map", "horizontal_plane", "ground_grid",
                                 "property_region", "skybox",        "vertical_plane"};
  for (const std::string_view name : kNotBuilt) names.emplace_back(name);
  throw WorldFileError(class_name.where, "<element> of unknown class '" + shortened(class_name.text) + "'" +
                                             did_you_mean(class_name.text, names));
}

}  // namespace mvsim
