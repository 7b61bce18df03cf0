// Blocks and walls: sections 2.5 and 2.6 of the world elements.
#include "worldfile/world_text.h"

namespace mvsim::block_test {
namespace {

std::string block(const std::string& inside, const std::string& attributes = "") {
  return "<block" + attributes + "><init_pose>1 2 90</init_pose>" + inside + "</block>";
}
BlockSpec load_block(const std::string& inside, const std::string& attributes = "") {
  return load_body(block(inside, attributes)).blocks.at(0);
}

std::string points(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += "<pt>0 0</pt>";
  return out;
}

TEST(Block, DefaultsAreThoseOfTheLanguage) {
  const BlockSpec b = load_block("");
  EXPECT_EQ(b.name, "block001");
  EXPECT_EQ(b.geometry, GeometryType::kPolygon);
  EXPECT_FALSE(b.shape || b.z_min || b.z_max || b.is_static || b.intangible || b.is_wall);
  EXPECT_EQ(b.mass, 30);
  EXPECT_EQ(b.ground_friction, 0.5);
  EXPECT_EQ(b.lateral_friction, 0.5);
  EXPECT_EQ(b.restitution, 0.01);
  EXPECT_EQ(b.linear_damping, 0.1);
  EXPECT_EQ(b.color.b, 255);
  EXPECT_DOUBLE_EQ(b.placement.pose.yaw, kPi / 2);
}

TEST(Block, ScalarsAreReadFromChildrenAndAttributes) {
  const BlockSpec b = load_block(
      "<mass>5</mass><ground_friction>0.1</ground_friction><lateral_friction>0.2</lateral_friction>"
      "<restitution>0.3</restitution><linear_damping>0.4</linear_damping><angular_damping>0.6</"
      "angular_damping>"
      "<zmin>0.7</zmin><zmax>0.8</zmax><color>#11223344</color><mass>6</mass>",
      " static='true' intangible='1' name='b' mass='1'");
  EXPECT_TRUE(b.is_static && b.intangible);
  EXPECT_EQ(b.mass, 6) << "the child wins, and the last one of a name";
  EXPECT_EQ(b.ground_friction, 0.1);
  EXPECT_EQ(b.lateral_friction, 0.2);
  EXPECT_EQ(b.restitution, 0.3);
  EXPECT_EQ(b.linear_damping, 0.4);
  EXPECT_EQ(b.angular_damping, 0.6);
  EXPECT_EQ(b.z_min, 0.7);
  EXPECT_EQ(b.z_max, 0.8);
  EXPECT_EQ(b.color.a, 0x44);
  EXPECT_EQ(load_block("<color>#112233</color>").color.a, 255);
}

TEST(Block, GeometriesReadTheirSizes) {
  BlockSpec b = load_block("<geometry type='box' lx='2' ly='1' lz='$f{1/2}'/>");
  EXPECT_EQ(b.geometry, GeometryType::kBox);
  EXPECT_EQ(b.size.x, 2);
  EXPECT_EQ(b.size.z, 0.5);
  b = load_block("<geometry type='cylinder' radius='0.5' length='2' vertex_count='6'/><shape_from_visual/>");
  EXPECT_EQ(b.geometry, GeometryType::kCylinder);
  EXPECT_EQ(b.radius, 0.5);
  EXPECT_EQ(b.length, 2);
  EXPECT_EQ(b.vertex_count, 6);
  EXPECT_EQ(load_block("<geometry type='sphere' radius='0.5'/>").geometry, GeometryType::kSphere);
  EXPECT_EQ(load_block("<geometry type='ramp' lx='2' ly='1' lz='1'/>").geometry, GeometryType::kRamp);
  b = load_block("<geometry><type>semi_cylinder_bump</type><lx>2</lx><ly>1</ly><lz>0.1</lz></geometry>");
  EXPECT_EQ(b.geometry, GeometryType::kSemiCylinderBump);
  EXPECT_EQ(b.vertex_count, 10);
}

TEST(Block, AShapeGoesBeforeAGeometry) {
  const BlockSpec b =
      load_block("<geometry type='nonsense'/><shape><pt>0 0</pt><pt>1 0</pt><pt>0 1</pt></shape>");
  EXPECT_EQ(b.geometry, GeometryType::kPolygon);
  EXPECT_EQ(b.shape->size(), 3u);
}

TEST(Block, NamesAreExpandedAndDuplicatesWarnedOf) {
  const WorldSpec world =
      load_body("<for var='i' from='0' to='1'>" + block("", " name='box_${i}'") + "</for>" +
                block("", " name='box_1'") + block("", " name='block001'") + block(""));
  EXPECT_EQ(world.blocks[1].name, "box_1");
  EXPECT_EQ(world.blocks[4].name, "block002");
  EXPECT_EQ(world.warnings.size(), 1u);
  EXPECT_TRUE(has(world.warnings[0], "'box_1' is given to a second <block>"));
}

TEST(Block, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"<block/>", ":2:1: <block> 'block001' has no <init_pose>"},
      {block("<shape><pt>0 0</pt><pt>1 1</pt></shape>"), "<shape> has fewer than 3 points"},
      {block("<shape>" + points(15) + "</shape>"), "<shape> has more than 14 points"},
      {block("<geometry/>"), "<geometry>: found type '', expected box, cylinder"},
      {block("<geometry type='bx'/>"),
       "found type 'bx', expected box, cylinder, sphere, ramp or semi_cylinder_bump"},
      {block("<geometry type='cylindre'/>"), "did you mean 'cylinder'?"},
      {block("<geometry type='box' lx='1' ly='1'/>"), "<geometry> of type box has no lz"},
      {block("<geometry type='cylinder' radius='1'/>"), "has no length"},
      {block("<geometry type='sphere'/>"), "has no radius"},
      {block("<shape_from_visual/>"), "<shape_from_visual> without <visual> and without <geometry>"},
      {block("<shape_from_visual/><visual><model_uri>a.dae</model_uri></visual>"), "a.dae' does not exist"},
      {block("<animation type='keyframes'/>"), "<animation> has no <time_pose>"},
  };
  for (const auto& [body, expected] : cases) EXPECT_TRUE(has(error_of(body), expected)) << body;
  EXPECT_TRUE(
      has(joined(load_body(block("<include file='a.xml'/>")).warnings), "<include> is ignored in a block"));
}

// --- Walls ---

std::string walls(const std::string& points, const std::string& more = "") {
  std::string shape;
  for (size_t at = 0; at < points.size();) {
    const size_t end = std::min(points.find(',', at), points.size());
    shape += "<pt>" + points.substr(at, end - at) + "</pt>";
    at = end + 1;
  }
  return "<walls>" + more + "<shape>" + shape + "</shape></walls>";
}

TEST(Walls, EachPairOfPointsIsAStaticBlock) {
  const WorldSpec world = load_body(walls("0 0,4 0,10 0,10 3,-5 -5,-8 -9"));
  ASSERT_EQ(world.blocks.size(), 3u);
  const BlockSpec& w = world.blocks[1];
  EXPECT_EQ(w.name, "wall_0002");
  EXPECT_TRUE(w.is_wall && w.is_static);
  EXPECT_EQ(w.mass, 1e5);
  EXPECT_EQ(w.z_min, 0);
  EXPECT_EQ(w.z_max, 2);
  EXPECT_EQ(w.color.r, 0x32);
  EXPECT_DOUBLE_EQ(w.placement.pose.x, 10);
  EXPECT_DOUBLE_EQ(w.placement.pose.y, 1.5);
  EXPECT_DOUBLE_EQ(w.placement.pose.yaw, kPi / 2);
  ASSERT_EQ(w.shape->size(), 4u);
  EXPECT_DOUBLE_EQ(w.shape->at(2).x, 1.5);
  EXPECT_DOUBLE_EQ(w.shape->at(2).y, 0.05);
}

TEST(Walls, EndsThatMeetAnEarlierWallAreLengthened) {
  const WorldSpec world = load_body(walls("0 0,4 0,4 0,4 3", "<wallThickness>0.2</wallThickness>"));
  EXPECT_DOUBLE_EQ(world.blocks[0].shape->at(2).x, 2) << "the earlier one stays";
  EXPECT_DOUBLE_EQ(world.blocks[1].shape->at(2).x, 1.55);
  EXPECT_DOUBLE_EQ(world.blocks[1].placement.pose.y, 1.45);
  const std::string near = walls("0 0,4 0,4.201 0,4.201 3", "<wallThickness>0.2</wallThickness>");
  EXPECT_DOUBLE_EQ(load_body(near).blocks[1].shape->at(2).x, 1.55) << "within 1.01 thicknesses";
  const std::string far = walls("0 0,4 0,4.203 0,4.203 3", "<wallThickness>0.2</wallThickness>");
  EXPECT_DOUBLE_EQ(load_body(far).blocks[1].shape->at(2).x, 1.5);
}

TEST(Walls, ATransformationMovesThePoints) {
  const WorldSpec world =
      load_body(walls("0 0,2 0",
                      "<transformation>[0 -1 0 5; 1, 0, 0, 6; 0 0 1 0; 0 0 0 1]</transformation>"
                      "<wallHeight>0.5</wallHeight><color>#ffffff</color>"));
  EXPECT_DOUBLE_EQ(world.blocks[0].placement.pose.x, 5);
  EXPECT_DOUBLE_EQ(world.blocks[0].placement.pose.y, 7);
  EXPECT_EQ(world.blocks[0].z_max, 0.5);
}

// The three lines lie above each other in part: an upright one is a point, one twice is one wall.
TEST(Walls, OfAMeshOfLines) {
  TempFolder folder;
  const std::string lines = "v 0 0 0\nv 4 0 0\nv 4 3 0\nv 4 3 2\nv 4 0 2\nl 1 2 3 4 5\n";
  folder.write("lines.obj", lines);
  const std::string inside = "<model_uri>lines.obj</model_uri><wallThickness>0.1</wallThickness>";
  const WorldSpec world = load_world(folder.write("w.xml", world_of("<walls>" + inside + "</walls>")), {});
  ASSERT_EQ(world.blocks.size(), 2U);
  EXPECT_DOUBLE_EQ(world.blocks[0].placement.pose.x, 2);
  EXPECT_DOUBLE_EQ(world.blocks[1].placement.pose.x, 4);
  EXPECT_NEAR(world.blocks[1].placement.pose.yaw, kPi / 2, 1e-12);
  EXPECT_NEAR(world.blocks[0].shape->at(2).x, 2, 1e-12) << "half of 4 m";

  folder.write("both.obj", lines + "f 1 2 3\n");
  const std::string both = "<walls><model_uri>both.obj</model_uri></walls>";
  EXPECT_EQ(load_world(folder.write("w.xml", world_of(both)), {}).blocks.size(), 3U) << "and the long side";

  try {
    const std::string visual =
        "<block><init_pose>0 0 0</init_pose><visual><model_uri>lines.obj</model_uri></visual></block>";
    load_world(folder.write("w.xml", world_of(visual)), {});
    FAIL() << "nothing to draw";
  } catch (const WorldFileError& e) {
    EXPECT_TRUE(has(e.what(), "<model_uri>: found a mesh of lines alone, which are not drawn")) << e.what();
  }
}

TEST(Walls, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {walls("0 0,1 0,2 0"), "has 3 points, expected pairs"},
      {"<walls/>", ":2:1: <walls> has no <shape> and no <model_uri>"},
      {"<walls><shape/></walls>", "has 0 points"},
      {"<walls><model_uri>a.dae</model_uri></walls>", "<model_uri>: the file 'a.dae' does not exist"},
      {walls("0 0,1 0,3 3,3 3"), "the wall between points 3 and 4 has no length"},
      {walls("0 0,1 0", "<wallThickness>0</wallThickness>"), "<wallThickness>: found 0, expected >="},
      {walls("0 0,1 0", "<transformation>1 2</transformation>"), "<transformation>: expected a 4x4 matrix"},
      {walls("0 0,1 0", "<transformation>[1;2;3;4]</transformation>"), "expected a 4x4 matrix"},
      {walls("0 0,1e300 0"), "farther than 1e7 m"},
  };
  for (const auto& [body, expected] : cases) EXPECT_TRUE(has(error_of(body), expected)) << body;
}

}  // namespace
}  // namespace mvsim::block_test
