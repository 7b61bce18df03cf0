// The mass of a vehicle has the bits of a b2Body that owns its fixtures; what Box2D would abort on is summed
// up exactly.

#include <box2d/box2d.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "sim/solver_bodies.h"
#include "sim/worlds.h"

namespace mvsim::test::body_mass_test {
namespace {

std::string robot(const std::string& chassis, const std::string& wheel, const std::string& left = "0.1 0.3") {
  return "<vehicle name='r'><dynamics class='differential'><l_wheel pos='" + left + "' " + wheel +
         "/><r_wheel pos='-0.1 -0.3 20' " + wheel + "/><chassis mass='15'><shape>" + chassis +
         "</shape></chassis></dynamics><init_pose>0 0 0</init_pose></vehicle>";
}

std::string point(double x, double y) {
  return "<pt>" + std::to_string(x) + " " + std::to_string(y) + "</pt>";
}

void add(b2Body& body, const b2PolygonShape& shape, double mass) {
  b2FixtureDef def;
  def.shape = &shape;
  b2Fixture* fixture = body.CreateFixture(&def);
  b2MassData unit;
  shape.ComputeMass(&unit, 1);
  fixture->SetDensity(static_cast<float>(mass / unit.mass));
}

TEST(BodyMass, HundredVehiclesWeighWhatBox2DMakesOfThem) {
  RandomStream random(31, 0, StreamPurpose::kSpawn);
  for (int i = 0; i < 100; ++i) {
    std::string outline;
    const int points = 3 + i % 6;
    for (int k = 0; k < points; ++k) {
      const double at = 2 * kPi * k / points, far = random.uniform(0.9, 1.0);
      outline += point(random.uniform(0.2, 0.21) + far * std::cos(at), far * std::sin(at));
    }
    const auto model = model_of(robot(outline, "mass='" + std::to_string(random.uniform(0.1, 9)) + "'"));
    const VehicleModel& v = model->vehicles[0];
    Simulation sim(model, 0);
    b2World world(b2Vec2(0, 0));
    b2BodyDef def;
    def.type = b2_dynamicBody;
    b2Body& body = *world.CreateBody(&def);
    const std::optional<b2PolygonShape> chassis = solver_polygon(v.chassis.outline);
    ASSERT_TRUE(chassis);
    add(body, *chassis, 15);
    for (const WheelModel& w : v.wheels) {
      b2PolygonShape box;
      set_wheel_box(w, w.yaw, box);
      add(body, box, w.mass);
    }
    body.ResetMassData();
    const BodyInertia inertia = vehicle_inertia(v, sim.state().params);
    EXPECT_EQ(inertia.inverse_mass, 1 / body.GetMass());
    EXPECT_EQ(inertia.center_x, body.GetLocalCenter().x);
    EXPECT_EQ(inertia.center_y, body.GetLocalCenter().y);
    const float about_center =
        body.GetInertia() - body.GetMass() * b2Dot(body.GetLocalCenter(), body.GetLocalCenter());
    EXPECT_EQ(inertia.inverse_inertia, 1 / about_center);
  }
}

// Mass, centre of mass and inertia about it, of all of a vehicle: exact sums of its parts.
struct Whole {
  double mass, x, y, inertia;
};

Whole whole_of(const VehicleModel& v, double chassis, Vec2 center, double inertia) {
  Whole out{chassis, chassis * center.x, chassis * center.y, 0};
  for (const WheelModel& w : v.wheels) {
    out.mass += w.mass;
    out.x += w.mass * w.position.x;
    out.y += w.mass * w.position.y;
  }
  out.x /= out.mass;
  out.y /= out.mass;
  const auto apart = [&](Vec2 p) { return (p.x - out.x) * (p.x - out.x) + (p.y - out.y) * (p.y - out.y); };
  out.inertia = inertia + chassis * apart(center);
  for (const WheelModel& w : v.wheels) {
    const double length = 2 * w.radius;
    out.inertia += w.mass * ((length * length + w.width * w.width) / 12 + apart(w.position));
  }
  return out;
}

// The 1:10 car of published parameters: 0.04712 kg m2 where its outline has more than twice as much.
TEST(BodyMass, InertiaAndCenterOfMassAreThoseOfTheTags) {
  const std::string square =
      point(-0.25, -0.15) + point(-0.25, 0.15) + point(0.25, 0.15) + point(0.25, -0.15);
  const std::string wheel = "mass='0.1' width='0.04' diameter='0.1'";
  const std::string text = robot(square, wheel, "0.1 0.12");
  const auto with = [&](const std::string& tags) {
    std::string world = text;
    return model_of(world.replace(world.find("mass='15'"), 9, "mass='3.1' " + tags));
  };
  for (const auto& [tags, center, inertia] : {std::tuple<const char*, Vec2, double>{"", {0, 0}, -1},
                                              {"inertia='0.04712'", {0, 0}, 0.04712},
                                              {"com_x='0.03' com_y='-0.01'", {0.03, -0.01}, -1},
                                              {"inertia='0.2' com_x='-0.05'", {-0.05, 0}, 0.2}}) {
    const auto model = with(tags);
    const VehicleModel& v = model->vehicles[0];
    const double own = inertia >= 0 ? inertia : 3.1 * (0.5 * 0.5 + 0.3 * 0.3) / 12;
    const Whole expected = whole_of(v, 3.1, center, own);
    const Simulation sim(model, 0);
    const BodyInertia found = vehicle_inertia(v, sim.state().params);
    EXPECT_NEAR(1 / found.inverse_mass, expected.mass, 1e-6) << tags;
    EXPECT_NEAR(found.center_x, expected.x, 1e-7) << tags;
    EXPECT_NEAR(found.center_y, expected.y, 1e-7) << tags;
    EXPECT_NEAR(1 / found.inverse_inertia, expected.inertia, 1e-6 * expected.inertia) << tags;
  }
}

TEST(BodyMass, HeightOfTheCenterOfMassIsThatOfLoadTransfer) {
  const std::string square =
      point(-0.25, -0.15) + point(-0.25, 0.15) + point(0.25, 0.15) + point(0.25, -0.15);
  std::string world = robot(square, "mass='0.1'");
  world.replace(world.find("mass='15'"), 9, "mass='3.1' com_z='0.074'");
  const auto without = model_of(world);
  ASSERT_EQ(without->warnings.size(), 1);
  EXPECT_NE(without->warnings[0].find("<com_z> has no effect without <load_transfer>"), std::string::npos);
  const auto given = model_of(world.replace(world.find("<init_pose>"), 0, "<load_transfer/>"));
  EXPECT_TRUE(given->warnings.empty());
  EXPECT_EQ(given->params[*given->vehicles[0].load_transfer].nominal, 0.074);
}

// A wheel or a chassis whose vertices fall together in single precision, more vertices than Box2D
// takes.
TEST(BodyMass, WhatBox2DWouldAbortOnIsSummedUpExactly) {
  const std::string square = point(-1, -1) + point(-1, 1) + point(1, 1) + point(1, -1);
  std::string round;
  for (int k = 0; k < 14; ++k) round += point(std::cos(k * 0.44), std::sin(k * 0.44));
  const std::string small = "mass='4' width='0.001' diameter='0.001'";
  for (const std::string& world : {robot(square, small, "1e5 0"), robot(round, "mass='4'")}) {
    const auto model = model_of(world);
    Simulation sim(model, 0);
    const VehicleModel& v = model->vehicles[0];
    const MassProperties m = vehicle_mass(v, sim.state().params);
    EXPECT_EQ(m.mass, 23) << world;
    const double moment = 15 * v.chassis.centroid.x + 4 * (v.wheels[0].position.x + v.wheels[1].position.x);
    EXPECT_NEAR(m.center.x, moment / 23, 1e-9 * std::fabs(moment) + 1e-15) << world;
    EXPECT_GT(m.inertia, 0) << world;
    sim.run(0.1);
    EXPECT_TRUE(is_finite(sim)) << world;
  }
}

TEST(BodyMass, AnOutlineTooSmallForItsDistanceIsRefusedAtLoad) {
  const std::string far = point(1e5, 0) + point(1e5 + 0.002, 0) + point(1e5 + 0.002, 0.002);
  try {
    model_of(robot(far, "mass='4'"));
    FAIL();
  } catch (const WorldFileError& e) {
    EXPECT_NE(std::string(e.what()).find("too small for the solver at its distance"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace mvsim::test::body_mass_test
