// Contacts, ground friction and ground height.
#include <box2d/box2d.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test::contact_test {
namespace {

const std::string kWall = R"(<block name="wall"><static>true</static><init_pose>2 0 0</init_pose>
  <shape><pt>0 -2</pt><pt>0 2</pt><pt>.2 2</pt><pt>.2 -2</pt></shape></block>)";

TEST(Contact, AWallStopsTheVehicleAndIsReported) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + kWall + bot("r", kPid, kOrigin)), 0);
  sim.set_twist(0, 1, 0);
  sim.run(4);
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 1.6, 0.02);
  EXPECT_TRUE(sim.state().vehicles[0].in_collision);
  EXPECT_NEAR(block_pose(sim, 0).x, 2, 1e-9);
  sim.set_twist(0, -1, 0);
  sim.run(2);
  EXPECT_FALSE(sim.state().vehicles[0].in_collision);
  EXPECT_TRUE(sim.state().vehicles[0].contacts);
  sim.clear_collision_flags();
  EXPECT_FALSE(sim.state().vehicles[0].contacts);
}

// Skins of 10 mm about wheels and of 2.5 mm about blocks; Box2D lets them overlap by 5 mm.
TEST(Contact, AWheelStopsAtItsSkin) {
  std::string robot =
      bot("r", "<controller class='raw'/>", "<init_pose>0 0 0</init_pose><init_vel>0 .3 0</init_vel>");
  robot.replace(robot.find("<mu>0.8</mu>"), 12, "<mu>0</mu>");
  Simulation sim(
      model_of("<simul_timestep>0.005</simul_timestep><block name='wall'><static>true</static>"
               "<init_pose>0 0.5 0</init_pose><shape><pt>-3 0</pt><pt>-3 .2</pt><pt>3 .2</pt><pt>3 0</pt>"
               "</shape></block>" +
               robot),
      0);
  sim.run(2);
  const double gap = 0.5 - (vehicle_pose(sim, 0).y + 0.3 + 0.025);
  EXPECT_GT(gap, 0.0125 - 0.0051);
  EXPECT_LT(gap, 0.0125 + 0.0015) << "stopped before the skins met";
}

// Box2D, asked directly, is the oracle: its search for the time of impact is at work at every speed.
TEST(Contact, AFrontalStopIsBox2Ds) {
  std::string robot =
      bot("r", "<controller class='raw'/>", "<init_pose>1.2033 0 0</init_pose><init_vel>1 0 0</init_vel>");
  robot.replace(robot.find("<mu>0.8</mu>"), 12, "<mu>0</mu>");
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>" + kWall + robot), 0);
  sim.set_always_solver(true);

  b2World world(b2Vec2(0, 0));
  const auto add = [&](b2Body* body, float x_min, float x_max, float y_min, float y_max, float skin,
                       float restitution) {
    b2PolygonShape box;
    const b2Vec2 corners[] = {{x_min, y_min}, {x_max, y_min}, {x_max, y_max}, {x_min, y_max}};
    box.Set(corners, 4);
    box.m_radius = skin;
    b2FixtureDef fixture;
    fixture.shape = &box;
    fixture.friction = 0;
    fixture.restitution = restitution;
    body->CreateFixture(&fixture);
  };
  b2BodyDef def;
  def.position.Set(2, 0);
  add(world.CreateBody(&def), 0, 0.2f, -2, 2, 0.0025f, 0.01f);
  def.type = b2_dynamicBody;
  def.position.Set(1.2033f, 0);
  def.linearVelocity.Set(1, 0);
  def.allowSleep = false;
  b2Body* body = world.CreateBody(&def);
  add(body, -0.4f, 0.4f, -0.25f, 0.25f, 0.0025f, 0.01f);
  const b2MassData mass{19, b2Vec2(0, 0), 1};
  body->SetMassData(&mass);
  for (int i = 0; i < 200; ++i) {
    sim.step();
    world.Step(0.005f, 8, 3);
    ASSERT_NEAR(vehicle_pose(sim, 0).x, body->GetPosition().x, 1e-6) << i;
  }
  EXPECT_TRUE(had_collision(sim, 0));
}

TEST(Contact, ABlockSlidesToAStopByCoulombFriction) {
  const auto model = model_of(R"(<simul_timestep>0.005</simul_timestep><block name="b"><mass>10</mass>
    <ground_friction>0.5</ground_friction><linear_damping>0</linear_damping><angular_damping>0</angular_damping>
    <init_pose>0 0 90</init_pose><init_vel>2 0 0</init_vel></block>)");
  Simulation sim(model, 0);
  sim.run(0.2);
  EXPECT_NEAR(block_world_twist(sim, 0).vy, 2 - 0.5 * 9.81 * 0.2, 0.02);
  sim.run(1);
  EXPECT_NEAR(block_pose(sim, 0).y, 2 * 2 / (2 * 0.5 * 9.81), 0.02);
  EXPECT_NEAR(block_world_twist(sim, 0).vy, 0, 1e-4);
}

TEST(Contact, WithoutFrictionABlockKeepsItsSpeed) {
  Simulation sim(
      model_of(R"(<block name="b"><ground_friction>0</ground_friction><linear_damping>0</linear_damping>
    <angular_damping>0</angular_damping><init_pose>0 0 0</init_pose><init_vel>1 0 0</init_vel></block>)"),
      0);
  sim.run(2);
  EXPECT_NEAR(block_world_twist(sim, 0).vx, 1, 1e-5);
}

TEST(Contact, ABlockWithoutMassIsNotMovedByContacts) {
  Simulation sim(model_of(R"(<block name="b"><mass>0</mass><init_pose>1.2 0 0</init_pose></block>)" +
                          bot("r", kPid, kOrigin)),
                 0);
  sim.set_twist(0, 1, 0);
  sim.run(3);
  EXPECT_NEAR(block_pose(sim, 0).x, 1.2, 1e-6);
  EXPECT_TRUE(sim.state().vehicles[0].contacts);
}

TEST(Contact, AnIntangibleBlockIsCrossedAndRaisesTheWheels) {
  Simulation sim(model_of("<simul_timestep>0.005</simul_timestep>"
                          R"(<block name="b"><intangible>true</intangible><zmin>0</zmin><zmax>0.1</zmax>
    <init_pose>2 0 0</init_pose><shape><pt>-1 -1</pt><pt>-1 1</pt><pt>1 1</pt><pt>1 -1</pt></shape></block>)" +
                          bot("r", kIdeal, kOrigin)),
                 0);
  sim.set_twist(0, 1, 0);
  sim.run(2);
  EXPECT_FALSE(sim.state().vehicles[0].contacts);
  EXPECT_NEAR(vehicle_pose(sim, 0).z, 0.1, 1e-9);
  sim.run(2);
  EXPECT_NEAR(vehicle_pose(sim, 0).z, 0, 1e-9);
}

TEST(Contact, OutlinesOfNineToFourteenVerticesCollideAsOne) {
  // a 14-gon about a circle of 0.5 m: the robot's nose stops at its side
  const auto model = model_of(
      "<simul_timestep>0.005</simul_timestep>"
      R"(<block name="b"><static>true</static><init_pose>2 0 0</init_pose>
    <geometry type="cylinder" radius="0.5" length="1" vertex_count="14"/></block>)" +
      bot("r", kPid, kOrigin));
  ASSERT_EQ(model->blocks[0].shape.outline.size(), 14u);
  ASSERT_EQ(model->blocks[0].shape.pieces.size(), 2u);
  Simulation sim(model, 0);
  sim.set_twist(0, 1, 0);
  sim.run(3);
  EXPECT_NEAR(vehicle_pose(sim, 0).x, 2 - 0.5 - 0.4, 0.03);
}

TEST(Contact, TwoVehiclesCollide) {
  Simulation sim(model_of(bot("a", kIdeal, kOrigin) + bot("b", kIdeal, "<init_pose>2 0 180</init_pose>")), 0);
  sim.set_twist(0, 0.5, 0);
  sim.set_twist(1, 0.5, 0);
  sim.run(3);
  EXPECT_TRUE(sim.state().vehicles[0].in_collision);
  EXPECT_TRUE(sim.state().vehicles[1].in_collision);
  EXPECT_GT(vehicle_pose(sim, 1).x - vehicle_pose(sim, 0).x, 0.78);
}

TEST(Ground, StoreyIsChosenByTheStartingHeight) {
  const std::string floor = R"(<element class="horizontal_plane"><z>0</z></element>
    <element class="horizontal_plane"><z>3</z></element>)";
  EXPECT_EQ(model_of(floor + bot("r", "", kOrigin))->vehicles[0].initial_pose.z, 0);
  EXPECT_EQ(
      model_of(floor + bot("r", "", "<init_pose3d>0 0 3.5 0 0 0</init_pose3d>"))->vehicles[0].initial_pose.z,
      3);
  // elements later in the file do not exist yet
  EXPECT_EQ(
      model_of(bot("r", "", "<init_pose3d>0 0 3.5 0 0 0</init_pose3d>") + floor)->vehicles[0].initial_pose.z,
      0);
  EXPECT_EQ(model_of(floor + bot("r", "", "<init_pose3d>0 0 3.5 0 0 0</init_pose3d><skip_elevation_adjust/>"))
                ->vehicles[0]
                .initial_pose.z,
            3.5);
}

TEST(Ground, RampAndBumpHeights) {
  const BlockTop ramp{.outline = {{0, -1}, {2, -1}, {2, 1}, {0, 1}},
                      .radius = 3,
                      .shape = TopShape::kRamp,
                      .height = 0.5,
                      .length_x = 2,
                      .length_y = 2};
  const PlacedTop on_ramp[] = {{&ramp, {}, 0}};
  EXPECT_NEAR(highest_under({}, on_ramp, {1, 0}, 5), 0.25, 1e-12);
  EXPECT_EQ(highest_under({}, on_ramp, {-0.1, 0}, 5), 0);
  const BlockTop bump{.outline = {{-1, -.1}, {1, -.1}, {1, .1}, {-1, .1}},
                      .radius = 2,
                      .shape = TopShape::kBump,
                      .height = 0.02,
                      .length_x = 2,
                      .length_y = 0.2};
  const PlacedTop on_bump[] = {{&bump, {}, 0}};
  EXPECT_NEAR(highest_under({}, on_bump, {0, 0}, 1), 0.02, 1e-12);
  EXPECT_NEAR(highest_under({}, on_bump, {0, 0.05}, 1), 0.0173205, 1e-6);
  EXPECT_NEAR(highest_under({}, on_bump, {0, 0.1}, 1), 0, 1e-9);
}

TEST(Clearance, DistancesToBlocksAndWalls) {
  const auto model = model_of(kWall + R"(<block name="c"><static>true</static><init_pose>0 1.5 0</init_pose>
    <geometry type="cylinder" radius="0.2" length="1" vertex_count="10"/></block>)" +
                                  bot("r", kIdeal, kOrigin),
                              {.placed_blocks = {"c*"}});
  Simulation sim(model, 0);
  EXPECT_NEAR(clearance(sim, 0, 10), 1.5 - 0.2 * std::cos(kPi / 10) - 0.25, 5e-3);
  EXPECT_NEAR(distance_to_obstacles(sim, {1, 0}, 10, 0), 1, 1e-9);
  EXPECT_EQ(distance_to_obstacles(sim, {1, 0}, 0.3, 0), 0.3);
  EXPECT_NEAR(distance_to_obstacles(sim, {1, 0}, 10), 0.6, 1e-9);  // the vehicle's nose
  const size_t c = model->block_index("c");
  sim.set_param(model->blocks[c].params + kBlockScale, 2);
  sim.place_block(c, {-1.5, 0, 0});
  EXPECT_NEAR(clearance(sim, 0, 10), 1.5 - 0.4 * 1 - 0.4, 3e-2);
  EXPECT_THROW(sim.place_block(model->block_index("wall"), {}), Error);
}

// Outlines of the moment before are not kept.
TEST(Clearance, IsThatOfWhereVehiclesWerePlaced) {
  Simulation sim(model_of(bot("a", kIdeal, kOrigin) + bot("b", kIdeal, kOrigin)), 0);
  sim.place_vehicle(1, {3, 0, 0});
  const double before = clearance(sim, 0, 10);
  sim.place_vehicle(1, {4, 0, 0});
  EXPECT_NEAR(clearance(sim, 0, 10), before + 1, 1e-6);
}

// Commands beyond all measure: Box2D would abort the process. An ideal twist is cut to what a step moves.
TEST(Divergence, IsToldAndEndsNothing) {
  for (const std::string& controller : {std::string("<controller class='raw'/>"), std::string(kIdeal)})
    for (const bool always_solver : {false, true})
      for (const double command : {1e9, 1e20, 1e38, 1e300, 1.7e308}) {
        Simulation sim(model_of(kWall + bot("r", controller, kOrigin)), 0);
        sim.set_always_solver(always_solver);
        const double commands[] = {-command, command};
        sim.set_command(0, commands);
        sim.run(1);
        const bool is_cut = controller == kIdeal;
        EXPECT_TRUE(is_finite(sim) || (command > 1e9 && !is_cut)) << controller << command;
        EXPECT_FALSE(is_finite(sim) && command > 1e305 && !is_cut) << controller << command;
        sim.reset(0, 0);
        sim.run(1);
        EXPECT_TRUE(is_finite(sim)) << controller << command;
      }
}

}  // namespace
}  // namespace mvsim::test::contact_test
