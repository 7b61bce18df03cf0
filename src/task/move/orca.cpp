// Optimal reciprocal collision avoidance (van den Berg et al. 2011). Each body does half of the avoiding. The
// allowed velocities avoid all others for `horizon` seconds, and the policy takes the one nearest to the
// velocity to the goal.
#include <algorithm>
#include <cmath>

#include "task/move/body_policy.h"

namespace mvsim {
namespace {

constexpr double kParallel = 1e-9;

// A half plane of velocities: those to the left of the line are allowed.
struct Line {
  Vec2 point, direction;  // a unit vector
};

double excess(const Line& line, Vec2 velocity) {  // distance beyond the line, above 0: not allowed
  return cross(line.direction, line.point - velocity);
}

// Finds the velocity on line `index` nearest to `wanted` (or farthest along it) that the lines before it
// allow.
bool solve_on_line(std::span<const Line> lines, size_t index, double speed, Vec2 wanted, bool is_direction,
                   Vec2& result) {
  const Line& line = lines[index];
  const double along = dot(line.point, line.direction);
  const double root = along * along + speed * speed - dot(line.point, line.point);
  if (root < 0) return false;  // the line misses the circle of possible speeds
  double left = -along - std::sqrt(root), right = -along + std::sqrt(root);
  for (size_t i = 0; i < index; ++i) {
    const double denominator = cross(line.direction, lines[i].direction);
    const double numerator = cross(lines[i].direction, line.point - lines[i].point);
    if (std::fabs(denominator) <= kParallel) {
      if (numerator < 0) return false;
      continue;
    }
    const double t = numerator / denominator;
    if (denominator >= 0)
      right = std::min(right, t);
    else
      left = std::max(left, t);
    if (left > right) return false;
  }
  double t = dot(line.direction, wanted - line.point);
  if (is_direction) t = dot(line.direction, wanted) > 0 ? right : left;
  result = line.point + std::clamp(t, left, right) * line.direction;
  return true;
}

// Returns the number of leading lines that are satisfied.
size_t solve(std::span<const Line> lines, double speed, Vec2 wanted, bool is_direction, Vec2& result) {
  result = is_direction ? speed * wanted : limited(wanted, speed);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (excess(lines[i], result) <= 0) continue;
    const Vec2 before = result;
    if (!solve_on_line(lines, i, speed, wanted, is_direction, result)) {
      result = before;
      return i;
    }
  }
  return lines.size();
}

// If not all lines can be satisfied: finds the velocity with the least violation. The first `fixed` lines
// always hold.
void solve_least_bad(std::span<const Line> lines, size_t fixed, size_t begin, double speed, Vec2& result) {
  double worst = 0;
  std::vector<Line> projected;
  for (size_t i = begin; i < lines.size(); ++i) {
    if (excess(lines[i], result) <= worst) continue;
    projected.assign(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(fixed));
    for (size_t j = fixed; j < i; ++j) {
      const double determinant = cross(lines[i].direction, lines[j].direction);
      Line line;
      if (std::fabs(determinant) <= kParallel) {
        if (dot(lines[i].direction, lines[j].direction) > 0) continue;
        line.point = 0.5 * (lines[i].point + lines[j].point);
      } else {
        const double t = cross(lines[j].direction, lines[i].point - lines[j].point) / determinant;
        line.point = lines[i].point + t * lines[i].direction;
      }
      const Vec2 difference = lines[j].direction - lines[i].direction;
      line.direction = 1 / norm(difference) * difference;
      projected.push_back(line);
    }
    const Vec2 before = result;
    const Vec2 normal{-lines[i].direction.y, lines[i].direction.x};
    if (solve(projected, speed, normal, true, result) < projected.size()) result = before;
    worst = excess(lines[i], result);
  }
}

}  // namespace

class Orca final : public BodyPolicy {
 public:
  explicit Orca(TermReader& reader)
      : horizon_(reader.number("horizon", 5, kPositive)),
        wall_horizon_(reader.number("wall_horizon", 1, kPositive)),
        safety_(reader.number("safety", 0.15, kNotNegative)),
        sight_(reader.number("sight", 10, kPositive)),
        neighbours_(static_cast<size_t>(reader.integer("neighbours", 10, 1, 1000))) {}

  Vec2 velocity(const BodyView& view, MoverState& mover, RandomStream& random) const override {
    std::vector<Line> lines;
    if (view.wall.distance < kSightOfWalls + view.self.radius) lines.push_back(line_of_wall(view));
    const size_t fixed = lines.size();
    for (const Disc& other : nearest(view)) lines.push_back(line_of(view, other));
    const Vec2 straight = velocity_to(mover.goal, view, mover);
    const SinCos turn = sin_cos(lines.empty() ? 0 : -aside(view, straight, random));
    const Vec2 wanted{turn.cos * straight.x - turn.sin * straight.y,
                      turn.sin * straight.x + turn.cos * straight.y};
    Vec2 result;
    const size_t kept = solve(lines, mover.speed, wanted, false, result);
    if (kept < lines.size()) solve_least_bad(lines, fixed, kept, mover.speed, result);
    return result;
  }

 private:
  static constexpr double kNudge = 0.2, kBlocked = 1.2;  // rad

  std::vector<Disc> nearest(const BodyView& view) const {
    const auto distance = [&](const Disc& d) { return norm(d.position - view.self.position); };
    std::vector<Disc> out;
    for (const Disc& other : view.others)
      if (distance(other) < sight_) out.push_back(other);
    std::ranges::stable_sort(out, {}, distance);
    if (out.size() > neighbours_) out.resize(neighbours_);
    return out;
  }

  // Returns the angle to turn to the right, rad. A body that meets another head-on must choose a side. Bodies
  // that stop around a place that all want to cross then pass each other as in a roundabout.
  static double aside(const BodyView& view, Vec2 straight, RandomStream& random) {
    const double wanted = norm(straight), held_up = wanted > 0 ? 1 - norm(view.self.velocity) / wanted : 0;
    return random.uniform(0, kNudge) + kBlocked * std::max(0.0, held_up);
  }

  // The velocities that do not bring the body into a wall within the horizon.
  Line line_of_wall(const BodyView& view) const {
    const Vec2 n = view.wall.towards;
    const double room = view.wall.distance - view.self.radius;
    return {room / wall_horizon_ * n, {-n.y, n.x}};
  }

  Line line_of(const BodyView& view, const Disc& other) const {
    const Vec2 to = other.position - view.self.position, relative = view.self.velocity - other.velocity;
    const double radius = view.self.radius + other.radius + safety_, squared = dot(to, to);
    Vec2 change;  // from the relative velocity to the border of the velocity obstacle
    Line line;
    if (squared > radius * radius) {
      const Vec2 w = relative - 1 / horizon_ * to;
      const double along = dot(w, to), length = norm(w);
      if (along < 0 && along * along > radius * radius * length * length) {  // the round end
        const Vec2 unit = 1 / length * w;
        line.direction = {unit.y, -unit.x};
        change = (radius / horizon_ - length) * unit;
      } else {
        const double leg = std::sqrt(squared - radius * radius);
        if (cross(to, w) > 0)
          line.direction = 1 / squared * Vec2{to.x * leg - to.y * radius, to.x * radius + to.y * leg};
        else
          line.direction = -1 / squared * Vec2{to.x * leg + to.y * radius, -to.x * radius + to.y * leg};
        change = dot(relative, line.direction) * line.direction - relative;
      }
    } else {  // they overlap already: separate within the period
      const Vec2 w = relative - 1 / view.period * to;
      const double length = norm(w);
      const Vec2 unit = length > 0 ? 1 / length * w : Vec2{1, 0};
      line.direction = {unit.y, -unit.x};
      change = (radius / view.period - length) * unit;
    }
    line.point = view.self.velocity + 0.5 * change;
    return line;
  }

  double horizon_, wall_horizon_;  // s
  double safety_, sight_;          // m
  size_t neighbours_;
};

template <>
std::unique_ptr<const BodyPolicy> body_policy<Orca>(TermReader& reader) {
  return std::make_unique<Orca>(reader);
}

}  // namespace mvsim
