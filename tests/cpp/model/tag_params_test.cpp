// The enums by which a Simulation finds the parameters of bodies follow the rows of the tables of tags.
#include <gtest/gtest.h>

#include "model/compile.h"
#include "worldfile/load_world.h"

namespace mvsim::tag_params_test {
namespace {

std::shared_ptr<const Model> model_of(const std::string& body) {
  return compile_world(load_world_text("<mvsim_world>" + body + "</mvsim_world>", "/tmp", {}), {});
}

TEST(TagParams, OfABlock) {
  const auto model = model_of("<block name='b'><init_pose>0 0 0</init_pose><mass>3</mass></block>");
  const size_t first = model->blocks[0].params;
  ASSERT_EQ(model->params.size(), first + kBlockParamCount);
  const std::pair<BlockParam, const char*> expected[] = {{kBlockScale, "scale"},
                                                         {kBlockMass, "mass"},
                                                         {kBlockGroundFriction, "ground_friction"},
                                                         {kBlockFriction, "lateral_friction"},
                                                         {kBlockRestitution, "restitution"},
                                                         {kBlockLinearDamping, "linear_damping"},
                                                         {kBlockAngularDamping, "angular_damping"}};
  for (const auto& [index, name] : expected)
    EXPECT_EQ(model->params[first + index].path, "block:b/" + std::string(name));
  const ParamEntry& mass = model->params[first + kBlockMass];
  EXPECT_EQ(mass.nominal, 3);
  EXPECT_EQ(mass.info.min, 0) << "what nothing moves may be drawn too";
  EXPECT_EQ(mass.info.max, 1e9);
  EXPECT_EQ(mass.info.unit, "kg");
}

TEST(TagParams, OfAVehicle) {
  const auto model = model_of(
      "<vehicle name='v'><init_pose>0 0 0</init_pose><dynamics class='differential'><chassis mass='9'/>"
      "</dynamics><odometry y_multiplier='2'/></vehicle>");
  const size_t first = model->vehicles[0].body_params;
  const std::pair<VehicleParam, const char*> expected[] = {
      {kChassisMass, "chassis/mass"},
      {kChassisLinearDamping, "chassis/linear_damping"},
      {kChassisAngularDamping, "chassis/angular_damping"},
      {kChassisInertia, "chassis/inertia"},
      {kChassisComX, "chassis/com_x"},
      {kChassisComY, "chassis/com_y"},
      {kOdometryX, "odometry/x_multiplier"},
      {kOdometryY, "odometry/y_multiplier"},
      {kOdometryYaw, "odometry/yaw_multiplier"}};
  for (const auto& [index, name] : expected)
    EXPECT_EQ(model->params[first + index].path, "vehicle:v/" + std::string(name));
  EXPECT_EQ(model->vehicles[0].tire_params, first + kVehicleParamCount);
  EXPECT_EQ(model->params[first + kChassisMass].nominal, 9);
  EXPECT_EQ(model->params[first + kChassisLinearDamping].nominal, 0.1);
  EXPECT_EQ(model->params[first + kOdometryX].nominal, 1);
  EXPECT_EQ(model->params[first + kOdometryY].nominal, 2);
  EXPECT_EQ(model->vehicles[0].odometry_drawn, (std::array<bool, 3>{true, false, true}));
}

}  // namespace
}  // namespace mvsim::tag_params_test
