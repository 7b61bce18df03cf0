// The registry of policies that move bodies, and their common code.
#include <algorithm>

#include "task/move/body_policy.h"

namespace mvsim {
// One line a policy, which also declares its class.
constexpr BodyPolicyClass kPolicies[] = {
    {"social_force", body_policy<class SocialForce>},
    {"orca", body_policy<class Orca>},
    {"go_to_goal", body_policy<class GoToGoal>},
    {"waypoints", body_policy<class Waypoints>},
    {"pure_pursuit", body_policy<class PurePursuit>},
    {"random", body_policy<class RandomWalk>},
    {"spline", body_policy<class Spline>},
    {"python", body_policy<class Callers>},
};

std::span<const BodyPolicyClass> body_policies() {
  return kPolicies;
}

std::unique_ptr<const BodyPolicy> make_body_policy(TermReader& reader) {
  return kPolicies[reader.choice("policy", names_in(kPolicies))].make(reader);
}

Twist2 BodyPolicy::twist(const BodyView& view, MoverState& mover, RandomStream& random,
                         double max_turn) const {
  constexpr double kTurnsWithin = 0.5;  // s, shortest time in which a vehicle turns to its direction
  const Vec2 wanted = velocity(view, mover, random);
  const double speed = norm(wanted);
  if (speed == 0) return {};
  const SinCos heading = sin_cos(view.yaw);
  const double angle = signed_angle({heading.cos, heading.sin}, wanted);
  const double turn = angle / std::max(kTurnsWithin, view.period);
  return {std::max(0.0, speed * sin_cos(angle).cos), 0, std::clamp(turn, -max_turn, max_turn)};
}

Vec2 velocity_to(Vec2 goal, const BodyView& view, const MoverState& mover) {
  const Vec2 way = goal - view.self.position;
  return limited(1 / view.period * way, mover.speed);
}

Vec2 limited(Vec2 velocity, double speed) {
  const double length = norm(velocity);
  return length > speed ? speed / length * velocity : velocity;
}

double signed_angle(Vec2 from, Vec2 to) {
  return math::atan2(cross(from, to), dot(from, to));
}

std::vector<Vec2> read_points(TermReader& reader, std::string_view name, size_t least) {
  constexpr size_t kMost = 10000;
  const char* const expected = "points x y, with commas between them";
  std::string text = reader.required_text(name);
  std::ranges::replace(text, ',', ' ');
  const NamedText numbers{std::string(name), text, reader.term().params.find(name)->where};
  const std::vector<double> v = parse_numbers(numbers, 2 * least, 2 * kMost, expected);
  if (v.size() % 2 != 0)
    reader.fail(name, "found " + std::to_string(v.size()) + " numbers, expected " + expected);
  std::vector<Vec2> out;
  for (size_t i = 0; i < v.size(); i += 2) {
    for (const double x : {v[i], v[i + 1]})
      if (!(x >= kPlace.min && x <= kPlace.max)) reader.fail(name, "found a place outside of any world");
    out.push_back({v[i], v[i + 1]});
  }
  return out;
}

}  // namespace mvsim
