#include <algorithm>

#include "worldfile/parse.h"

namespace mvsim {
namespace {

struct Opening {
  double begin, end;    // m along the wall
  double z_min, z_max;  // m, absolute
};

// Nothing for an opening without a width.
std::optional<Opening> read_opening(LoadState& state, const Element& e, double length) {
  const Fields fields(state, {}, e);
  const std::string tag(e.tag());
  OpeningSpec spec;
  read_tags(state, fields, kOpeningTags, spec);
  fields.warn_unknown(tag, tag_names(kOpeningTags));
  if (!(spec.width > 0)) {
    state.warnings.add("width " + tag, e.where(), "<" + tag + "> has no width and is ignored");
    return std::nullopt;
  }
  if (spec.position < 0 || spec.position > 1)
    state.warnings.add("position " + tag, e.where(),
                       "<" + tag + ">: its position is taken as the nearest in [0, 1]");
  const double center = std::clamp(spec.position, 0.0, 1.0) * length;
  return Opening{std::max(0.0, center - spec.width / 2), std::min(length, center + spec.width / 2),
                 spec.z_min, spec.z_max};
}

// Returns the parts of a wall of `length` between its doors.
std::vector<Opening> solid_parts(std::vector<Opening> doors, double length) {
  std::sort(doors.begin(), doors.end(), [](const Opening& a, const Opening& b) { return a.begin < b.begin; });
  std::vector<Opening> out;
  double at = 0;
  for (const Opening& door : doors) {
    if (door.begin - at > kThinnest) out.push_back({at, door.begin, 0, 0});
    at = std::max(at, door.end);
  }
  if (length - at > kThinnest) out.push_back({at, length, 0, 0});
  return out;
}

// Adds the visible panels between the openings, and above and below them.
void add_panels(LoadState& state, const VerticalPlaneSpec& plane, double length,
                const std::vector<Opening>& openings, const SourceLocation& where) {
  std::vector<double> ends{0, length};
  for (const Opening& opening : openings) ends.insert(ends.end(), {opening.begin, opening.end});
  std::sort(ends.begin(), ends.end());
  const Vec2 from{plane.x0, plane.y0}, to{plane.x1, plane.y1};
  const auto at = [&](double along) { return from + (along / length) * (to - from); };
  const int order = state.order++;
  constexpr size_t kMaxOpenings = 1000;  // looked at for each piece between them
  if (openings.size() > kMaxOpenings)
    throw WorldFileError(where, "<element class=\"vertical_plane\"> has more than " +
                                    std::to_string(kMaxOpenings) + " doors and windows");
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    const double begin = ends[i], end = ends[i + 1], top = plane.z + plane.height;
    if (end - begin < kThinnest) continue;
    std::vector<Opening> here;
    for (const Opening& opening : openings)
      if (opening.begin < end && opening.end > begin) here.push_back(opening);
    std::sort(here.begin(), here.end(), [](const Opening& a, const Opening& b) { return a.z_min < b.z_min; });
    double z = plane.z;
    const auto add = [&](double upper) {
      if (upper - z < kThinnest) return;
      state.world.panels.push_back({at(begin), at(end), plane.thickness, z, upper, plane.color, plane.texture,
                                    plane.casts_shadow, order});
    };
    for (const Opening& opening : here) {
      add(std::min(opening.z_min, top));
      z = std::max(z, opening.z_max);
    }
    add(top);
  }
}

}  // namespace

// A wall whose doors are gaps; its windows are solid, as for MVSim's bodies and 2D lidars.
void parse_vertical_plane(LoadState& state, const Fields& fields, const Element& e) {
  VerticalPlaneSpec plane;
  read_tags(state, fields, kVerticalPlaneTags, plane);
  const Vec2 from{plane.x0, plane.y0}, to{plane.x1, plane.y1};
  const double length = norm(to - from);
  if (!(length > kThinnest))
    throw WorldFileError(e.where(),
                         "<element class=\"vertical_plane\">: found a wall without length, expected two "
                         "different points x0 y0 and x1 y1");
  std::vector<Opening> doors;
  for (const Element& door : fields.nodes("door"))
    if (const std::optional<Opening> opening = read_opening(state, door, length)) doors.push_back(*opening);
  std::vector<Opening> openings = doors;
  for (const Element& window : fields.nodes("window"))
    if (const std::optional<Opening> opening = read_opening(state, window, length))
      openings.push_back(*opening);
  read_tags(state, fields, kPlaneTextureTags, plane.texture);
  plane.texture.image = read_texture(state, fields, "texture");
  fields.warn_unknown("element class=\"vertical_plane\"", tag_names(kVerticalPlaneTags, kPlaneTextureTags));
  const std::vector<Opening> parts = solid_parts(std::move(doors), length);
  if (parts.empty())
    state.warnings.add("no wall", e.where(),
                       "<element class=\"vertical_plane\">: its doors leave nothing of the wall");
  const int order = state.order;
  for (const Opening& part : parts) {
    state.budget.body(kBlockBytes, e.where());
    const auto at = [&](double along) { return from + (along / length) * (to - from); };
    BlockSpec wall = make_wall(state, at(part.begin), at(part.end), plane.thickness, plane.height);
    wall.z_min = plane.z;
    wall.z_max = plane.z + plane.height;
    wall.placement.adjust_elevation = false;
    wall.lateral_friction = 0.2;
    wall.restitution = 0.01;
    wall.color = plane.color;
    wall.texture = plane.texture;
    wall.is_drawn = openings.empty();
    wall.casts_shadow = plane.casts_shadow;
    wall.where = wall.placement.where = e.where();
    state.world.blocks.push_back(std::move(wall));
  }
  if (!openings.empty()) add_panels(state, plane, length, openings, e.where());
  add_element_visuals(state, fields, order);
}

}  // namespace mvsim
