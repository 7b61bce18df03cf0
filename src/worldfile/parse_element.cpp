#include <cmath>

#include "assets/map_files.h"
#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr size_t kMaxYamlBytes = 1 << 20;

void read_extent(LoadState& state, const Fields& fields, const Element& e, Rect& extent) {
  read_tags(state, fields, kExtentTags, extent);
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
    return state.session.cache.map_yaml(file, kMaxYamlBytes);
  });
  const MapYaml& yaml = *parsed;
  const bool is_first =
      yaml.ignored.empty() || state.warnings.is_new("yaml key " + yaml.ignored[0].where.text());
  for (size_t i = 0; is_first && i < yaml.ignored.size(); ++i) {
    const auto& [where, why] = yaml.ignored[i];
    state.warnings.add("yaml key " + where.text(), where, std::string(why));
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
  out.center_x.reset();
  out.center_y.reset();
  out.origin = yaml.origin;
  out.negate = yaml.negate;
  out.occupied_threshold = yaml.occupied_threshold;
  out.free_threshold = yaml.free_threshold;
  out.mode = yaml.mode;
}

void parse_grid(LoadState& state, const Fields& fields, const Element& e) {
  OccupancyGridSpec out;
  out.where = e.where();
  out.order = state.order++;
  std::optional<NamedText> file = fields.scalar("file");
  if (file) file->text = trimmed(file->text);
  if (!file || file->text.empty())
    throw WorldFileError(file ? file->where : e.where(), "<element class=\"occupancy_grid\"> has no <file>");
  read_tags(state, fields, kOccupancyGridTags, out);
  if (out.center_x.has_value() != out.center_y.has_value())
    throw WorldFileError(e.where(),
                         "<element>: one of centerpixel_x and centerpixel_y is given, expected both");
  fields.warn_unknown("element class=\"occupancy_grid\"", tag_names(kOccupancyGridTags));
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
  add_element_visuals(state, fields, out.order);
  state.world.grids.push_back(std::move(out));
}

void parse_plane(LoadState& state, const Fields& fields, const Element& e) {
  HorizontalPlaneSpec out;
  out.where = e.where();
  out.order = state.order++;
  read_extent(state, fields, e, out.extent);
  read_tags(state, fields, kHorizontalPlaneTags, out);
  const PlacementSpec placement = parse_placement(state, fields, out.where);
  warn_of_publish(state, placement, "element class=\"horizontal_plane\"");
  out.pose = placement.pose;
  out.has_pose = placement.has_pose;
  out.adjust_elevation = placement.adjust_elevation;
  out.animation = placement.animation;
  if (const Element* velocity = fields.node("init_vel"))
    state.warnings.add("no effect init_vel of a plane", velocity->where(),
                       "<init_vel> has no effect in a plane, which never moves");
  read_tags(state, fields, kPlaneTextureTags, out.texture);
  out.texture.image = read_texture(state, fields, "texture");
  out.visuals = parse_visuals(state, fields);
  fields.warn_unknown("element class=\"horizontal_plane\"",
                      tag_names(kExtentTags, kHorizontalPlaneTags, kPlaneTextureTags, kPlacementTags));
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
  read_extent(state, fields, e, out.extent);
  read_tags(state, fields, kPropertyRegionTags, out);
  if (!(out.z_min <= out.z_max)) throw WorldFileError(e.where(), "<element>: expected z_min <= z_max");
  fields.warn_unknown("element class=\"property_region\"", tag_names(kPropertyRegionTags, kExtentTags));
  state.world.regions.push_back(std::move(out));
}

void parse_ground_grid(LoadState& state, const Fields& fields, const Element& e) {
  GroundGridSpec out;
  out.where = e.where();
  read_tags(state, fields, kGroundGridTags, out);
  for (const char* name : {"float_center_at_vehicle_name", "floating_focus"})
    if (const std::optional<NamedText> focus = fields.scalar(name)) {
      if (trimmed(focus->text).empty())
        throw WorldFileError(focus->where, "<" + focus->name + "> is empty, expected the name of a vehicle");
      out.floating = true;
      out.focus = trimmed(focus->text);
      out.focus_where = focus->where;
    }
  read_extent(state, fields, e, out.extent);
  fields.warn_unknown("element class=\"ground_grid\"", tag_names(kGroundGridTags, kExtentTags));
  state.world.ground_grids.push_back(std::move(out));
}

}  // namespace

void add_element_visuals(LoadState& state, const Fields& fields, int order, const Pose3& pose) {
  if (std::vector<VisualSpec> visuals = parse_visuals(state, fields); !visuals.empty())
    state.world.element_visuals.push_back({std::move(visuals), pose, order});
}

void parse_element(LoadState& state, const Element& e) {
  const NamedText class_name = required_attribute(state, e, "class", {});
  const Fields fields(state, {}, e);
  if (class_name.text == "occupancy_grid") return parse_grid(state, fields, e);
  if (class_name.text == "elevation_map") return parse_elevation_map(state, fields, e);
  if (class_name.text == "horizontal_plane") return parse_plane(state, fields, e);
  if (class_name.text == "vertical_plane") return parse_vertical_plane(state, fields, e);
  if (class_name.text == "property_region") return parse_region(state, fields, e);
  if (class_name.text == "ground_grid") return parse_ground_grid(state, fields, e);
  if (class_name.text == "skybox") return parse_skybox(state, fields, e);
  if (class_name.text == "pointcloud" || class_name.text == "point_cloud")
    return parse_point_cloud(state, fields, e);
  const std::vector<std::string> names{"pointcloud",  "occupancy_grid",  "elevation_map", "horizontal_plane",
                                       "ground_grid", "property_region", "skybox",        "vertical_plane"};
  throw WorldFileError(class_name.where, "<element> of unknown class '" + shortened(class_name.text) + "'" +
                                             did_you_mean(class_name.text, names));
}

}  // namespace mvsim
