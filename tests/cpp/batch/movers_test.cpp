// People and blocks that policies of an environment move. Oracles are distances between discs and the paths
// that a policy's definition gives.
#include <gtest/gtest.h>

#include <cmath>

#include "batch/batch.h"
#include "batch/batch_test_util.h"
#include "task/move/body_policy.h"
#include "task/move/movers.h"

namespace mvsim::movers_test {
namespace {

TermSpec term_of(std::initializer_list<std::pair<const char*, const char*>> attributes) {
  TermSpec term;
  term.name = "people";
  term.params.tag = "people";
  for (const auto& [name, value] : attributes) term.params.values.push_back({name, value, {}});
  return term;
}

// Discs that a policy moves through the open plane, each to its goal.
struct Plane {
  explicit Plane(std::initializer_list<std::pair<const char*, const char*>> attributes) {
    const TermSpec term = term_of(attributes);
    TermReader reader(term);
    policy = make_body_policy(reader);
  }

  void add(Vec2 start, Vec2 goal, double speed) {
    discs.push_back({start, {}, 0.3});
    movers.push_back(
        {.goal = goal, .start = start, .speed = speed, .next = 0, .crosses = false, .asked = {}});
  }

  void step(double period) {
    std::vector<Vec2> velocities;
    for (size_t i = 0; i < discs.size(); ++i) {
      std::vector<Disc> others;
      for (size_t k = 0; k < discs.size(); ++k)
        if (k != i) others.push_back(discs[k]);
      const BodyView view{.self = discs[i], .yaw = 0, .period = period, .others = others, .wall = {}};
      RandomStream random(key + steps, 0, StreamPurpose::kMover, static_cast<uint16_t>(i));
      velocities.push_back(policy->velocity(view, movers[i], random));
    }
    for (size_t i = 0; i < discs.size(); ++i) {
      discs[i].velocity = velocities[i];
      discs[i].position = discs[i].position + period * velocities[i];
    }
    ++steps;
  }

  double least_gap() const {
    double least = 1e9;
    for (size_t i = 0; i < discs.size(); ++i)
      for (size_t k = 0; k < i; ++k)
        least =
            std::min(least, norm(discs[i].position - discs[k].position) - discs[i].radius - discs[k].radius);
    return least;
  }
  double farthest_from_goal() const {
    double most = 0;
    for (size_t i = 0; i < discs.size(); ++i) most = std::max(most, norm(movers[i].goal - discs[i].position));
    return most;
  }

  std::unique_ptr<const BodyPolicy> policy;
  std::vector<Disc> discs;
  std::vector<MoverState> movers;
  uint64_t key = 7, steps = 0;
};

TEST(Orca, TwoHeadOnPassWithoutTouching) {
  Plane plane({{"policy", "orca"}, {"safety", "0"}});
  plane.add({-4, 0}, {4, 0}, 1);
  plane.add({4, 0}, {-4, 0}, 1);
  for (int i = 0; i < 120; ++i) {
    plane.step(0.1);
    ASSERT_GT(plane.least_gap(), -1e-6) << i;
  }
  EXPECT_LT(plane.farthest_from_goal(), 0.05);
}

TEST(Orca, AloneGoesStraightAtItsSpeed) {
  Plane plane({{"policy", "orca"}});
  plane.add({0, 0}, {3, 4}, 1.25);
  for (int i = 0; i < 20; ++i) plane.step(0.1);  // 2.5 m of 5
  EXPECT_NEAR(plane.discs[0].position.x, 1.5, 1e-9);
  EXPECT_NEAR(plane.discs[0].position.y, 2.0, 1e-9);
  EXPECT_NEAR(norm(plane.discs[0].velocity), 1.25, 1e-9);
}

TEST(Orca, SixCrossACircleWithoutTouching) {
  Plane plane({{"policy", "orca"}});
  for (int i = 0; i < 6; ++i) {
    const SinCos a = sin_cos(2 * kPi * i / 6);
    plane.add({4 * a.cos, 4 * a.sin}, {-4 * a.cos, -4 * a.sin}, 1);
  }
  for (int i = 0; i < 400; ++i) {
    plane.step(0.1);
    ASSERT_GT(plane.least_gap(), -1e-3) << i;
  }
  EXPECT_LT(plane.farthest_from_goal(), 0.5);
}

TEST(SocialForce, TwoHeadOnPassWithoutTouching) {
  Plane plane({{"policy", "social_force"}});
  plane.add({-4, 0.05}, {4, 0.05}, 1);
  plane.add({4, 0}, {-4, 0}, 1);
  for (int i = 0; i < 300; ++i) {
    plane.step(0.1);
    ASSERT_GT(plane.least_gap(), 0) << i;
    for (const Disc& d : plane.discs) ASSERT_LE(norm(d.velocity), 1 + 1e-12);
  }
  EXPECT_LT(plane.farthest_from_goal(), 1);
}

// From rest the velocity after a period is period * push; of one neighbour that is A exp(-gap / B) away from
// it.
TEST(SocialForce, PushIsThatOfTheDefinition) {
  Plane plane({{"policy", "social_force"}, {"strength", "2"}, {"range", "0.5"}});
  plane.add({0, 0}, {0, 0}, 10);
  plane.add({1, 0}, {1, 0}, 10);
  plane.step(0.1);
  const double expected = 0.1 * 2 * std::exp(-(1 - 0.6) / 0.5);
  EXPECT_NEAR(plane.discs[0].velocity.x, -expected, 0.1 * 0.05);
  EXPECT_NEAR(plane.discs[0].velocity.y, 0, 0.1 * 0.05);
}

TEST(Waypoints, AreVisitedInOrderAndAgain) {
  Plane plane({{"policy", "waypoints"}, {"points", "1 0, 1 1, 0 0"}});
  plane.add({0, 0}, {}, 1);
  std::vector<uint32_t> order;
  for (int i = 0; i < 60; ++i) {
    plane.step(0.1);
    if (order.empty() || order.back() != plane.movers[0].next) order.push_back(plane.movers[0].next);
  }
  ASSERT_GE(order.size(), 5u);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i % 3);
}

// The target is 1 m ahead and 1 m to the left, so the arc is a quarter of a circle with curvature 2 y / d^2 =
// 1 / m.
TEST(PurePursuit, TurnsOnTheArcThroughItsTarget) {
  Plane plane({{"policy", "pure_pursuit"}, {"points", "0 1, 10 1"}, {"ahead", "1"}, {"loop", "false"}});
  MoverState mover;
  mover.speed = 0.5;
  RandomStream random;
  const BodyView view{.self = {{0, 0}, {}, 0.3}, .yaw = 0, .period = 0.1, .others = {}, .wall = {}};
  const Twist2 twist = plane.policy->twist(view, mover, random, 2);
  EXPECT_NEAR(twist.vx, 0.5, 1e-12);
  EXPECT_NEAR(twist.omega, 0.5, 1e-12);
}

TEST(RandomWalk, KeepsItsSpeed) {
  Plane plane({{"policy", "random"}, {"straight", "0.5"}});
  plane.add({0, 0}, {}, 0.7);
  Vec2 first;
  bool turned = false;
  for (int i = 0; i < 50; ++i) {
    plane.step(0.1);
    EXPECT_NEAR(norm(plane.discs[0].velocity), 0.7, 1e-12);
    if (i == 0) first = plane.discs[0].velocity;
    turned = turned || !(plane.discs[0].velocity == first);
  }
  EXPECT_TRUE(turned);
}

// Fourth differences of a cubic are 0. The path has every border point that was drawn, and no jump of
// velocity there.
TEST(Spline, IsCubicFromBorderPointToBorderPoint) {
  Plane plane({{"policy", "spline"}, {"area", "-6 5 -4 4"}});
  plane.add({0, 0}, {}, 0.8);
  std::vector<Vec2> path{{0, 0}};
  std::vector<bool> border{false};
  double length = 0;
  for (int i = 0; i < 3000; ++i) {
    plane.step(0.1);
    const Vec2 p = plane.discs[0].position;
    length += norm(p - path.back());
    path.push_back(p);
    border.push_back(plane.movers[0].next == 0);
    ASSERT_TRUE(p.x >= -6 - 1e-9 && p.x <= 5 + 1e-9 && p.y >= -4 - 1e-9 && p.y <= 4 + 1e-9) << i;
    if (!border.back()) continue;
    EXPECT_NEAR(norm(p - plane.movers[0].goal), 0, 1e-9) << i;
    EXPECT_NEAR(std::min({p.x + 6, 5 - p.x, p.y + 4, 4 - p.y}), 0, 1e-9) << i;
  }
  EXPECT_NEAR(length / 300, 0.8, 0.04);
  const auto inside = [](Vec2 p) { return std::min({p.x + 6, 5 - p.x, p.y + 4, 4 - p.y}) > 1e-6; };
  size_t cubic = 0, points = 0;
  for (size_t i = 4; i < path.size(); ++i) {
    points += border[i] ? 1 : 0;
    const Vec2 jump = path[i] - 2 * path[i - 1] + path[i - 2];
    EXPECT_LT(norm(jump), 0.1 * 0.7) << i;  // m: less than 0.7 m/s from period to period
    if (border[i - 1] || border[i - 2] || border[i - 3]) continue;
    bool clear = true;
    for (size_t k = 0; k < 4; ++k) clear = clear && inside(path[i - k]);
    if (!clear) continue;
    const Vec2 fourth = jump - 2 * (path[i - 1] - 2 * path[i - 2] + path[i - 3]) + path[i - 2] -
                        2 * path[i - 3] + path[i - 4];
    EXPECT_LT(norm(fourth), 1e-9) << i;
    ++cubic;
  }
  EXPECT_GT(points, 15u);
  EXPECT_GT(cubic, 1500u);
}

TEST(Spline, NeedsAnArea) {
  for (const char* const area : {"", "0 0 -1 1", "0 1 1 1"}) {
    const TermSpec term =
        *area ? term_of({{"policy", "spline"}, {"area", area}}) : term_of({{"policy", "spline"}});
    TermReader reader(term);
    EXPECT_THROW(make_body_policy(reader), WorldFileError) << area;
  }
}

}  // namespace
}  // namespace mvsim::movers_test
