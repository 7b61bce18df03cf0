// Box2D with and without the rounds that ImpactRounds leaves out moves a body in the same way, bit for bit.
#include "sim/impact_rounds.h"

#include <box2d/box2d.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

namespace mvsim::impact_rounds_test {
namespace {

constexpr float kSkin = 0.0025f;  // m, of the simulator's bodies

// Counts the contacts that Box2D solves, and leaves out rounds if it is asked to.
class Listener final : public b2ContactListener {
 public:
  explicit Listener(bool leaves_out) : leaves_out_(leaves_out) {}
  void begin_step() { rounds_.begin_step(1); }
  void PreSolve(b2Contact* contact, const b2Manifold*) override {
    ++solved;
    if (leaves_out_) rounds_.before_solving(*contact);
  }
  void PostSolve(b2Contact*, const b2ContactImpulse*) override { rounds_.after_solving(); }

  int solved = 0;

 private:
  ImpactRounds rounds_;
  bool leaves_out_;
};

// A body of three pieces, as a robot with two wheels is, in a corner of two walls.
class Corner {
 public:
  explicit Corner(bool leaves_out) : listener(leaves_out), world_(b2Vec2(0, 0)) {
    world_.SetContactListener(&listener);
    const b2BodyDef still;
    for (const b2Vec2 center : {b2Vec2(1.05f, 0), b2Vec2(0, 1.05f)}) {
      b2PolygonShape wall;
      wall.SetAsBox(center.x > 0 ? 0.05f : 2, center.x > 0 ? 2 : 0.05f, center, 0);
      wall.m_radius = kSkin;
      world_.CreateBody(&still)->CreateFixture(&wall, 0);
    }
    b2BodyDef def;
    def.type = b2_dynamicBody;
    def.position = b2Vec2(0.4f, 0.5f);
    def.allowSleep = false;
    body_ = world_.CreateBody(&def);
    const auto add = [&](float x, float y, b2Vec2 center, float friction) {
      b2PolygonShape piece;
      piece.SetAsBox(x, y, center, 0);
      piece.m_radius = kSkin;
      b2Fixture* fixture = body_->CreateFixture(&piece, 50);
      fixture->SetFriction(friction);
      fixture->SetRestitution(0.05f);
    };
    add(0.07f, 0.07f, b2Vec2(0, 0), 0);
    add(0.035f, 0.015f, b2Vec2(0, 0.08f), 0.5f);
    add(0.035f, 0.015f, b2Vec2(0, -0.08f), 0.5f);
  }

  void step(int index) {
    const float way = 0.02f * static_cast<float>(index);
    body_->ApplyForceToCenter(b2Vec2(6 + 4 * std::sin(way), 5 * std::sin(0.7f * way)), true);
    body_->ApplyTorque(0.2f * std::cos(1.3f * way), true);
    listener.begin_step();
    world_.Step(0.01f, 10, 5);
  }

  std::array<uint32_t, 6> bits() const {
    const b2Vec2 &at = body_->GetWorldCenter(), &v = body_->GetLinearVelocity();
    return std::bit_cast<std::array<uint32_t, 6>>(
        std::array{at.x, at.y, body_->GetAngle(), v.x, v.y, body_->GetAngularVelocity()});
  }

  Listener listener;

 private:
  b2World world_;
  b2Body* body_ = nullptr;
};

TEST(ImpactRounds, MoveABodyAsAllRoundsOfBox2dDo) {
  Corner all(false), fewer(true);
  for (int i = 0; i < 3000; ++i) {
    all.step(i);
    fewer.step(i);
    ASSERT_EQ(all.bits(), fewer.bits()) << "in step " << i;
  }
  EXPECT_GT(all.listener.solved, 5000) << "the body leans on a wall most of the time";
  EXPECT_LT(2 * fewer.listener.solved, all.listener.solved);
}

}  // namespace
}  // namespace mvsim::impact_rounds_test
