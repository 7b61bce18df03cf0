#include <cmath>
#include <cstdio>

#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr double kMostMass = 1e9, kMostLength = 1e6;
constexpr int kMostVertices = 1000;

constexpr std::string_view kBlockTags[] = {"init_pose",
                                           "init_pose3d",
                                           "init_vel",
                                           "publish",
                                           "skip_elevation_adjust",
                                           "animation",
                                           "mass",
                                           "static",
                                           "intangible",
                                           "ground_friction",
                                           "lateral_friction",
                                           "restitution",
                                           "linear_damping",
                                           "angular_damping",
                                           "zmin",
                                           "zmax",
                                           "color",
                                           "visual_scale",
                                           "shape",
                                           "geometry",
                                           "shape_from_visual",
                                           "visual"};

struct GeometryName {
  std::string_view name;
  GeometryType type;
};
constexpr GeometryName kGeometries[] = {{"box", GeometryType::kBox},
                                        {"cylinder", GeometryType::kCylinder},
                                        {"sphere", GeometryType::kSphere},
                                        {"ramp", GeometryType::kRamp},
                                        {"semi_cylinder_bump", GeometryType::kSemiCylinderBump}};
constexpr std::string_view kGeometryTags[] = {"type", "lx", "ly", "lz", "radius", "length", "vertex_count"};

void read_size(const Fields& fields, const Element& e, std::string_view type, std::string_view name,
               double& value) {
  std::optional<double> given;
  fields.read({.name = name, .min = 0, .max = kMostLength, .open_min = true}, given);
  if (!given)
    throw WorldFileError(e.where(), "<geometry> of type " + std::string(type) + " has no " +
                                        std::string(name) + ", expected a length in metres");
  value = *given;
}

void parse_geometry(LoadState& state, const Element& e, const Scope& scope, BlockSpec& out) {
  const Fields fields(state, scope, e);
  std::vector<std::string> names;
  for (const GeometryName& geometry : kGeometries) names.emplace_back(geometry.name);
  const std::optional<NamedText> type = fields.scalar("type");
  const std::string_view found = type ? trimmed(type->text) : std::string_view();
  const GeometryName* known = nullptr;
  for (const GeometryName& geometry : kGeometries)
    if (geometry.name == found) known = &geometry;
  if (!known)
    throw WorldFileError(type ? type->where : e.where(),
                         "<geometry>: found type '" + shortened(found) +
                             "', expected box, cylinder, sphere, ramp or semi_cylinder_bump" +
                             did_you_mean(found, names));
  out.geometry = known->type;
  const bool is_round = known->type == GeometryType::kCylinder || known->type == GeometryType::kSphere;
  if (is_round) {
    read_size(fields, e, found, "radius", out.radius);
    if (known->type == GeometryType::kCylinder) read_size(fields, e, found, "length", out.length);
  } else {
    read_size(fields, e, found, "lx", out.size.x);
    read_size(fields, e, found, "ly", out.size.y);
    read_size(fields, e, found, "lz", out.size.z);
  }
  fields.read("vertex_count", 3, kMostVertices, out.vertex_count);
  fields.warn_unknown("geometry", kGeometryTags);
}

// An explicit <shape> goes before <geometry>; a shape from a mesh is not built yet.
void parse_block_shape(LoadState& state, const Fields& fields, BlockSpec& out) {
  const Element* shape = fields.node("shape");
  const Element* geometry = fields.node("geometry");
  const Element* derived = fields.node("shape_from_visual");
  if (shape) {
    out.shape = parse_polygon(state, *shape, kMostShapePoints, fields.scope());
    if (out.shape->size() < 3) throw WorldFileError(shape->where(), "<shape> has fewer than 3 points <pt>");
    warn_of_crossing(state, *shape, *out.shape);
    for (const Element* other : {geometry, derived})
      if (other)
        state.warnings.add("shape wins " + std::string(other->tag()), other->where(),
                           "<" + std::string(other->tag()) + "> has no effect beside <shape>");
  } else if (geometry) {
    parse_geometry(state, *geometry, fields.scope(), out);
  } else if (derived && visual_names(state, fields).empty()) {
    throw WorldFileError(derived->where(), "<shape_from_visual> without <visual> and without <geometry>");
  } else if (derived) {
    refuse(*derived, "<shape_from_visual> of a mesh", "give <shape> or <geometry>");
  }
}

void parse_block_scalars(const Fields& fields, BlockSpec& out) {
  fields.read({.name = "mass", .min = 0, .max = kMostMass}, out.mass);
  if (out.mass > 0 && out.mass < kLeastMass) {
    char found[32];
    std::snprintf(found, sizeof found, "%g", out.mass);
    throw WorldFileError(fields.scalar("mass")->where, std::string("<mass>: found ") + found +
                                                           ", expected at least 1e-06, or 0 for a block that "
                                                           "nothing moves");
  }
  fields.read("static", out.is_static);
  fields.read("intangible", out.intangible);
  fields.read({.name = "ground_friction", .min = 0, .max = 1e3}, out.ground_friction);
  fields.read({.name = "lateral_friction", .min = 0, .max = 1e3}, out.lateral_friction);
  fields.read({.name = "restitution", .min = 0, .max = 1}, out.restitution);
  fields.read({.name = "linear_damping", .min = 0, .max = 1e4}, out.linear_damping);
  fields.read({.name = "angular_damping", .min = 0, .max = 1e4}, out.angular_damping);
  fields.read({.name = "zmin", .min = -kMostLength, .max = kMostLength}, out.z_min);
  fields.read({.name = "zmax", .min = -kMostLength, .max = kMostLength}, out.z_max);
  fields.read("color", out.color);
}

std::string block_name(LoadState& state, const Element& e) {
  const std::optional<NamedText> given = object_name(state, e, {});
  std::string name = given ? given->text : "";
  while (name.empty() || (!given && state.block_names.contains(name))) {
    char buffer[24];
    std::snprintf(buffer, sizeof buffer, "block%03d", ++state.block_count);
    name = buffer;
  }
  if (state.block_names.insert(name).second) return name;
  std::string free = name;
  for (int& n = state.block_copies[name]; !state.block_names.insert(free).second;)
    free = name + "_" + std::to_string(n == 0 ? n = 2 : ++n);
  state.warnings.add("twice " + name, given->where,
                     "the name '" + shortened(name) + "' is given to a second <block>, which is called '" +
                         shortened(free) + "'");
  return free;
}

}  // namespace

void parse_block_class(LoadState& state, const Element& e) {
  const std::string name = class_name_of(state, e);
  state.block_classes[name] = {e, read_body(state, e, BodyInclude::kInPlace).own};
}

void parse_block(LoadState& state, const Element& e) {
  state.budget.body(kBlockBytes, e.where());
  BlockSpec out;
  out.where = e.where();
  out.order = state.order++;
  out.name = block_name(state, e);
  if (const std::optional<NamedText> given = attribute_of(state, e, "class", {}))
    out.class_name = trimmed(given->text);
  Fields fields(state, {{"NAME", out.name}});
  fields.add({e, read_body(state, e, BodyInclude::kIgnored).own});
  if (!out.class_name.empty()) {
    const auto found = state.block_classes.find(out.class_name);
    if (found == state.block_classes.end())
      throw WorldFileError(e.where(), "the block class '" + shortened(out.class_name) + "' is not defined" +
                                          did_you_mean(out.class_name, names_of(state.block_classes)));
    fields.add({found->second.element, found->second.children});
  }
  fields.warn_unknown("block", kBlockTags);
  out.placement = parse_placement(state, fields, out.where);
  require_pose(out.placement, "block", out.name);
  parse_block_scalars(fields, out);
  parse_block_shape(state, fields, out);
  for (const Element& visual : fields.nodes("visual")) check_visual(state, visual, fields.scope());
  if (const std::optional<NamedText> scale = fields.scalar("visual_scale")) {
    parse_number(*scale);
    state.warnings.add("no effect visual_scale", scale->where,
                       "<visual_scale> has no effect in this version");
  }
  state.world.blocks.push_back(std::move(out));
}

}  // namespace mvsim
