// <visual>s of worlds, as outlines of bodies and in pictures. Their meshes are in tests/data/meshes.
#include <gtest/gtest.h>

#include <algorithm>

#include "assets/read_mesh.h"
#include "base/geometry3.h"
#include "base/math.h"
#include "model/compile.h"
#include "scene/scene.h"
#include "sim/measure.h"
#include "sim/sense.h"
#include "sim/simulation.h"
#include "source_dir.h"

namespace mvsim::visual_test {
namespace {

// Stood upright, the box of box.dae takes x 0..2, y 0..1 and z 1..1.5.
const std::string kBox = "<visual><model_uri>meshes/box.dae</model_uri><model_roll>90</model_roll></visual>";

std::shared_ptr<const Model> model_of(const std::string& body) {
  return compile_world(
      load_world_text("<mvsim_world>" + body + "</mvsim_world>", source_dir() + "/tests/data", {}), {});
}

std::string block(const std::string& inside, const std::string& pose = "0 0 0") {
  return "<block><init_pose>" + pose + "</init_pose>" + inside + "</block>";
}

std::string vehicle(const std::string& dynamics, const std::string& inside,
                    const std::string& attributes = "") {
  return "<vehicle " + attributes + "><init_pose>0 0 0</init_pose><dynamics class='ackermann'>" + dynamics +
         "</dynamics>" + inside + "</vehicle>";
}

size_t meshes_in(const Scene& scene) {
  size_t count = 0;
  for (const Shape& shape : scene.shapes) count += std::holds_alternative<SharedMesh>(shape) ? 1 : 0;
  return count;
}

bool warns(const Model& model, const std::string& part) {
  for (const std::string& warning : model.warnings)
    if (warning.find(part) != std::string::npos) return true;
  return false;
}

TEST(Visual, ABlockTakesItsShapeFromItsMesh) {
  const auto model = model_of(block("<shape_from_visual/>" + kBox, "5 0 0"));
  const BlockModel& b = model->blocks[0];
  ASSERT_EQ(b.shape.outline.size(), 4U);
  EXPECT_NEAR(b.shape.outline[0].x, 0, 1e-6);
  EXPECT_NEAR(b.shape.outline[2].x, 2, 1e-6);
  EXPECT_NEAR(b.shape.outline[2].y, 1, 1e-6);
  EXPECT_NEAR(b.z_min, 1, 1e-6);
  EXPECT_NEAR(b.z_max, 1.5, 1e-6);
  EXPECT_NEAR(b.top.height, 1.5, 1e-6) << "what can be driven on";
}

TEST(Visual, ShapesFromMeshesArePartOfTheFingerprint) {
  const auto fingerprint = [](const std::string& inside) { return model_of(block(inside))->fingerprint; };
  const std::string shape = "<shape_from_visual/>" + kBox;
  EXPECT_EQ(fingerprint(shape), fingerprint(shape));
  EXPECT_NE(fingerprint(shape), fingerprint(shape + "<visual_scale>2</visual_scale>"));
  EXPECT_EQ(fingerprint(""), fingerprint(kBox)) << "what is only seen makes no difference";
}

TEST(Visual, ScaleOfABlockReplacesThatOfItsVisuals) {
  const auto model = model_of(block("<shape_from_visual/><visual_scale>2</visual_scale>" + kBox));
  EXPECT_NEAR(model->blocks[0].shape.outline[2].x, 4, 1e-6);
  EXPECT_NEAR(model->blocks[0].z_max, 3, 1e-6);
}

TEST(Visual, TheHeightsOfABlockCutItsMesh) {
  const auto model = model_of(block("<shape_from_visual/><zmin>1.2</zmin><zmax>1.3</zmax>" + kBox));
  EXPECT_NEAR(model->blocks[0].z_min, 1.2, 1e-12);
  EXPECT_NEAR(model->blocks[0].z_max, 1.3, 1e-12);
}

// The box has two materials and flat faces of two triangles each: from above it is a rectangle.
TEST(Visual, TheEdgesOfAMeshAreWalls) {
  const auto model = model_of(
      "<walls><wallThickness>0.1</wallThickness><wallHeight>0.7</wallHeight>"
      "<model_uri>meshes/box.obj</model_uri>"
      "<transformation>[1 0 0 5; 0 1 0 0; 0 0 1 0; 0 0 0 1]</transformation></walls>");
  ASSERT_EQ(model->blocks.size(), 4U);
  double length = 0;
  for (const BlockModel& wall : model->blocks) {
    EXPECT_EQ(wall.z_max, 0.7);
    EXPECT_TRUE(wall.traits.is_static);
    EXPECT_GE(wall.initial_pose.x, 5);
    EXPECT_LE(wall.initial_pose.x, 7);
    const Polygon& o = wall.shape.outline;
    length += std::max(norm(o[1] - o[0]), norm(o[2] - o[1]));
  }
  EXPECT_NEAR(length, 2 * (2 + 1) + 4 * 0.05, 1e-6) << "at each corner one end is lengthened";
}

TEST(Visual, OneMeshManyInstances) {
  const std::string fixed = "<static>true</static>" + kBox;
  const auto model = model_of(block(fixed, "0 0 0") + block(fixed, "5 0 0") + block(kBox, "10 0 90"));
  const Scene& scene = *model->scene;
  EXPECT_EQ(meshes_in(scene), 1U);
  EXPECT_EQ(scene.shapes.size(), 1U) << "with a mesh the default shape is not drawn";
  EXPECT_EQ(scene.instances.size(), 3U);
  ASSERT_EQ(scene.textures.size(), 1U);
  EXPECT_EQ(scene.materials[scene.instances[0].material].texture, 0);
  EXPECT_EQ(scene.materials[scene.instances[0].material].cull, CullFaces::kNone);
  EXPECT_NEAR(scene.instances[1].T_frame_shape.origin.x, 5, 1e-12);
  EXPECT_EQ(scene.instances[2].frame, frame_of_body(2));
}

TEST(Visual, ColourAndFacesOfAVisual) {
  const auto model =
      model_of(block("<visual><model_uri>meshes/box.obj</model_uri><model_color>#102030</model_color>"
                     "<model_cull_faces>BACK</model_cull_faces><model_scale>0.5</model_scale></visual>"));
  const Scene& scene = *model->scene;
  ASSERT_EQ(scene.instances.size(), 2U) << "one for each material";
  for (const Instance& i : scene.instances) {
    EXPECT_EQ(scene.materials[i.material].color, (Color{0x10, 0x20, 0x30, 255}));
    EXPECT_EQ(scene.materials[i.material].cull, CullFaces::kBack);
    EXPECT_NEAR(norm(i.T_frame_shape.x), 0.5, 1e-12);
  }
}

TEST(Visual, SwitchedOffOrWithoutAMeshItIsIgnored) {
  for (const char* visual : {"<visual enabled='false'><model_uri>meshes/box.obj</model_uri></visual>",
                             "<visual/>", "<visual><model_uri> </model_uri></visual>"})
    EXPECT_EQ(meshes_in(*model_of(block(visual))->scene), 0U) << visual;
}

TEST(Visual, AVehiclesChassisAndWheels) {
  const std::string wheel = "<visual><model_uri>meshes/box.stl</model_uri></visual>";
  const auto model =
      model_of(vehicle("<rl_wheel>" + wheel + "</rl_wheel><chassis><shape_from_visual/></chassis>",
                       kBox + "<visual><model_uri>meshes/box.ply</model_uri>"
                              "<model_offset_x>-1</model_offset_x></visual>"));
  const VehicleModel& v = model->vehicles[0];
  Rect r{};
  for (const Vec2 p : v.chassis.outline)
    r = {std::min(r.x_min, p.x), std::max(r.x_max, p.x), r.y_min, r.y_max};
  EXPECT_NEAR(r.x_min, -1, 1e-6);
  EXPECT_NEAR(r.x_max, 2, 1e-6);
  EXPECT_NEAR(v.z_min, 0, 1e-6);
  EXPECT_NEAR(v.z_max, 1.5, 1e-6);
  EXPECT_EQ(meshes_in(*model->scene), 3U);
  size_t wheels = 0, chassis = 0;
  for (const Shape& shape : model->scene->shapes) {
    wheels += std::holds_alternative<WheelShape>(shape) ? 1 : 0;
    chassis += std::holds_alternative<Prism>(shape) ? 1 : 0;
  }
  EXPECT_EQ(wheels, 1U) << "three wheels share the cylinder";
  EXPECT_EQ(chassis, 0U);
}

TEST(Visual, LinkedOnesTurnWithTheirWheel) {
  const auto model = model_of(vehicle(
      "<fl_wheel pos='1 1 30' linked_yaw='fork' linked_yaw_offset_deg='-90'/>",
      "<visual><name>fork</name><model_uri>meshes/box.stl</model_uri><model_offset_x>0.5</model_offset_x>"
      "<model_offset_z>0.25</model_offset_z></visual>"));
  const VehicleModel& v = model->vehicles[0];
  ASSERT_EQ(v.linked_visuals.size(), 1U);
  const Simulation sim(model, 1);
  std::vector<ScenePose> poses;
  scene_poses(sim, poses);
  ASSERT_LT(v.linked_visuals[0].frame, poses.size());
  const Frame3& frame = poses[v.linked_visuals[0].frame].T_world_frame;
  EXPECT_NEAR(frame.origin.x, 0.5, 1e-6);
  EXPECT_NEAR(frame.origin.z, 0.25, 1e-6);
  const double steer = wheel_states(sim, 0)[v.linked_visuals[0].wheel].steer;
  EXPECT_NEAR(math::atan2(frame.x.y, frame.x.x), steer - kPi / 2, 1e-6);
}

TEST(Visual, APersonMayHaveAModel) {
  const std::string actor = "<actor name='p'><init_pose>1 2 0</init_pose>";
  const auto figure = model_of(actor + "</actor>"), dressed = model_of(actor + kBox + "</actor>");
  EXPECT_EQ(figure->scene->instances.size(), 2U) << "body and head";
  EXPECT_EQ(meshes_in(*dressed->scene), 1U);
  ASSERT_EQ(dressed->scene->instances.size(), 1U);
  EXPECT_EQ(dressed->scene->instances[0].frame, dressed->actors[0].frame);
  EXPECT_FALSE(warns(*dressed, "<visual>"));
  EXPECT_EQ(figure->fingerprint, dressed->fingerprint);
  const auto of_class = model_of("<actor:class name='c'>" + kBox + "</actor:class><actor class='c'>" +
                                 "<init_pose>0 0 0</init_pose></actor>");
  EXPECT_EQ(meshes_in(*of_class->scene), 1U);
}

TEST(Visual, ElementsHaveThemBesideTheirOwnShape) {
  const std::string plane = "<element class='horizontal_plane'><init_pose>5 0 90</init_pose><z>2</z>";
  const auto still = model_of(plane + kBox + "</element>");
  ASSERT_EQ(still->scene->instances.size(), 2U);
  const Instance& box = still->scene->instances[1];
  EXPECT_EQ(box.frame, kWorldFrame);
  EXPECT_NEAR(box.T_frame_shape.transform({1, 0, 0}).y, 1, 1e-9) << "turned with the plane";
  EXPECT_NEAR(box.T_frame_shape.origin.x, 5, 1e-9);
  EXPECT_EQ(box.label, still->scene->instances[0].label);
  const auto moving = model_of(plane +
                               "<animation type='keyframes'><time_pose>0 0 0 0</time_pose>"
                               "<time_pose>2 1 0 0</time_pose></animation>" +
                               kBox + "</element>");
  ASSERT_EQ(moving->scene->instances.size(), 2U);
  EXPECT_EQ(moving->scene->instances[1].frame, moving->moving_planes.at(0).frame);
  for (const std::string element :
       {"<element class='elevation_map'><elevation_data_matrix>[0 0; 0 0]</elevation_data_matrix>",
        "<element class='vertical_plane'>", "<element class='vertical_plane'><window/>"}) {
    const auto with = model_of(element + kBox + "</element>"), without = model_of(element + "</element>");
    EXPECT_EQ(meshes_in(*with->scene), 1U) << element;
    EXPECT_EQ(with->scene->instances.size(), without->scene->instances.size() + 1) << element;
    EXPECT_EQ(with->fingerprint, without->fingerprint);
    EXPECT_FALSE(warns(*with, "unknown"));
  }
}

TEST(Visual, APanelThrowsAShadowUnlessItIsToldNotTo) {
  const auto throws_one = [](const std::string& inside) {
    const auto model = model_of("<element class='vertical_plane'>" + inside + "</element>");
    return model->scene->materials.at(model->scene->instances.at(0).material).casts_shadow;
  };
  for (const std::string opening : {"", "<window/>"}) {
    EXPECT_TRUE(throws_one(opening));
    EXPECT_FALSE(throws_one(opening + "<enable_shadows>false</enable_shadows>"));
  }
}

TEST(Visual, AnAbsentMeshIsOneWarningAndAKnownFootprint) {
  const std::string visual = "<visual><model_uri>https://example.org/a.dae</model_uri></visual>";
  const std::string derived =
      "<dynamics class='differential'><chassis zmin='0.1' zmax='0.3'>"
      "<shape_from_visual/></chassis></dynamics>";
  const auto robot = [&](const std::string& name) {
    return "<vehicle:class name='" + name + "'>" + derived + visual + "</vehicle:class><vehicle class='" +
           name + "'><init_pose>0 0 0</init_pose></vehicle>";
  };
  const auto known = model_of(robot("jackal"));
  EXPECT_TRUE(warns(*known, "mvsim-gym fetch"));
  EXPECT_NEAR(known->vehicles[0].chassis.outline[0].x, -0.2515, 1e-12);
  EXPECT_EQ(known->vehicles[0].z_max, 0.2495);
  const auto unknown = model_of(robot("mine"));
  EXPECT_EQ(unknown->vehicles[0].chassis.outline.size(), 6U) << "that of the dynamics";
  EXPECT_EQ(unknown->vehicles[0].z_min, 0.1);
  EXPECT_EQ(unknown->vehicles[0].z_max, 0.3);
  EXPECT_EQ(meshes_in(*unknown->scene), 0U);
  EXPECT_EQ(model_of(block("<shape_from_visual/>" + visual))->blocks[0].shape.outline.size(), 4U);
}

TEST(Visual, WorldsOfOneEnvironmentDecodeAMeshOnce) {
  LoadGuard guard;
  LoadSession session(guard);
  OpenFile mesh = open_file(source_dir() + "/tests/data/meshes/box.stl");
  const auto once = session.cache.mesh(mesh, {}, {}, guard);
  EXPECT_EQ(once, session.cache.mesh(mesh, {}, {}, guard));
}

}  // namespace
}  // namespace mvsim::visual_test
