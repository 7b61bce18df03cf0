#include <algorithm>

#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr std::string_view kTags[] = {"x0",
                                      "y0",
                                      "x1",
                                      "y1",
                                      "z",
                                      "height",
                                      "thickness",
                                      "color",
                                      "door",
                                      "window",
                                      "cull_face",
                                      "texture",
                                      "texture_size_x",
                                      "texture_size_y",
                                      "enable_shadows"};
constexpr std::string_view kOpeningTags[] = {"position", "width", "z_min", "z_max",
                                             "z_start",  "z_end", "name"};

struct Opening {
  double begin, end;  // m along the wall
};

// Nothing for an opening without a width.
std::optional<Opening> read_opening(LoadState& state, const Element& e, double length) {
  const Fields fields(state, {}, e);
  const std::string tag(e.tag());
  double position = 0.5, width = 1, height = 0;
  fields.read({.name = "position"}, position);
  fields.read({.name = "width", .min = -kFarthest, .max = kFarthest}, width);
  for (const std::string_view name : {"z_min", "z_max", "z_start", "z_end"})
    fields.read({.name = name}, height);
  fields.warn_unknown(tag, kOpeningTags);
  if (!(width > 0)) {
    state.warnings.add("width " + tag, e.where(), "<" + tag + "> has no width and is ignored");
    return std::nullopt;
  }
  if (position < 0 || position > 1)
    state.warnings.add("position " + tag, e.where(),
                       "<" + tag + ">: its position is taken as the nearest in [0, 1]");
  const double center = std::clamp(position, 0.0, 1.0) * length;
  return Opening{std::max(0.0, center - width / 2), std::min(length, center + width / 2)};
}

// What doors leave of a wall of `length`.
std::vector<Opening> solid_parts(std::vector<Opening> doors, double length) {
  std::sort(doors.begin(), doors.end(), [](const Opening& a, const Opening& b) { return a.begin < b.begin; });
  std::vector<Opening> out;
  double at = 0;
  for (const Opening& door : doors) {
    if (door.begin - at > kThinnest) out.push_back({at, door.begin});
    at = std::max(at, door.end);
  }
  if (length - at > kThinnest) out.push_back({at, length});
  return out;
}

}  // namespace

// A wall whose doors are gaps; its windows are solid, as for MVSim's bodies and 2D lidars.
void parse_vertical_plane(LoadState& state, const Fields& fields, const Element& e) {
  Vec2 from{-10, -10}, to{-10, 10};
  double z = 0, height = 3, thickness = 0.02;
  Color color{0xa0, 0xa0, 0xa0, 255};
  const auto read_place = [&](std::string_view name, double& value) {
    fields.read({.name = name, .min = -kFarthest, .max = kFarthest}, value);
  };
  read_place("x0", from.x);
  read_place("y0", from.y);
  read_place("x1", to.x);
  read_place("y1", to.y);
  read_place("z", z);
  fields.read({.name = "height", .min = 0, .max = kFarthest, .open_min = true}, height);
  fields.read({.name = "thickness", .min = kThinnest, .max = kFarthest}, thickness);
  fields.read("color", color);
  const double length = norm(to - from);
  if (!(length > kThinnest))
    throw WorldFileError(e.where(),
                         "<element class=\"vertical_plane\">: found a wall without length, expected two "
                         "different points x0 y0 and x1 y1");
  std::vector<Opening> doors;
  for (const Element& door : fields.nodes("door"))
    if (const std::optional<Opening> opening = read_opening(state, door, length)) doors.push_back(*opening);
  for (const Element& window : fields.nodes("window")) {
    read_opening(state, window, length);
    state.warnings.add("window", window.where(),
                       "<window> has no effect in this version: the wall is solid there");
  }
  for (const Element& child : fields.groups()[0].children)
    check_scalar_without_effect(state, child, "vertical_plane", {});
  fields.warn_unknown("element class=\"vertical_plane\"", kTags);
  const std::vector<Opening> parts = solid_parts(std::move(doors), length);
  if (parts.empty())
    state.warnings.add("no wall", e.where(),
                       "<element class=\"vertical_plane\">: its doors leave nothing of the wall");
  for (const Opening& part : parts) {
    state.budget.body(kBlockBytes, e.where());
    const auto at = [&](double along) { return from + (along / length) * (to - from); };
    BlockSpec wall = make_wall(state, at(part.begin), at(part.end), thickness, height);
    wall.z_min = z;
    wall.z_max = z + height;
    wall.placement.adjust_elevation = false;
    wall.lateral_friction = 0.2;
    wall.restitution = 0.01;
    wall.color = color;
    wall.where = wall.placement.where = e.where();
    state.world.blocks.push_back(std::move(wall));
  }
}

}  // namespace mvsim
