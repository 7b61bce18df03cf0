// <publish>: what it says is kept in spec and Model, by the name of the object that has it, and changes no
// result.
#include <gtest/gtest.h>

#include "sim/worlds.h"
#include "worldfile/world_text.h"

namespace mvsim::publish_test {
namespace {

using test::bot;
using test::kPid;
using test::model_of;

constexpr const char* kPose = "<init_pose>0 0 0</init_pose>";

std::string tag(const std::string& inside) {
  return "<publish>" + inside + "</publish>";
}
std::string block(const std::string& inside, const std::string& attributes = "name='b'") {
  return "<block " + attributes + ">" + kPose + inside + "</block>";
}

TEST(Publish, IsKeptOfABody) {
  const WorldSpec world =
      load_body(block("") + block(tag("<publish_pose_topic> /${NAME}/p </publish_pose_topic>"
                                      "<publish_pose_period>0.05</publish_pose_period>"
                                      "<publish_relative_pose_topic>/seen</publish_relative_pose_topic>"
                                      "<publish_relative_pose_objects>b, c,\n b</"
                                      "publish_relative_pose_objects>"),
                                  "name='c'"));
  EXPECT_EQ(world.blocks[0].placement.publication, nullptr);
  ASSERT_NE(world.blocks[1].placement.publication, nullptr);
  const PublicationSpec& found = *world.blocks[1].placement.publication;
  EXPECT_EQ(found.topic, "/c/p");
  EXPECT_EQ(found.period, 0.05);
  EXPECT_EQ(found.relative_topic, "/seen");
  EXPECT_EQ(found.relative_objects, (std::vector<std::string>{"b", "c", "b"}));
  EXPECT_EQ(joined(world.warnings), "");
}

TEST(Publish, HasDefaults) {
  const WorldSpec world = load_body(block("<publish/>"));
  ASSERT_NE(world.blocks[0].placement.publication, nullptr);
  const PublicationSpec& found = *world.blocks[0].placement.publication;
  EXPECT_EQ(found.topic, "");
  EXPECT_EQ(found.period, 0.1);
  EXPECT_EQ(found.relative_topic, "");
  EXPECT_TRUE(found.relative_objects.empty());
}

TEST(Publish, SwitchedOffSaysNothingAndIsChecked) {
  const std::string topic = "<publish_pose_topic>/p</publish_pose_topic>";
  const WorldSpec world = load_body(block("<publish enabled='false'>" + topic + "</publish>") +
                                    block(tag("<enabled>0</enabled>" + topic), "name='c'"));
  for (const BlockSpec& b : world.blocks) EXPECT_EQ(b.placement.publication, nullptr) << b.name;
  EXPECT_TRUE(
      has(error_of(block("<publish enabled='false'><publish_pose_period>-1</publish_pose_period></publish>")),
          "<publish_pose_period>: found -1, expected >= 0"));
}

TEST(Publish, OfTheObjectGoesBeforeThatOfItsClass) {
  const WorldSpec world =
      load_body("<variable name='rate' value='4'/><block:class name='k'>" +
                tag("<publish_pose_topic>/class/${NAME}</publish_pose_topic>"
                    "<publish_pose_period>$f{1/rate}</publish_pose_period>") +
                "</block:class>" + block("", "name='b1' class='k'") +
                block(tag("<publish_pose_topic>/own</publish_pose_topic>"), "name='b2' class='k'") +
                block("<publish enabled='false'/>", "name='b3' class='k'"));
  EXPECT_EQ(world.blocks[0].placement.publication->topic, "/class/b1");
  EXPECT_EQ(world.blocks[0].placement.publication->period, 0.25);
  EXPECT_EQ(world.blocks[1].placement.publication->topic, "/own");
  EXPECT_EQ(world.blocks[1].placement.publication->period, 0.1) << "it counts as a whole";
  EXPECT_EQ(world.blocks[2].placement.publication, nullptr);
}

// An included definition of a sensor, with a parameter of its <include>.
TEST(Publish, OfASensorTakesParametersOfIncludes) {
  const TempFolder folder;
  folder.write("l.xml",
               "<sensor class='laser' name='${n}'><publish enabled='${on|false}'>"
               "<publish_topic>/${PARENT_NAME}/${NAME}</publish_topic></publish></sensor>");
  const WorldSpec world = load_world_text(
      world_of("<vehicle name='r'><init_pose>0 0 0</init_pose><dynamics class='d'/>"
               "<include file='l.xml' n='front' on='true'/><include file='l.xml' n='back' on='false'/>"
               "<include file='l.xml' n='top'/></vehicle>"),
      folder.path(), {});
  ASSERT_EQ(world.vehicles[0].sensors.size(), 3U);
  EXPECT_EQ(world.vehicles[0].sensors[0].publish_topic, "/r/front");
  EXPECT_EQ(world.vehicles[0].sensors[1].publish_topic, "");
}

TEST(Publish, OfOneThatIsNotThereIsWarnedOf) {
  const std::string seen =
      tag("<publish_relative_pose_topic>/t</publish_relative_pose_topic>"
          "<publish_relative_pose_objects>crat b</publish_relative_pose_objects>");
  const WorldSpec world = load_body(block("", "name='crate'") + "\n" + block(seen) + block(seen, "name='d'"));
  ASSERT_EQ(world.warnings.size(), 1U) << joined(world.warnings);
  EXPECT_TRUE(has(world.warnings[0],
                  ":3:45: <publish_relative_pose_objects>: there is no vehicle or block 'crat', did you mean "
                  "'crate'?"));
}

TEST(Publish, RelativePosesNeedTopicAndObjects) {
  for (const char* half : {"<publish_relative_pose_topic>/t</publish_relative_pose_topic>",
                           "<publish_relative_pose_objects>b</publish_relative_pose_objects>",
                           "<publish_relative_pose_topic>/t</publish_relative_pose_topic>"
                           "<publish_relative_pose_objects> , </publish_relative_pose_objects>"})
    EXPECT_TRUE(has(error_of(block(tag(half))), "expected both or none")) << half;
}

TEST(Publish, OfWhatIsNotPublishedIsWarnedOf) {
  const std::string warnings =
      joined(load_body("<actor name='a'>" + std::string(kPose) + tag("") +
                       "</actor><element class='horizontal_plane'>" + tag("") + "</element>")
                 .warnings);
  EXPECT_TRUE(
      has(warnings, "<publish> has no effect in <actor>: poses of vehicles and blocks are published"));
  EXPECT_TRUE(has(warnings, "<publish> has no effect in <element class=\"horizontal_plane\">"));
}

TEST(Publish, IsInTheModelAndChangesNoResult) {
  const std::string topic = tag("<publish_pose_topic>/${NAME}</publish_pose_topic>");
  const auto world = [](const std::string& of_body, const std::string& of_sensor) {
    return model_of(
        bot("a", kPid, kPose + of_body + "<sensor class='laser' name='l'>" + of_sensor + "</sensor>") +
        "<block name='b'><init_pose>5 0 0</init_pose>" + of_body + "</block>");
  };
  const auto plain = world("", ""), told = world(topic, tag("<publish_topic>/l</publish_topic>"));
  EXPECT_EQ(plain->vehicles[0].publication, nullptr);
  EXPECT_EQ(plain->sensors[0].publish_topic, "");
  EXPECT_EQ(told->vehicles[0].publication->topic, "/a");
  EXPECT_EQ(told->blocks[0].publication->topic, "/b");
  EXPECT_EQ(told->sensors[0].publish_topic, "/l");
  EXPECT_EQ(plain->fingerprint, told->fingerprint);
}

}  // namespace
}  // namespace mvsim::publish_test
