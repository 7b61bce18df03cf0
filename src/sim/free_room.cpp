#include "sim/free_room.h"

#include <box2d/b2_dynamic_tree.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "raycast/polygon_cast.h"
#include "sim/measure.h"
#include "sim/workspace.h"

namespace mvsim {
namespace {

constexpr double kLookAhead = 1.5;   // m, farthest distance worth measuring
constexpr double kPushedOut = 0.05;  // m by which contacts may move a body beside its velocity
constexpr float kAtRest = 1e-5f;     // m/s and rad/s of a block that counts as lying still

bool is_within_reach(const SimState& s, const Workspace& w, size_t vehicle) {
  return w.vehicles[vehicle].travel <= s.free_distances[vehicle];  // false for NaN
}

// Returns the distance from a vehicle's reference point within which it may touch another thing, m.
double margin_of(const Model& m, size_t vehicle) {
  return m.vehicles[vehicle].radius + m.collision_threshold + kSkins;
}

void measure_free_distance(const Model& m, SimState& s, Workspace& w, size_t i) {
  const double margin = margin_of(m, i);
  const Vec2 center = reference_point(s.bodies[m.vehicles[i].body]);
  double free = free_distance(m, s, w, i);
  for (size_t j = 0; j < m.vehicles.size(); ++j) {
    if (j == i) continue;
    const double between =
        norm(reference_point(s.bodies[m.vehicles[j].body]) - center) - m.vehicles[j].radius - margin;
    double theirs = 0;
    if (!s.vehicles[j].by_solver) {
      double& other = s.free_distances[j];
      theirs = other < 0 ? between / 2 : std::min(other, between / 2);
      other = std::min(other, theirs);
    }
    free = std::min(free, between - theirs);
  }
  s.free_distances[i] = free;
}

double radius_of(const Model& m, const SimState& s, const BodyModel& kind) {
  if (kind.kind == BodyKind::kVehicle) return m.vehicles[kind.index].radius;
  const BlockModel& block = m.blocks[kind.index];
  return block.shape.radius * s.params[block.params + kBlockScale];
}

// Returns the largest speed of any point of a body that can move, m/s.
double fastest(const Model& m, const SimState& s, const Workspace& w, double dt) {
  double fastest = 0;
  for (const size_t i : m.moving_bodies) {
    const BodyModel& kind = m.bodies[i];
    const BodyState& b = s.bodies[i];
    double speed = norm(Vec2{b.vx, b.vy}) + std::fabs(double{b.omega}) * radius_of(m, s, kind);
    if (kind.kind == BodyKind::kVehicle)
      speed += norm(w.vehicles[kind.index].force.force()) * s.inertias[i].inverse_mass * dt;
    fastest = std::max(fastest, speed);
  }
  return fastest;
}

// Set of bodies that the solver moves: vehicles that it holds, moving blocks, and all that these might reach.
class Loose {
 public:
  Loose(const Model& m, SimState& s, const Workspace& w) : m_(m), s_(s), w_(w), is_in_(m.bodies.size()) {
    for (const size_t i : m.moving_bodies) {
      const BodyModel& kind = m.bodies[i];
      if (kind.kind == BodyKind::kVehicle ? s.vehicles[kind.index].by_solver
                                          : is_movable_block(m, kind) && is_moving(s.bodies[i]))
        add(i);
    }
  }

  // Holds the vehicles among those.
  void spread(double dt) {
    if (bodies_.empty()) return;
    // a body that is hit gets at most twice the speed of the one that hits it
    const double reach = 2 * fastest(m_, s_, w_, dt) * dt + kPushedOut;
    for (size_t k = 0; k < bodies_.size(); ++k)
      for (const size_t i : m_.moving_bodies) {
        const BodyModel& kind = m_.bodies[i];
        const bool is_vehicle = kind.kind == BodyKind::kVehicle;
        if (is_in_[i] || !(is_vehicle || is_movable_block(m_, kind))) continue;
        const double far = is_vehicle ? reach + w_.vehicles[kind.index].travel : reach;
        if (between(bodies_[k], i) > far + m_.collision_threshold + kSkins) continue;
        if (is_vehicle) s_.vehicles[kind.index].by_solver = true;
        add(i);
      }
  }

 private:
  void add(size_t body) {
    is_in_[body] = true;
    bodies_.push_back(body);
  }

  double between(size_t a, size_t b) const {
    return norm(reference_point(s_.bodies[b]) - reference_point(s_.bodies[a])) -
           radius_of(m_, s_, m_.bodies[a]) - radius_of(m_, s_, m_.bodies[b]);
  }

  const Model& m_;
  SimState& s_;
  const Workspace& w_;
  std::vector<bool> is_in_;
  std::vector<size_t> bodies_;
};

}  // namespace

bool is_movable_block(const Model& m, const BodyModel& body) {
  return body.kind == BodyKind::kBlock && !m.blocks[body.index].traits.is_static;
}

bool is_moving(const BodyState& b) {
  return !(std::fabs(b.vx) < kAtRest && std::fabs(b.vy) < kAtRest && std::fabs(b.omega) < kAtRest);
}

double free_distance(const Model& m, const SimState& s, Workspace& w, size_t vehicle) {
  const double margin = margin_of(m, vehicle);
  const Vec2 center = reference_point(s.bodies[m.vehicles[vehicle].body]);
  return distance_to_static({{m, s}, w.scene}, center, kLookAhead + margin) - margin;
}

bool all_within_reach(const SimState& s, const Workspace& w) {
  for (size_t i = 0; i < s.free_distances.size(); ++i)
    if (!is_within_reach(s, w, i)) return false;
  return true;
}

void hold_near_ones(const Model& m, SimState& s, Workspace& w, double dt) {
  const auto for_lost = [&](auto&& act) {
    for (size_t i = 0; i < m.vehicles.size(); ++i)
      if (!s.vehicles[i].by_solver && !is_within_reach(s, w, i)) act(i);
  };
  for_lost([&](size_t i) { measure_free_distance(m, s, w, i); });
  for_lost([&](size_t i) { s.vehicles[i].by_solver = true; });
  if (!std::ranges::all_of(s.vehicles, &VehicleState::by_solver)) Loose(m, s, w).spread(dt);
}

void keep_clear_of_moved_blocks(const Model& m, SimState& s, std::span<const BodyState> before) {
  for (size_t k = 0; k < before.size(); ++k) {
    const size_t b = m.moving_bodies[k];
    if (!is_movable_block(m, m.bodies[b])) continue;
    const BodyState &was = before[k], &is = s.bodies[b];
    if (was.x == is.x && was.y == is.y && was.angle == is.angle) continue;
    for (size_t i = 0; i < m.vehicles.size(); ++i) {
      if (s.vehicles[i].by_solver) continue;
      const double between = norm(reference_point(s.bodies[m.vehicles[i].body]) - reference_point(is)) -
                             radius_of(m, s, m.bodies[b]) - margin_of(m, i);
      s.free_distances[i] = std::min(s.free_distances[i], between);
    }
  }
}

void release_free_ones(const Model& m, SimState& s, Workspace& w) {
  for (size_t i = 0; i < m.vehicles.size(); ++i) {
    if (!s.vehicles[i].by_solver || w.solver->has_neighbours(m.vehicles[i].body)) continue;
    measure_free_distance(m, s, w, i);
    if (!(s.free_distances[i] > kLeaveContact)) continue;
    s.vehicles[i].by_solver = false;
    w.solver->remove(i);
  }
}

namespace {

// The first step of a heap takes some 0.1 ms a pair, and no signal ends it.
constexpr size_t kMostPairs = 20'000;
constexpr size_t kMostNear = 500'000;  // pairs whose boxes meet: Box2D keeps some 300 bytes for each
constexpr size_t kManyPairs = 2'000;   // more are worth a word
constexpr size_t kNothing = ~size_t{0};
constexpr double kShare = 0.99;  // scale of outlines about their middles, so that touching is no overlap

enum Obstacle { kVehicle, kBlock, kWall, kMap, kObstacleCount };
constexpr const char* kPlural[] = {"vehicles", "blocks", "walls", "occupied cells"};

// One outline of a body in the world frame; a vehicle has several, its wheels among them.
struct Outline {
  Polygon points;
  size_t body = 0;  // in Model::bodies
  Obstacle kind = kBlock;
};

b2AABB box_of(std::span<const Vec2> points, Vec2 origin) {
  b2AABB box;
  box.lowerBound = {b2_maxFloat, b2_maxFloat};
  box.upperBound = {-b2_maxFloat, -b2_maxFloat};
  for (const Vec2 p : points) {
    const b2Vec2 here(static_cast<float>(p.x - origin.x), static_cast<float>(p.y - origin.y));
    box.lowerBound = b2Min(box.lowerBound, here);
    box.upperBound = b2Max(box.upperBound, here);
  }
  return box;
}

Polygon shrunk(Polygon outline) {
  Vec2 center;
  for (const Vec2 v : outline) center = center + 1.0 / static_cast<double>(outline.size()) * v;
  for (Vec2& v : outline) v = center + kShare * (v - center);
  return outline;
}

// Bodies that start inside of obstacles of one kind.
struct Found {
  size_t body = 0, obstacle = 0;  // the first, and the first that it is in
  size_t count = 0;
};

class StartCheck {
 public:
  // Keeps references to both.
  StartCheck(const SimScene& sim, const Poll& poll) : sim_(sim), model_(sim.model), poll_(poll) {
    for (size_t body = 0; body < model_.bodies.size(); ++body)
      if (can_be_pushed(body)) pushable_.push_back(body);
    if (pushable_.empty()) return;
    const SimState& s = sim.state;
    for (const MovingShape& shape : sim.scene.shapes(model_, s.params, s.bodies, s.wheels, -1))
      add({{shape.vertices, shape.vertices + shape.count}, static_cast<size_t>(shape.body), kBlock});
    for (size_t i = 0; i < model_.blocks.size(); ++i) {
      const BlockModel& b = model_.blocks[i];
      if (b.body >= 0 && b.traits.is_static && !b.placed)
        add({block_outline(sim, i), static_cast<size_t>(b.body), kBlock});
    }
  }

  void run() {
    for (const size_t body : pushable_) look(body);
  }

  // In the order of kinds: vehicles first.
  std::vector<StartWarning> warnings() const {
    std::vector<StartWarning> out;
    for (const auto& row : found_)
      for (size_t kind = 0; kind < row.size(); ++kind)
        if (row[kind].count > 0) out.push_back(warning_of(row[kind], static_cast<Obstacle>(kind)));
    return out;
  }

 private:
  bool is_vehicle(size_t body) const { return model_.bodies[body].kind == BodyKind::kVehicle; }

  // A vehicle, or a block that moves and that nothing leads.
  bool can_be_pushed(size_t body) const {
    if (is_vehicle(body)) return true;
    const BlockModel& block = model_.blocks[model_.bodies[body].index];
    return !block.traits.is_static && !block.is_led;
  }

  void add(Outline outline) {
    if (is_vehicle(outline.body))
      outline.kind = kVehicle;
    else if (model_.blocks[model_.bodies[outline.body].index].is_wall)
      outline.kind = kWall;
    void* const index = reinterpret_cast<void*>(outlines_.size());  // NOLINT(performance-no-int-to-ptr)
    tree_.CreateProxy(box_of(outline.points, model_.origin), index);
    outlines_.push_back(std::move(outline));
  }

  void look(size_t body) {
    if (poll_) poll_();
    const size_t index = model_.bodies[body].index;
    own_ = shrunk(is_vehicle(body) ? vehicle_outline(sim_, index) : block_outline(sim_, index));
    body_ = body;
    inside_.fill(kNothing);
    tree_.Query(this, box_of(own_, model_.origin));
    if (const size_t cells = overlapped_cells(sim_, own_); cells > 0) {
      inside_[kMap] = 0;
      pairs_ += cells;
      if (pairs_ > kMostPairs) fail();
    }
    for (size_t kind = 0; kind < kObstacleCount; ++kind) {
      if (inside_[kind] == kNothing) continue;
      Found& found = found_[is_vehicle(body) ? 0 : 1][kind];
      if (found.count++ == 0) found = {body, inside_[kind], 1};
    }
  }

 public:
  // Called by the tree for each outline whose box meets that of the body.
  bool QueryCallback(int32 proxy) {  // NOLINT(readability-identifier-naming): Box2D's name
    const Outline& other = outlines_[reinterpret_cast<size_t>(tree_.GetUserData(proxy))];
    if (other.body == body_) return true;
    const int group = model_.bodies[body_].joint_group;
    if (group >= 0 && model_.bodies[other.body].joint_group == group) return true;
    const bool is_counted = other.body > body_ || !can_be_pushed(other.body);  // each pair once
    if (is_counted && ++near_ > kMostNear) fail();
    if (polygon_distance(own_, other.points) > 0) return true;
    if (is_counted && ++pairs_ > kMostPairs) fail();
    const bool is_told = !is_vehicle(body_) && other.kind == kVehicle;  // as a vehicle inside of a block
    if (!is_told) inside_[other.kind] = std::min(inside_[other.kind], other.body);
    return true;
  }

 private:
  std::string name_of(size_t body) const {
    const size_t index = model_.bodies[body].index;
    return is_vehicle(body) ? model_.vehicles[index].name : model_.blocks[index].name;
  }
  SourceLocation place_of(size_t body) const {
    const size_t index = model_.bodies[body].index;
    return is_vehicle(body) ? model_.vehicles[index].where : model_.blocks[index].where;
  }
  std::string described(Obstacle kind, size_t body) const {
    constexpr const char* kNames[] = {"the vehicle '", "the block '", "the wall '"};
    return kind == kMap ? "an occupied cell of a map" : kNames[kind] + name_of(body) + "'";
  }
  std::string tag_of(size_t body) const {
    return std::string(is_vehicle(body) ? "<vehicle>" : "<block>") + " '" + name_of(body) + "'";
  }

  [[noreturn]] void fail() const {
    throw WorldFileError(
        place_of(body_),
        tag_of(body_) + " is one of a heap: found more than " +
            (pairs_ > kMostPairs
                 ? std::to_string(kMostPairs) + " pairs of bodies, or of a body and a cell of a map, inside"
                 : std::to_string(kMostNear) + " pairs of bodies close to") +
            " each other, expected fewer (each pair takes time and memory in a step)");
  }

  StartWarning warning_of(const Found& found, Obstacle kind) const {
    const bool vehicle = is_vehicle(found.body);
    std::string text = tag_of(found.body) + " starts inside of " + described(kind, found.obstacle);
    if (found.count > 1) {
      const size_t more = found.count - 1;
      const std::string noun = vehicle ? "vehicle" : "block";
      text += ", and " + std::to_string(more) + " more " + noun + (more == 1 ? " starts" : "s start") +
              " inside of " + kPlural[kind];
    }
    text += ": they are pushed apart, expected a free pose (or an intangible block)";
    if (pairs_ > kManyPairs)
      text += "; " + std::to_string(pairs_) +
              " pairs of bodies and cells start inside each other, so the first steps take long";
    return {place_of(found.body), text};
  }

  const SimScene& sim_;
  const Model& model_;
  const Poll& poll_;
  std::vector<size_t> pushable_;  // bodies; if there is none, nothing is looked at
  b2DynamicTree tree_;
  std::vector<Outline> outlines_;
  std::array<std::array<Found, kObstacleCount>, 2> found_;  // of vehicles, of blocks
  size_t near_ = 0, pairs_ = 0;                             // whose boxes meet; that overlap
  // of the body that is looked at
  Polygon own_;
  size_t body_ = 0;
  std::array<size_t, kObstacleCount> inside_;  // by kind: the first in the order of the file, or kNothing
};

}  // namespace

std::string StartWarning::line() const {
  return where.text() + ": " + text;
}

std::vector<StartWarning> check_start(const SimScene& sim, const Poll& poll) {
  StartCheck check(sim, poll);
  check.run();
  return check.warnings();
}

void refuse_heap(const SimScene& sim) {
  StartCheck(sim, {}).run();
}

void require_free_start(const SimScene& sim, const Poll& poll) {
  const std::vector<StartWarning> found = check_start(sim, poll);
  if (!found.empty())
    throw WorldFileError(found.front().where, "strict refuses a warning: " + found.front().text);
}

}  // namespace mvsim
