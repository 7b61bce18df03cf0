// Scenes compiled from world files: shapes, colours, frames and labels.
#include "model/compile_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scene/scene.h"
#include "sim/worlds.h"

namespace mvsim::test::compile_scene_test {
namespace {

constexpr const char* kPlane = "<element class='horizontal_plane'><color>#102030</color><z>0.5</z></element>";

std::string block(const std::string& name, const std::string& more) {
  return "<block name='" + name + "'>" + more + "</block>";
}

const Color& color_of(const Scene& scene, const Instance& instance) {
  return scene.materials[instance.material].color;
}

std::vector<Instance> with_label(const Scene& scene, uint16_t label) {
  std::vector<Instance> found;
  std::copy_if(scene.instances.begin(), scene.instances.end(), std::back_inserter(found),
               [&](const Instance& i) { return i.label == label; });
  return found;
}

TEST(CompileScene, LabelsCountThingsInTheOrderOfTheFile) {
  const auto model =
      model_of(block("a", "<color>#ff0000</color><init_pose>5 0 0</init_pose>") + kPlane +
               vehicle("differential") + block("b", "<static>true</static><init_pose>-5 0 0</init_pose>"));
  const Scene& scene = *model->scene;
  ASSERT_EQ(with_label(scene, 1).size(), 1u);
  EXPECT_EQ(color_of(scene, with_label(scene, 1)[0]).r, 255);
  ASSERT_EQ(with_label(scene, 2).size(), 1u);
  EXPECT_TRUE(std::holds_alternative<LevelRect>(scene.shapes[with_label(scene, 2)[0].shape]));
  EXPECT_EQ(color_of(scene, with_label(scene, 2)[0]).b, 0x30);
  EXPECT_EQ(with_label(scene, 2)[0].T_frame_shape.origin.z, 0.5);
  EXPECT_EQ(with_label(scene, 3).size(), 3u) << "a chassis and two wheels";
  EXPECT_EQ(with_label(scene, 4).size(), 1u);
  EXPECT_EQ(with_label(scene, 5).size() + with_label(scene, 0).size(), 0u);
}

TEST(CompileScene, FramesAreTheWorldThenBodiesThenWheelsThenWhatHasNoBody) {
  const auto model =
      model_of(block("ghost", "<intangible>true</intangible><init_pose>5 0 0</init_pose>") +
               vehicle("differential") + block("fast", "<static>true</static><init_pose>-5 0 0</init_pose>") +
               block("loose", "<init_pose>0 5 0</init_pose>"));
  const Scene& scene = *model->scene;
  ASSERT_EQ(model->bodies.size(), 3u);
  EXPECT_EQ(scene.frame_count, 1u + 3 + 2 + 1);
  EXPECT_EQ(with_label(scene, 1)[0].frame, 6u);
  EXPECT_EQ(with_label(scene, 2)[0].frame, frame_of_body(model->vehicles[0].body));
  EXPECT_EQ(with_label(scene, 2)[1].frame, frame_of_wheel(3, 0));
  EXPECT_EQ(with_label(scene, 2)[2].frame, frame_of_wheel(3, 1));
  EXPECT_EQ(with_label(scene, 3)[0].frame, kWorldFrame);
  EXPECT_EQ(with_label(scene, 3)[0].T_frame_shape.origin.x, -5);
  EXPECT_EQ(with_label(scene, 4)[0].frame, frame_of_body(static_cast<size_t>(model->blocks[2].body)));
}

TEST(CompileScene, WhatAnEnvironmentPlacesHangsOnAFrame) {
  const std::string world =
      block("pillar", "<static>true</static><init_pose>3 0 0</init_pose>") +
      block("mat", "<static>true</static><intangible>true</intangible><init_pose>0 3 0</init_pose>");
  const auto fixed = model_of(world), placed = model_of(world, {.placed_blocks = {"*"}});
  for (const Instance& i : fixed->scene->instances) EXPECT_EQ(i.frame, kWorldFrame);
  EXPECT_EQ(with_label(*placed->scene, 1)[0].frame, 1u);
  EXPECT_EQ(with_label(*placed->scene, 2)[0].frame, 2u);
  EXPECT_EQ(placed->scene->frame_count, 3u);
}

TEST(CompileScene, EqualWheelsAndChassisAreOneShape) {
  const auto model =
      model_of(vehicle("differential", "", "", "a") +
               vehicle("differential", "<chassis><color>#00ff00</color></chassis>", "", "b", "3 0 0"));
  const Scene& scene = *model->scene;
  EXPECT_EQ(scene.instances.size(), 6u);
  EXPECT_EQ(scene.shapes.size(), 2u);
  EXPECT_EQ(color_of(scene, with_label(scene, 2)[0]).g, 255);
  EXPECT_EQ(color_of(scene, with_label(scene, 1)[0]).r, 255) << "the default of the dynamics";
}

TEST(CompileScene, ColorsAreNoPartOfTheFingerprint) {
  const auto of = [](const std::string& color) {
    return model_of(block("a", "<color>" + color + "</color><init_pose>5 0 0</init_pose>"));
  };
  EXPECT_EQ(of("#ff0000")->fingerprint, of("#00ff00")->fingerprint);
}

TEST(CompileScene, AMapIsReferredToAndNotCopied) {
  const auto model = model_of(
      "<element class='elevation_map'><elevation_data_matrix>[0 1; 2 3]</elevation_data_matrix></element>");
  const Instance& instance = model->scene->instances.at(0);
  const auto& field = std::get<HeightField>(model->scene->shapes[instance.shape]);
  EXPECT_EQ(field.heights.data(), model->terrain.maps[0].heights().data());
  EXPECT_EQ(field.heights.size(), 4u);
  EXPECT_EQ(model->scene->height, 3);
}

TEST(ElevationKernels, CountForAllMapsOfAWorld) {
  ElevationMapSpec spec;
  spec.data.rows = spec.data.columns = 2;
  spec.data.values = {0, 1, 2, 3};
  spec.kernel.rows = spec.kernel.columns = 3;
  spec.kernel.values.assign(9, 1.0 / 9);
  LoadGuard guard;
  HeightMapWork work{.products = (size_t{1} << 30) - 36};
  EXPECT_NO_THROW(make_height_map(spec, guard, work));
  EXPECT_EQ(work.nodes, 4u);
  EXPECT_THROW(make_height_map(spec, guard, work), WorldFileError);
}

TEST(CompileScene, AScenePointerKeepsItsModelAlive) {
  auto model = model_of(block("a", "<init_pose>5 0 0</init_pose>"));
  const std::weak_ptr<const Model> watch = model;
  std::shared_ptr<const Scene> scene = scene_of(model);
  model.reset();
  EXPECT_FALSE(watch.expired());
  scene.reset();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace mvsim::test::compile_scene_test
