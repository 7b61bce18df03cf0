#include "task/plan/shortest_path.h"

#include <memory>

#include "sim/simulation.h"
#include "task/plan/goal_field.h"
#include "task/plan/planning_grid.h"

namespace mvsim {
namespace {

// Number of cells beside the straight line that must be free so that the search follows it: one for rounding
// to cells, one for the corners of the start's four cells, one for the cells that a line of sight touches.
constexpr double kMargin = 3;

constexpr int kCellsPerPoll = 4096;  // cells

// Whether all cells of `g` within kMargin of the line from start to goal are free. Then each of them sees the
// goal and has a nearer neighbour that sees it too, so the search goes straight.
bool is_straight(const Simulation& simulation, const PathQuery& q, const PlanningGrid& whole,
                 const Poll& poll) {
  const Vec2 line = q.goal - q.start;
  const double length = norm(line), margin = kMargin * whole.cell;
  const double room = q.inflation + margin;
  // a point at distance `found` from obstacles clears the line over found - room to both sides
  for (double along = 0; along < length + whole.cell;) {
    const Vec2 p = length > 0 ? q.start + (std::min(along, length) / length) * line : q.start;
    const double found =
        distance_to_obstacles(simulation, p, room + length + whole.cell, static_cast<int>(q.agent));
    if (found < room + 0.5 * whole.cell) return false;
    along += found - room;
  }
  const Model& model = simulation.model();
  if (model.grids.empty() && model.terrain.maps.empty()) return true;
  const PlanningGrid g =
      window_of(whole, {std::min(q.start.x, q.goal.x) - margin, std::max(q.start.x, q.goal.x) + margin,
                        std::min(q.start.y, q.goal.y) - margin, std::max(q.start.y, q.goal.y) + margin});
  for (int i = 0; i < g.width * g.height; ++i) {
    if (poll && i % kCellsPerPoll == 0) poll();
    const Vec2 p = g.center(i);
    const double share = length > 0 ? std::clamp(dot(p - q.start, line) / (length * length), 0.0, 1.0) : 0.0;
    if (norm(p - (q.start + share * line)) <= margin && !is_known_ground(model, p)) return false;
  }
  return true;
}

}  // namespace

double shortest_path_length(const Simulation& simulation, const PathQuery& q, const Poll& poll) {
  const double straight = norm(q.goal - q.start);
  const PlanningGrid whole = empty_planning_grid(simulation.model().bounds, q.cell);
  if (is_straight(simulation, q, whole, poll)) return straight;
  // A search from the goal outward needs no cell that is farther from the goal than the path is long.
  for (double reach = 1.1 * std::max(q.expected, straight) + 4 * whole.cell;; reach *= 2) {
    const double side = reach + 3 * whole.cell;
    auto grid = std::make_shared<PlanningGrid>(
        window_of(whole, {q.goal.x - side, q.goal.x + side, q.goal.y - side, q.goal.y + side}));
    find_free_cells(*grid, simulation, q.agent, q.inflation, poll);
    const bool is_whole = grid->free.size() == whole.free.size();
    const GoalField field(std::move(grid), q.goal, q.start, poll);
    if (is_whole || field.searched() <= reach) return field.distance(q.start);
  }
}

}  // namespace mvsim
