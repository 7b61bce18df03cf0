
#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

struct GeometryName {
  std::string_view name;
  GeometryType type;
};
constexpr GeometryName kGeometries[] = {{"box", GeometryType::kBox},
                                        {"cylinder", GeometryType::kCylinder},
                                        {"sphere", GeometryType::kSphere},
                                        {"ramp", GeometryType::kRamp},
                                        {"semi_cylinder_bump", GeometryType::kSemiCylinderBump}};

// A length that the type needs.
template <typename Spec>
void read_length(const Fields& fields, const Element& e, std::string_view type, const Tag<Spec>& tag,
                 Spec& out) {
  const std::optional<NamedText> given = fields.scalar(tag.name());
  if (!given)
    throw WorldFileError(e.where(), "<geometry> of type " + std::string(type) + " has no " +
                                        std::string(tag.name()) + ", expected a length in metres");
  read_tag(tag, *given, out);
}

void parse_geometry(LoadState& state, const Element& e, const Scope& scope, BlockSpec& out) {
  const Fields fields(state, scope, e);
  const std::optional<NamedText> type = fields.scalar("type");
  const std::string_view found = type ? trimmed(type->text) : std::string_view();
  const GeometryName* known = nullptr;
  for (const GeometryName& geometry : kGeometries)
    if (geometry.name == found) known = &geometry;
  if (!known)
    throw WorldFileError(type ? type->where : e.where(),
                         "<geometry>: found type '" + shortened(found) +
                             "', expected box, cylinder, sphere, ramp or semi_cylinder_bump" +
                             did_you_mean(found, names_in(kGeometries)));
  out.geometry = known->type;
  const Tags<BlockSpec> tags = kGeometryTags;
  const bool is_round = known->type == GeometryType::kCylinder || known->type == GeometryType::kSphere;
  if (is_round) {
    read_length(fields, e, found, *find_tag(tags, "radius"), out);
    if (known->type == GeometryType::kCylinder) read_length(fields, e, found, *find_tag(tags, "length"), out);
  } else {
    for (const Tag<Vec3>& side : kGeometrySizeTags) read_length(fields, e, found, side, out.size);
  }
  const Tag<BlockSpec>& vertices = *find_tag(tags, "vertex_count");
  if (const std::optional<NamedText> count = fields.scalar(vertices.name())) read_tag(vertices, *count, out);
  fields.warn_unknown("geometry", tag_names(tags, kGeometrySizeTags));
}

// An explicit <shape> goes before <geometry>, this before the visuals.
void parse_block_shape(LoadState& state, const Fields& fields, BlockSpec& out) {
  const Element* shape = fields.node("shape");
  const Element* geometry = fields.node("geometry");
  const Element* derived = fields.node("shape_from_visual");
  if (shape) {
    out.shape = parse_polygon(state, *shape, kMaxShapePoints, fields.scope());
    if (out.shape->size() < 3) throw WorldFileError(shape->where(), "<shape> has fewer than 3 points <pt>");
    warn_of_crossing(state, *shape, *out.shape);
    for (const Element* other : {geometry, derived})
      if (other)
        state.warnings.add("shape wins " + std::string(other->tag()), other->where(),
                           "<" + std::string(other->tag()) + "> has no effect beside <shape>");
  } else if (geometry) {
    parse_geometry(state, *geometry, fields.scope(), out);
  } else if (derived && out.visuals.empty()) {
    throw WorldFileError(derived->where(), "<shape_from_visual> without <visual> and without <geometry>");
  } else {
    out.shape_from_visual = derived != nullptr;
  }
}

std::string block_name(LoadState& state, const Element& e) {
  constexpr size_t kFewestDigits = 3;
  const std::optional<NamedText> given = object_name(state, e, {});
  std::string name = given ? given->text : "";
  while (name.empty() || (!given && state.block_names.contains(name))) {
    name = std::to_string(++state.block_count);
    if (name.size() < kFewestDigits) name.insert(0, kFewestDigits - name.size(), '0');
    name.insert(0, "block");
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

void parse_block(LoadState& state, const Element& e) {
  state.budget.body(kBlockBytes, e.where());
  BlockSpec out;
  out.where = e.where();
  out.order = state.order++;
  out.name = block_name(state, e);
  out.class_name = class_of(state, e);
  Fields fields(state, {{"NAME", out.name}});
  fields.add({e, read_body(state, e, BodyInclude::kIgnored).own});
  fields.add_class(e, out.class_name, state.block_classes);
  fields.warn_unknown("block", tag_names(kPlacementTags, kBlockTraitTags, kBlockTags));
  out.placement = parse_placement(state, fields, out.where);
  require_pose(out.placement, "block", out.name);
  read_tags<BlockTraits>(state, fields, kBlockTraitTags, out);
  read_tags(state, fields, kBlockTags, out);
  out.visuals = parse_visuals(state, fields);
  if (out.visual_scale)
    for (VisualSpec& visual : out.visuals) visual.scale = *out.visual_scale;
  parse_block_shape(state, fields, out);
  state.world.blocks.push_back(std::move(out));
}

}  // namespace mvsim
