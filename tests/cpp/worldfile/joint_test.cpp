// <joint>: valid content, refused content, and content that is reported to have no effect.
#include "worldfile/world_text.h"

namespace mvsim::joint_test {
namespace {

const std::string kBodies = R"(<block name="post"><init_pose>0 0 0</init_pose><static>1</static></block>
<block name="crate"><init_pose>2 0 0</init_pose></block>
<block name="ghost"><init_pose>2 0 0</init_pose><intangible>true</intangible></block>
<vehicle name="truck"><init_pose>0 5 0</init_pose><dynamics class="differential"/></vehicle>
)";

std::string joint(const std::string& attributes) {
  return kBodies + "<joint " + attributes + "/>";
}
const std::string kEnds = R"( body_a="truck" anchor_a="-0.8 0.1" body_b="crate" anchor_b="2 0" )";

TEST(JointTag, Revolute) {
  const WorldSpec world = load_body(
      joint("type='pin'" + kEnds + R"(enable_limit="true" lower_angle_deg="-75" upper_angle_deg="30")"));
  const JointSpec& j = world.joints.at(0);
  EXPECT_EQ(j.type, JointType::kRevolute);
  EXPECT_TRUE(j.a.is_vehicle);
  EXPECT_FALSE(j.b.is_vehicle);
  EXPECT_EQ(j.b.index, 1u);
  EXPECT_EQ(j.a.anchor, (Vec2{-0.8, 0.1}));
  EXPECT_TRUE(j.limited);
  EXPECT_NEAR(j.lower_angle, -75 * kDegree, 1e-12);
  EXPECT_NEAR(j.upper_angle, 30 * kDegree, 1e-12);
  EXPECT_TRUE(world.warnings.empty());
}

TEST(JointTag, DistanceAndItsDefaults) {
  WorldSpec world = load_body(joint("type='rope'" + kEnds));
  EXPECT_EQ(world.joints.at(0).type, JointType::kDistance);
  EXPECT_EQ(world.joints[0].max_length, 5);
  EXPECT_EQ(world.joints[0].min_length, 0);
  EXPECT_EQ(world.joints[0].stiffness, 0);
  world = load_body(
      joint("type='distance'" + kEnds + "max_length='3' min_length='1' stiffness='40' damping='2'"));
  EXPECT_EQ(world.joints.at(0).max_length, 3);
  EXPECT_EQ(world.joints[0].min_length, 1);
  EXPECT_EQ(world.joints[0].stiffness, 40);
  EXPECT_EQ(world.joints[0].damping, 2);
}

TEST(JointTag, InALoopWithVariablesAndWalls) {
  const WorldSpec world = load_body(R"(<walls><shape><pt>0 0</pt><pt>4 0</pt></shape></walls>
    <for var="i" from="1" to="3"><block name="b${i}"><init_pose>$f{i} 1 0</init_pose></block>
    <joint type="rope" body_a="wall_0001" anchor_a="0 0" body_b="b${i}" anchor_b="$f{0.1*i} 0"/></for>)");
  ASSERT_EQ(world.joints.size(), 3u);
  EXPECT_EQ(world.joints[2].b.index, 3u);
  EXPECT_NEAR(world.joints[2].b.anchor.x, 0.3, 1e-12);
}

TEST(JointTag, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"", ":6:1: <joint> has no type"},
      {"type=''", ":6:8: <joint> has no type"},
      {"type='revolut'" + kEnds,
       ":6:8: <joint>: found type 'revolut', expected revolute (pin) or distance "
       "(rope), did you mean 'revolute'?"},
      {"type='pin'", "<joint> has no body_a"},
      {"type='pin' body_a='truk' anchor_a='0 0' body_b='crate' anchor_b='0 0'",
       ":6:19: <joint>: no vehicle or block 'truk' stands before it in the file, did you mean 'truck'?"},
      {"type='pin' body_a='truck' body_b='crate' anchor_b='0 0'", "<joint> has no anchor_a"},
      {"type='pin' body_a='truck' anchor_a='0' body_b='crate' anchor_b='0 0'",
       ":6:34: <anchor_a>: found '0', expected two numbers x y (m)"},
      {"type='pin' body_a='truck' anchor_a='0 0 1' body_b='crate' anchor_b='0 0'",
       "expected two numbers x y"},
      {"type='pin' body_a='truck' anchor_a='0 nan' body_b='crate' anchor_b='0 0'",
       "expected two numbers x y"},
      {"type='pin' body_a='truck' anchor_a='1e9 0' body_b='crate' anchor_b='0 0'", "<anchor_a>: found 1e+09"},
      {"type='pin' body_a='truck' anchor_a='0 0' body_b='truck' anchor_b='0 0'",
       "body_a and body_b are the same body"},
      {"type='pin' body_a='truck' anchor_a='0 0' body_b='ghost' anchor_b='0 0'", "'ghost' is intangible"},
      {"type='pin'" + kEnds + "enable_limit='maybe'", "<enable_limit>: found 'maybe', expected true"},
      {"type='pin'" + kEnds + "lower_angle_deg='10' upper_angle_deg='5'", "lower_angle_deg is above"},
      {"type='pin'" + kEnds + "lower_angle_deg='-1e9'",
       "<lower_angle_deg>: found -1e+09, expected >= -36000"},
      {"type='rope'" + kEnds + "max_length='0'", "<max_length>: found 0, expected >= 0.01"},
      {"type='rope'" + kEnds + "max_length='1 m'", "<max_length>: found '1 m', expected a finite number"},
      {"type='rope'" + kEnds + "min_length='6'", "min_length is above max_length"},
      {"type='rope'" + kEnds + "stiffness='-1'", "<stiffness>: found -1, expected >= 0"},
      {"type='rope'" + kEnds + "damping='inf'", "<damping>: found 'inf', expected a finite number"},
  };
  for (const auto& [attributes, expected] : cases)
    EXPECT_TRUE(has(error_of(joint(attributes)), expected)) << attributes;
}

TEST(JointTag, BodiesStandBeforeTheJoint) {
  const std::string later = R"(<joint type="pin" body_a="a" anchor_a="0 0" body_b="b" anchor_b="0 0"/>)";
  const std::string a = "<block name='a'><init_pose>0 0 0</init_pose></block>",
                    b = "<block name='b'><init_pose>0 0 0</init_pose></block>";
  EXPECT_EQ(error_of(a + b + later), "");
  EXPECT_TRUE(has(error_of(a + later + b), "no vehicle or block 'b' stands before it in the file"));
}

TEST(JointTag, ANameOfTwoKindsIsAmbiguous) {
  EXPECT_TRUE(
      has(error_of("<block name='truck'><init_pose>0 0 0</init_pose></block>" + joint("type='pin'" + kEnds)),
          "'truck' is the name of a vehicle and of a block"));
}

TEST(JointTag, SaysWhatHasNoEffect) {
  const std::pair<std::string, const char*> cases[] = {
      {"type='pin'" + kEnds + "max_length='3'", "max_length has no effect in a revolute joint"},
      {"type='pin'" + kEnds + "upper_angle_deg='3'", "upper_angle_deg has no effect without enable_limit"},
      {"type='rope'" + kEnds + "enable_limit='1'", "enable_limit has no effect in a distance joint"},
      {"type='rope'" + kEnds + "damping='3'", "damping has no effect without stiffness"},
      {"type='rope'" + kEnds + "max_lenght='3'",
       "the attribute max_lenght is unknown in <joint> and ignored, "
       "did you mean 'max_length'?"},
  };
  for (const auto& [attributes, expected] : cases)
    EXPECT_TRUE(has(joined(load_body(joint(attributes)).warnings), expected)) << attributes;
}

}  // namespace
}  // namespace mvsim::joint_test
