#include "sim/free_room.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/clearance.h"
#include "sim/workspace.h"

namespace mvsim {
namespace {

constexpr double kLookAhead = 1.5;      // m, farthest distance worth measuring
constexpr double kLeaveContact = 0.05;  // m of free distance before Box2D is left again
constexpr double kPushedOut = 0.05;     // m by which contacts may move a body beside its velocity
constexpr float kAtRest = 1e-5f;        // m/s and rad/s of a block that counts as lying still

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
  double free = distance_to_static({{m, s}, w.scene}, center, kLookAhead + margin) - margin;
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
  for (const size_t b : m.moving_bodies) {
    if (!is_movable_block(m, m.bodies[b])) continue;
    const BodyState &was = before[b], &is = s.bodies[b];
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

}  // namespace mvsim
