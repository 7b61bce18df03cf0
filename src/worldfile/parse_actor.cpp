// <actor>: a person who walks on a path, seen by eyes only or (solid) with a body.
#include <cmath>
#include <cstdio>

#include "worldfile/include.h"
#include "worldfile/parse.h"

namespace mvsim {
namespace {

constexpr std::string_view kGaits[] = {"walk", "run", "idle"};  // as in Gait

WaypointSpec parse_waypoint(LoadState& state, const Element& e, const Scope& scope) {
  WaypointSpec out;
  const Fields fields(state, scope, e);
  const NamedText text = text_of(state, e, scope);
  const char* const expected = "x y yaw or x y z yaw pitch roll (m, degrees)";
  const std::vector<double> v = parse_numbers(text, 3, 6, expected);
  if (v.size() != 3 && v.size() != 6)
    throw WorldFileError(text.where,
                         "<waypoint>: found " + std::to_string(v.size()) + " numbers, expected " + expected);
  out.pose = pose_of_numbers(text, v);
  out.has_z = v.size() == 6;
  read_tags(state, fields, kWaypointTags, out);
  if (const std::optional<NamedText> gait = fields.scalar("animation"))
    out.gait = static_cast<Gait>(parse_choice(*gait, kGaits));
  fields.warn_unknown("waypoint", tag_names(kWaypointTags));
  return out;
}

void parse_path(LoadState& state, const Element& e, const Scope& scope, ActorSpec& out) {
  constexpr size_t kMaxWaypoints = 10000;
  const Fields fields(state, scope, e);
  if (const std::optional<NamedText> loop = fields.scalar("loop")) out.loops = parse_bool(*loop);
  for (const Element& child : fields.nodes("waypoint")) {
    if (out.path.size() == kMaxWaypoints)
      throw WorldFileError(child.where(),
                           "<path> has more than " + std::to_string(kMaxWaypoints) + " waypoints");
    out.path.push_back(parse_waypoint(state, child, scope));
  }
  constexpr std::string_view kKnown[] = {"loop", "type", "waypoint"};
  fields.warn_unknown("path", kKnown);
}

std::string actor_name(LoadState& state, const Element& e) {
  const std::optional<NamedText> given = object_name(state, e, {});
  std::string name = given ? given->text : "";
  while (name.empty() || (!given && state.actor_names.contains(name))) {
    char buffer[24];
    std::snprintf(buffer, sizeof buffer, "actor%03d", ++state.actor_count);
    name = buffer;
  }
  if (!state.actor_names.insert(name).second)
    throw WorldFileError(given->where, "the name '" + name + "' is given to a second <actor>");
  return name;
}

}  // namespace

void parse_actor(LoadState& state, const Element& e) {
  state.budget.body(kBlockBytes, e.where());
  ActorSpec out;
  out.where = e.where();
  out.order = state.order++;
  out.name = actor_name(state, e);
  Fields fields(state, {{"NAME", out.name}});
  fields.add({e, read_body(state, e, BodyInclude::kInPlace).own});
  out.class_name = class_of(state, e);
  fields.add_class(e, out.class_name, state.actor_classes);
  fields.warn_unknown("actor", tag_names(kPlacementTags, kActorTags));
  out.placement = parse_placement(state, fields, out.where);
  require_pose(out.placement, "actor", out.name);
  warn_of_publish(state, out.placement, "actor");
  if (!out.placement.animation.empty())
    throw WorldFileError(out.where, "<actor> '" + out.name + "' has an <animation>, expected a <path>");
  read_tags(state, fields, kActorTags, out);
  if (const Element* path = fields.node("path")) parse_path(state, *path, fields.scope(), out);
  out.visuals = parse_visuals(state, fields);
  if (out.solid && !state.block_names.insert(out.name).second)
    throw WorldFileError(
        out.where, "<actor> '" + out.name + "' is solid and has the name of a block, expected another name");
  add_actor(state.world, std::move(out));
}

void add_actor(WorldSpec& world, ActorSpec actor) {
  constexpr int kSides = 14;  // as many as the solver takes: the polygon holds the disc
  if (actor.solid) {
    BlockSpec body;
    body.name = actor.name;
    body.is_static = body.is_person = true;
    body.is_drawn = false;
    body.placement = actor.placement;
    body.placement.animation.clear();
    body.placement.velocity = {};
    body.placement.publication.reset();
    body.geometry = GeometryType::kCylinder;
    body.vertex_count = kSides;
    body.radius = actor.collision_radius / std::cos(kPi / kSides);
    body.length = actor.collision_height;
    body.order = actor.order;
    body.where = actor.where;
    actor.body = world.blocks.size();
    world.blocks.push_back(std::move(body));
  }
  world.actors.push_back(std::move(actor));
}

}  // namespace mvsim
