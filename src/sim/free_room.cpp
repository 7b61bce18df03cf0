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

// Something that the solver moves.
struct Loose {
  Vec2 center;
  double radius;
  bool is_block;
};

Vec2 center_of(const BodyState& b) {
  return {b.x, b.y};
}

double travel_of(const Model& m, const SimState& s, const Workspace& w, size_t vehicle) {
  return norm(center_of(w.moved[vehicle]) - center_of(s.bodies[m.vehicles[vehicle].body]));
}

bool is_within_reach(const Model& m, const SimState& s, const Workspace& w, size_t vehicle) {
  return travel_of(m, s, w, vehicle) <= s.free_distances[vehicle];  // false for NaN
}

// What has to lie between a vehicle's circle and anything else.
double margin_of(const Model& m, size_t vehicle) {
  return m.vehicles[vehicle].radius + m.collision_threshold + kSkins;
}

void measure_free_distance(const Model& m, SimState& s, Workspace& w, size_t i) {
  const double margin = margin_of(m, i);
  const Vec2 center = center_of(s.bodies[m.vehicles[i].body]);
  double free = distance_to_static({{m, s}, w.scene}, m.origin + center, kLookAhead + margin) - margin;
  for (size_t j = 0; j < m.vehicles.size(); ++j) {
    if (j == i) continue;
    const double between =
        norm(center_of(s.bodies[m.vehicles[j].body]) - center) - m.vehicles[j].radius - margin;
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

// m/s, of all that can move.
double fastest(const Model& m, const SimState& s, const Workspace& w, double dt) {
  double fastest = 0;
  for (size_t i = 0; i < m.bodies.size(); ++i) {
    const BodyModel& kind = m.bodies[i];
    double speed = norm({s.bodies[i].vx, s.bodies[i].vy});
    if (kind.kind == BodyKind::kVehicle)
      speed += norm(w.forces[kind.index].force) * s.inertias[i].inverse_mass * dt;
    fastest = std::max(fastest, speed);
  }
  return fastest;
}

std::vector<Loose> find_loose(const Model& m, const SimState& s) {
  std::vector<Loose> loose;
  for (size_t i = 0; i < m.bodies.size(); ++i) {
    const BodyModel& kind = m.bodies[i];
    const BodyState& b = s.bodies[i];
    if (kind.kind == BodyKind::kVehicle) {
      if (s.vehicles[kind.index].by_solver)
        loose.push_back({center_of(b), m.vehicles[kind.index].radius, false});
    } else if (is_movable_block(m, kind) && is_moving(b)) {
      const BlockModel& block = m.blocks[kind.index];
      loose.push_back({center_of(b), block.shape.radius * s.params[block.params + kBlockScale], true});
    }
  }
  return loose;
}

// Those that something loose might reach become loose themselves.
void hold_within_reach_of_loose(const Model& m, SimState& s, Workspace& w, double dt) {
  std::vector<Loose> loose = find_loose(m, s);
  if (loose.empty()) return;
  // what is hit goes at most twice as fast as what hits it
  const double reach = 2 * fastest(m, s, w, dt) * dt + kPushedOut;
  for (size_t k = 0; k < loose.size(); ++k)
    for (size_t i = 0; i < m.vehicles.size(); ++i) {
      if (s.vehicles[i].by_solver) continue;
      const Vec2 center = center_of(s.bodies[m.vehicles[i].body]);
      const double between = norm(center - loose[k].center) - loose[k].radius - margin_of(m, i);
      // a block that comes to rest there counts from then on
      if (loose[k].is_block) s.free_distances[i] = std::min(s.free_distances[i], between);
      if (between > reach + travel_of(m, s, w, i)) continue;
      s.vehicles[i].by_solver = true;
      loose.push_back({center, m.vehicles[i].radius, false});
    }
}

}  // namespace

bool is_movable_block(const Model& m, const BodyModel& body) {
  return body.kind == BodyKind::kBlock && !m.blocks[body.index].traits.is_static;
}

bool is_moving(const BodyState& b) {
  return !(std::fabs(b.vx) < kAtRest && std::fabs(b.vy) < kAtRest && std::fabs(b.omega) < kAtRest);
}

bool all_within_reach(const Model& m, const SimState& s, const Workspace& w) {
  for (size_t i = 0; i < m.vehicles.size(); ++i)
    if (!is_within_reach(m, s, w, i)) return false;
  return true;
}

void hold_near_ones(const Model& m, SimState& s, Workspace& w, double dt) {
  const auto for_lost = [&](auto&& act) {
    for (size_t i = 0; i < m.vehicles.size(); ++i)
      if (!s.vehicles[i].by_solver && !is_within_reach(m, s, w, i)) act(i);
  };
  for_lost([&](size_t i) { measure_free_distance(m, s, w, i); });
  for_lost([&](size_t i) { s.vehicles[i].by_solver = true; });
  hold_within_reach_of_loose(m, s, w, dt);
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
