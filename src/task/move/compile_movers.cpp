// Compiles <people> and <move> to Movers.
#include <algorithm>
#include <sstream>

#include "sim/place.h"
#include "task/move/movers.h"
#include "task/plan/planning_grid.h"
#include "task/task.h"

namespace mvsim {
namespace {

// Reads the names of `scene`, which choose how goals are drawn.
void read_scene(TermReader& reader, Movers::Group& group) {
  group.circle = reader.number("circle", 0, kPositive);
  const bool has_circle = reader.has("circle");
  std::istringstream words(reader.text("scene", has_circle ? "circle" : "random"));
  group.may_cross = group.may_wander = false;
  for (std::string word; words >> word;) {
    if (word == "circle")
      group.may_cross = true;
    else if (word == "random")
      group.may_wander = true;
    else
      reader.fail("scene", "found '" + shortened(word) + "', expected circle, random or both");
  }
  if (!group.may_cross && !group.may_wander)
    reader.fail("scene", "found nothing, expected circle, random or both");
  if (group.may_cross && !has_circle)
    reader.fail("scene", "found 'circle', expected the attribute 'circle' too, its radius in metres");
  if (!group.may_cross && has_circle)
    reader.fail("circle", "found a radius, expected scene=\"circle\" with it");
  constexpr Range kPoint[] = {kPlace, kPlace};
  if (const auto center = reader.numbers("center", kPoint, "x y"))
    group.center = {(*center)[0], (*center)[1]};
}

bool stands(const BlockModel& block) {
  return block.body >= 0 && !block.is_person && !block.is_driven;
}

}  // namespace

void Movers::read_group(TermReader& reader, const Model& model) {
  Group& group = groups_.emplace_back();
  group.term = reader.term();
  group.is_people = group.term.params.tag == "people";
  group.name = reader.text("policy", body_policies()[0].name);
  group.policy = make_body_policy(reader);
  group.aware = reader.boolean("aware", true);
  group.speed = reader.interval("speed", {0, 100}).value_or(Interval{1, 1});
  group.max_turn = reader.number("max_turn", group.is_people ? 6 : 2, kPositive);
  if (!group.policy->points()) group.area = read_area(reader, model);
  if (group.is_people) group.gap = reader.number("gap", 0.1, kNotNegative);
  if (group.is_people && !group.policy->points()) read_scene(reader, group);
  if (!group.policy->has_goal()) return;
  group.goes_on = reader.choice("at_goal", {"next", "stay"}) == 0;
  group.reached = reader.number("reached", 0.2, kPositive);
  group.follows_path = reader.text("goal", "") == "path";
  if (group.follows_path && group.is_people)
    reader.fail("goal",
                "found 'path', expected a point: only actors of the world, which <move> moves, have paths");
  if (group.follows_path) return;
  constexpr Range kPoint[] = {kPlace, kPlace};
  if (const auto goal = reader.numbers("goal", kPoint, "x y")) {
    group.goal = {(*goal)[0], (*goal)[1]};
    check_inside(reader, "goal", model, *group.goal);
    group.goes_on = false;
  }
}

void Movers::add_people(const TermSpec& term, const Model& model) {
  TermReader reader(term);
  for (const char* known : {"n", "radius", "height"}) static_cast<void>(reader.has(known));
  read_group(reader, model);
  reader.finish();
  const int n = reader.integer("n", 1, 0, static_cast<int>(kMaxPeople));
  const std::vector<Vec2>* const points = groups_.back().policy->points();
  if (points && static_cast<size_t>(n) > points->size())
    reader.fail("points", "found " + std::to_string(points->size()) + " points for " + std::to_string(n) +
                              " people, expected one for each to start at");
  for (int i = 0; i < n; ++i) {
    const std::string name = term.name + std::to_string(i + 1);
    const size_t block = model.block_index(name);
    const auto actor = std::ranges::find(model.actors, static_cast<int>(block), &ActorModel::block);
    bodies_.push_back({name, false, block, groups_.size() - 1, static_cast<size_t>(i), actor->radius});
  }
}

void Movers::add_vehicle(TermReader& reader, const Task& task, size_t index) {
  const Model& model = *task.models.front();
  const VehicleModel& v = model.vehicles[index];
  if (!v.controller->accepts_twist())
    reader.fail("bodies", "vehicle '" + v.name + "' has the controller '" +
                              std::string(v.controller->name()) + "', expected one that takes a twist");
  check_not_animated(model, BodyKind::kVehicle, index);
  bodies_.push_back({v.name, true, index, groups_.size() - 1, 0, v.radius});
}

void Movers::add_block(TermReader& reader, const Model& model, size_t index) {
  const BlockModel& b = model.blocks[index];
  if (!b.is_driven) {
    check_not_animated(model, BodyKind::kBlock, index);
    reader.fail("bodies", "block '" + b.name + "' is " + (b.is_wall ? "a wall" : "intangible") +
                              ", expected one that can be moved");
  }
  for (const JointModel& joint : model.joints)
    if (joint.body_a == static_cast<size_t>(b.body) || joint.body_b == static_cast<size_t>(b.body))
      reader.fail("bodies", "block '" + b.name + "' is held by a joint, expected one that is free");
  const auto actor = std::ranges::find(model.actors, static_cast<int>(index), &ActorModel::block);
  const double radius = actor == model.actors.end() ? b.shape.radius : actor->radius;
  bodies_.push_back({b.name, false, index, groups_.size() - 1, 0, radius});
}

// Adds the matching bodies: vehicles that no agent drives, and blocks.
void Movers::add_matching(const TermSpec& term, const Task& task) {
  const Model& model = *task.models.front();
  TermReader reader(term);
  const std::string pattern = reader.required_text("bodies");
  read_group(reader, model);
  reader.finish();
  const size_t before = bodies_.size();
  std::vector<std::string> known;
  const auto is_agent = [&](size_t vehicle) {
    return std::ranges::any_of(task.agents, [&](const AgentTask& a) { return a.vehicle == vehicle; });
  };
  for (size_t i = 0; i < model.vehicles.size(); ++i) {
    if (is_agent(i)) continue;
    known.push_back(model.vehicles[i].name);
    if (matches_pattern(pattern, known.back())) add_vehicle(reader, task, i);
  }
  const bool by_name = pattern.find('*') == std::string::npos;
  for (size_t i = 0; i < model.blocks.size(); ++i) {
    const BlockModel& b = model.blocks[i];
    if (!b.is_wall) known.push_back(b.name);
    if (matches_pattern(pattern, b.name) && (by_name || !b.is_wall)) add_block(reader, model, i);
  }
  if (bodies_.size() == before)
    reader.fail("bodies", "found '" + shortened(pattern) +
                              "', which matches no block of the world and no vehicle without an agent" +
                              did_you_mean(pattern, known));
  for (size_t i = before; i < bodies_.size(); ++i) bodies_[i].number = i - before;
  if (groups_.back().follows_path) check_paths(reader, task, before);
}

// Refuses bodies that are no actors with a path, in any world.
void Movers::check_paths(TermReader& reader, const Task& task, size_t first) const {
  for (size_t i = first; i < bodies_.size(); ++i)
    for (const auto& model : task.models) {
      const auto actor =
          std::ranges::find(model->actors, static_cast<int>(bodies_[i].index), &ActorModel::block);
      if (bodies_[i].is_vehicle || actor == model->actors.end() || actor->legs.empty())
        reader.fail("goal", "found 'path', but '" + bodies_[i].name +
                                "' is no actor with a <path>, expected a point or other bodies");
    }
}

void Movers::refuse_twice() const {
  for (size_t i = 0; i < bodies_.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (bodies_[i].is_vehicle == bodies_[k].is_vehicle && bodies_[i].index == bodies_[k].index)
        throw WorldFileError(groups_[bodies_[i].group].term.params.where,
                             describe(groups_[bodies_[i].group].term) + ": found '" + bodies_[i].name +
                                 "', which <" + groups_[bodies_[k].group].term.params.tag + " name=\"" +
                                 groups_[bodies_[k].group].term.name + "\"> moves already");
}

Movers::Movers(const Task& task) {
  const Model& model = *task.models.front();
  for (const TermSpec& term : task.spec.movers)
    if (term.params.tag == "people")
      add_people(term, model);
    else
      add_matching(term, task);
  refuse_twice();
  for (size_t v = 0; v < model.vehicles.size(); ++v)
    if (std::ranges::none_of(bodies_, [&](const Body& b) { return b.is_vehicle && b.index == v; }))
      vehicles_.push_back(v);
  has_walls_ = std::ranges::any_of(
      task.models, [](const auto& m) { return !m->grids.empty() || std::ranges::any_of(m->blocks, stands); });
  period_ = task.control_period;
}

std::unique_ptr<const Movers> compile_movers(const Task& task) {
  if (task.spec.movers.empty()) return nullptr;
  return std::make_unique<const Movers>(task);
}

}  // namespace mvsim
