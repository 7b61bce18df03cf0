// The bodies of an environment that its policies move: <people>, and the vehicles and blocks of <move>.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "task/env_spec.h"
#include "task/env_state.h"
#include "task/move/body_policy.h"
#include "worldfile/world_spec.h"

namespace mvsim {

// People: discs in the world of an environment, declared by <people> or as solid actors of the world.

inline constexpr size_t kMaxPeople = 200;
inline constexpr double kFarFromPeople = 10;   // m; people farther away are not measured
inline constexpr double kPersonalSpace = 0.5;  // m

// One <people>.
struct PeopleSpec {
  std::vector<std::string> names;  // "people1", "people2"...: the name of the element and a number
  double radius = 0.3, height = 1.7;
};

std::vector<PeopleSpec> people_of(const EnvSpec& spec);
// Adds the people to the world as solid actors.
void add_people(const EnvSpec& spec, WorldSpec& world);

// Whether the environment has a <people>, of any number, or its world a person.
bool may_have_people(const EnvSpec& spec, const Model& model);

struct Person {
  size_t block = 0;   // of the Model
  double radius = 0;  // m
};
std::vector<Person> people_in(const Model& model);

struct Task;

class Movers {
 public:
  struct Body {
    std::string name;
    bool is_vehicle = false;
    size_t index = 0;   // in the Model's vehicles or blocks
    size_t group = 0;   // index of its element
    size_t number = 0;  // index within that element
    double radius = 0;  // m
  };
  // One <people> or <move> of the environment file.
  struct Group {
    TermSpec term;
    std::string name;  // of the policy
    std::unique_ptr<const BodyPolicy> policy;
    bool is_people = false, aware = true, goes_on = true;
    bool may_cross = false, may_wander = true;  // ways to draw goals; each episode uses one of them
    Interval speed{1, 1};
    Vec2 center;                // of the circle that is crossed
    double circle = 0;          // m, its radius
    std::optional<Rect> area;   // where goals are drawn; none: the bounds of the world
    std::optional<Vec2> goal;   // common to all bodies of the group
    bool follows_path = false;  // its goals are the waypoints of the actors' paths
    double gap = 0, reached = 0, max_turn = 0;
  };

  // Throws WorldFileError.
  explicit Movers(const Task& task);

  size_t size() const { return bodies_.size(); }
  const std::vector<Body>& bodies() const { return bodies_; }
  const Group& group_of(const Body& body) const { return groups_[body.group]; }

  // Runs at the start of an episode, before the agents are placed. Places people, and draws the goals and
  // speeds of all bodies. Throws WorldFileError if there is no room. `poll` is called before each try and may
  // throw.
  void start(EnvState& env, const Poll& poll) const;
  // Runs at the start of each control period: sets the velocity of each body as its policy returns it.
  void drive(EnvState& env) const;

  Pose2 pose(const EnvState& env, size_t body) const;
  Vec2 velocity(const EnvState& env, size_t body) const;  // world axes

 private:
  void add_people(const TermSpec& term, const Model& model);
  void add_matching(const TermSpec& term, const Task& task);
  void add_vehicle(TermReader& reader, const Task& task, size_t index);
  void add_block(TermReader& reader, const Model& model, size_t index);
  void refuse_twice() const;
  void read_group(TermReader& reader, const Model& model);

  Vec2 draw_goal(const EnvState& env, size_t body, RandomStream& random) const;
  void check_paths(TermReader& reader, const Task& task, size_t first) const;
  void take_waypoint(EnvState& env, size_t body, bool is_first) const;
  void place_person(EnvState& env, size_t body, RandomStream& random, const Poll& poll) const;
  bool has_room(const EnvState& env, size_t body, Vec2 point) const;
  NearestWall wall_near(const EnvState& env, Vec2 point, double radius) const;
  Vec2 kept_from_walls(const EnvState& env, const BodyView& view, Vec2 velocity, double speed) const;
  void drive_body(EnvState& env, size_t body, const BodyView& view) const;

  std::vector<Group> groups_;
  std::vector<Body> bodies_;
  std::vector<size_t> vehicles_;  // vehicles that no policy here moves
  bool has_walls_ = false;        // there are static bodies
  double period_ = 0;             // s
};

// Returns null if the environment moves no bodies.
std::unique_ptr<const Movers> compile_movers(const Task& task);

}  // namespace mvsim
