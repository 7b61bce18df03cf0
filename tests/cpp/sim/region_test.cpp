// Property regions: which one counts, its bounds, and grip that differs from side to side.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/worlds.h"

namespace mvsim::test::region_test {
namespace {

std::string region(const std::string& property, const std::string& value, const std::string& more = "",
                   const std::string& name = "") {
  return "<element class='property_region'" + (name.empty() ? "" : " name='" + name + "'") +
         "><property_name>" + property + "</property_name><value_double>" + value + "</value_double>" + more +
         "</element>";
}

std::string limits(double x_min, double x_max, double y_min, double y_max) {
  return "<x_min>" + std::to_string(x_min) + "</x_min><x_max>" + std::to_string(x_max) + "</x_max><y_min>" +
         std::to_string(y_min) + "</y_min><y_max>" + std::to_string(y_max) + "</y_max>";
}

constexpr const char* kThrown =
    "<init_pose>0 0 0</init_pose><init_vel>0 2 0</init_vel>";  // sideways: friction alone

// Lateral speed lost in the first step, as a friction coefficient.
double grip(const std::string& regions) {
  Simulation sim(model_of("<simul_timestep>0.001</simul_timestep>" + regions + bot("r", kPid, kThrown)), 0);
  sim.step();
  return (2 - vehicle_twist(sim, 0).vy) / (9.81 * 0.001);
}

std::vector<std::string> warnings(const std::string& regions) {
  return model_of(regions + bot("r", kPid, kOrigin))->warnings;
}

TEST(Region, ChangesTheFrictionUnderTheWheelsInside) {
  // chassis 15 kg and 2 wheels of 2 kg
  EXPECT_NEAR(grip(""), 0.8, 1e-3);
  EXPECT_NEAR(grip(region("friction_mu", "0.1")), 0.1, 1e-3);
  EXPECT_NEAR(grip(region("friction_mu", "0.1", limits(-1, 1, 0, 1))), 0.45, 1e-3) << "one of two wheels";
  EXPECT_NEAR(grip(region("friction_mu", "0.1", limits(5, 6, 0, 1))), 0.8, 1e-3);
}

TEST(Region, FirstWinsAndBoundsAreInclusive) {
  EXPECT_NEAR(grip(region("friction_mu", "0.1") + region("friction_mu", "0.5")), 0.1, 1e-3);
  EXPECT_NEAR(grip(region("friction_mu", "0.1", limits(0, 1, 0.3, 1)) + region("friction_mu", "0.5")), 0.3,
              1e-3)
      << "the left wheel stands on the corner (0, 0.3)";
}

TEST(Region, HeightsWithoutZeroAndWrongTypesDoNothing) {
  EXPECT_NEAR(grip(region("friction_mu", "0.1", "<z_min>0.5</z_min>")), 0.8, 1e-3);
  const std::string of_bool =
      "<element "
      "class='property_region'><property_name>friction_mu</property_name><value_bool>1</value_bool></"
      "element>";
  EXPECT_NEAR(grip(of_bool), 0.8, 1e-3);
  EXPECT_NEAR(grip(of_bool + region("friction_mu", "0.1")), 0.8, 1e-3) << "it hides what comes after it";
  EXPECT_NE(warnings(of_bool).at(0).find("expected <value_double>"), std::string::npos);
}

TEST(Region, OneSidedGripTurnsABrakingVehicle) {
  Simulation sim(model_of(region("friction_mu", "0.15", limits(-10, 10, 0, 10)) +
                          bot("r", kPid, "<init_pose>0 0 0</init_pose><init_vel>2 0 0</init_vel>")),
                 0);
  sim.run(0.3);
  EXPECT_LT(vehicle_pose(sim, 0).yaw, -0.01) << "the right wheel brakes";
}

TEST(Region, RollingResistanceSlowsDown) {
  const auto coast = [](const std::string& regions) {
    Simulation sim(model_of(regions + bot("r", "", "<init_pose>0 0 0</init_pose><init_vel>1 0 0</init_vel>")),
                   0);
    sim.run(1);
    return vehicle_twist(sim, 0).vx;
  };
  EXPECT_GT(coast(""), 0.85);
  EXPECT_NEAR(coast("") - coast(region("friction_C_rr", "0.02", limits(-9, 9, -9, 9))), 0.02 * 9.81, 0.03);
}

TEST(Region, MovesAndChangesByItsParameters) {
  const auto model = model_of(
      "<simul_timestep>0.001</simul_timestep>" + region("friction_mu", "0.1", limits(-1, 1, -2, 2), "ice") +
      region("friction_C_rr", "0.05", limits(-1, 1, -2, 2), "ice") + bot("r", kPid, kThrown));
  EXPECT_EQ(model->find_params("region:ice/*").size(), 6u) << "one box, two values";
  const auto set = [&](Simulation& sim, const char* path, double value) {
    sim.set_param(model->find_params(path).at(0), value);
  };
  const auto grip_of = [](Simulation& sim) {
    sim.step();
    return (2 - vehicle_twist(sim, 0).vy) / (9.81 * 0.001);
  };
  Simulation changed(model, 0), moved(model, 0), narrow(model, 0);
  set(changed, "region:ice/friction_mu", 0.3);
  EXPECT_NEAR(grip_of(changed), 0.3, 1e-3);
  set(moved, "region:ice/x", 4);
  EXPECT_NEAR(grip_of(moved), 0.8, 1e-3);
  set(narrow, "region:ice/size_y", 0.5);
  EXPECT_NEAR(grip_of(narrow), 0.8, 1e-3);
  moved.reset(0, 1);
  EXPECT_NEAR(grip_of(moved), 0.1, 1e-3);
}

TEST(Region, SoilOfTheVehicleTerrainInterface) {
  const std::string sand =
      "<element class='property_region' name='pit'><property_name>surface</property_name>"
      "<value_string>sand</value_string>" +
      limits(-9, 9, -9, 9) + "</element>" + region("cone_index_Pa", "30000", limits(-9, 9, -9, 9), "pit");
  const auto driven = [](const std::string& regions) {
    Simulation sim(model_of(regions + four_wheels(kPid, kOrigin, 0.8, "vti")), 0);
    sim.set_twist(0, 1, 0);
    sim.run(3);
    return vehicle_pose(sim, 0).x;
  };
  EXPECT_LT(driven(sand), 0.9 * driven(""));
}

// Tires read only the properties of the ground that they use.
TEST(Region, WarnsWhereTiresDoNotHeedIt) {
  const auto of = [](const std::string& regions, const std::string& tire) {
    return model_of(regions + vehicle("differential", "", "<friction class='" + tire + "'/>"))->warnings;
  };
  const std::string surface =
      "<element class='property_region' name='pond'><property_name>surface</property_name>"
      "<value_string>ice</value_string></element>";
  for (const char* const tire : {"default", "wardiagnemma"}) {
    EXPECT_TRUE(of(region("friction_mu", "0.1"), tire).empty());
    ASSERT_EQ(of(surface, tire).size(), 1u);
    EXPECT_TRUE(has(of(surface, tire)[0], "'surface' has no effect on tires of class '"));
    EXPECT_TRUE(has(of(surface, tire)[0], "(of 'v'); the property 'friction_mu' may have"));
  }
  EXPECT_EQ(of(region("friction_mu", "0.1"), "ellipse").size(), 1u);
  EXPECT_TRUE(of(surface, "vti").empty());
  ASSERT_EQ(of(region("friction_mu", "0.1"), "vti").size(), 1u);
  EXPECT_TRUE(has(of(region("friction_mu", "0.1"), "vti")[0],
                  "'friction_mu' has no effect on tires of class 'vti' (of 'v'); the property 'surface'"));
  // one box that says both to both
  const std::string both = region("friction_mu", "0.1", "", "pond") + surface;
  EXPECT_TRUE(of(both, "vti").empty());
  EXPECT_TRUE(of(both, "default").empty());
  for (const char* const tire : {"default", "ellipse", "vti"})
    EXPECT_TRUE(of(region("friction_C_rr", "0.1"), tire).empty());
}

TEST(Region, SaysWhatIsWrong) {
  const auto error = [](const std::string& body) -> std::string {
    try {
      model_of(body);
    } catch (const WorldFileError& e) {
      EXPECT_GT(e.where().line, 0) << e.what();
      return e.what();
    }
    return "";
  };
  const std::string pit =
      "<element class='property_region' name='pit'><property_name>surface</property_name>";
  const std::pair<std::string, const char*> cases[] = {
      {"<element class='property_region'/>", "has no <value_double>, <value_bool> or <value_string>"},
      {region("friction_mu", "-1"), "<friction_mu>: found -1, expected >= 0"},
      {region("friction_mu", "nan"), "<friction_mu>: found 'nan'"},
      {region("cone_index_Pa", "0"), "<cone_index_Pa>: found 0, expected > 0"},
      {region("friction_mu", "1", limits(1, 1, 0, 1)), "expected x_min < x_max"},
      {region("friction_mu", "1", "<x_min>inf</x_min>"), "<x_min>: found 'inf'"},
      {region("friction_mu", "1", "<z_min>2</z_min><z_max>1</z_max>"), "expected z_min <= z_max"},
      {pit + "<value_string>sandy</value_string></element>",
       "expected one of dry, wet, snow, ice, sand, clay, did you "
       "mean 'sand'?"},
      {region("friction_mu", "1", "", "a") + region("friction_C_rr", "1", "<x_min>0</x_min>", "a"),
       "regions named 'a' have different limits"},
      {region("friction_mu", "1", "", "a") + region("friction_mu", "1", "", "a"), "already has the property"},
  };
  for (const auto& [body, expected] : cases)
    EXPECT_NE(error(body).find(expected), std::string::npos) << body << "\n" << error(body);
  EXPECT_NE(warnings(region("friction_nu", "1")).at(0).find("did you mean 'friction_mu'?"),
            std::string::npos);
  EXPECT_NE(warnings(region("friction_mu", "1", "<z_min>1</z_min>")).at(0).find("has no effect"),
            std::string::npos);
}

}  // namespace
}  // namespace mvsim::test::region_test
