#include "task/move/movers.h"

#include <algorithm>

#include "task/term_reader.h"

namespace mvsim {

std::vector<PeopleSpec> people_of(const EnvSpec& spec) {
  std::vector<PeopleSpec> out;
  size_t count = 0;
  for (const TermSpec& term : spec.movers) {
    if (term.params.tag != "people") continue;
    TermReader reader(term);
    PeopleSpec& people = out.emplace_back();
    const int n = reader.integer("n", 1, 0, static_cast<int>(kMaxPeople));
    people.radius = reader.number("radius", people.radius, {0.05, 5});
    people.height = reader.number("height", people.height, {0.1, 10});
    for (int i = 1; i <= n; ++i) people.names.push_back(term.name + std::to_string(i));
    count += people.names.size();
    if (count > kMaxPeople)
      reader.fail("n", "found more than " + std::to_string(kMaxPeople) + " people, expected at most so many");
  }
  return out;
}

void add_people(const EnvSpec& spec, WorldSpec& world) {
  const std::vector<PeopleSpec> all = people_of(spec);
  if (all.empty()) return;
  int order = 0;  // after all other elements
  const auto after = [&](const auto& things) {
    for (const auto& thing : things) order = std::max(order, thing.order + 1);
  };
  after(world.vehicles), after(world.blocks), after(world.grids), after(world.elevation_maps);
  after(world.planes), after(world.actors), after(world.point_clouds), after(world.panels);
  after(world.element_visuals);
  size_t element = 0;
  for (const TermSpec& term : spec.movers) {
    if (term.params.tag != "people") continue;
    const PeopleSpec& people = all[element++];
    for (const std::string& name : people.names) {
      if (std::ranges::any_of(world.blocks, [&](const BlockSpec& b) { return b.name == name; }) ||
          std::ranges::any_of(world.actors, [&](const ActorSpec& a) { return a.name == name; }))
        throw WorldFileError(term.params.where,
                             describe(term) + ": the world has a '" + name +
                                 "' already, expected people of another name (attribute 'name')");
      ActorSpec actor;
      actor.name = name;
      actor.placement.has_pose = true;
      actor.placement.where = actor.where = term.params.where;
      actor.collision_radius = people.radius;
      actor.collision_height = people.height;
      actor.solid = true;
      actor.order = order++;
      add_actor(world, std::move(actor));
    }
  }
}

bool may_have_people(const EnvSpec& spec, const Model& model) {
  const auto is_people = [](const TermSpec& t) { return t.params.tag == "people"; };
  return std::ranges::any_of(spec.movers, is_people) ||
         std::ranges::any_of(model.blocks, &BlockModel::is_person);
}

std::vector<Person> people_in(const Model& model) {
  std::vector<Person> out;
  for (const ActorModel& actor : model.actors)
    if (actor.block >= 0) out.push_back({static_cast<size_t>(actor.block), actor.radius});
  return out;
}

}  // namespace mvsim
