// Variables, loops, conditions, includes and classes: sections 1.3 to 1.8 of the world language.
#include "worldfile/world_text.h"

namespace mvsim::flow_test {
namespace {

// A block at (x, 0). The tests read the value of an expression from its place.
std::string block_at(const std::string& x) {
  return "<block><init_pose>" + x + " 0 0</init_pose></block>";
}

std::vector<double> positions(const WorldSpec& world) {
  std::vector<double> out;
  for (const BlockSpec& block : world.blocks) out.push_back(block.placement.pose.x);
  return out;
}
using Numbers = std::vector<double>;

WorldSpec load_file(const TempFolder& folder, const std::string& body) {
  const std::string path = folder.write("worlds/w.world.xml", world_of(body));
  return load_world(path, {});
}

std::string file_error(const TempFolder& folder, const std::string& body) {
  try {
    load_file(folder, body);
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "";
}

TEST(WorldRoot, MustBeAnMvsimWorldOfAProperVersion) {
  EXPECT_TRUE(has(error_of_text("<world/>"), "<text>:1:1: the root is <world>, expected <mvsim_world>"));
  EXPECT_TRUE(
      has(error_of_text("<mvsim_world version=\"1\"/>"), ":1:14: version: found '1', expected two numbers"));
  EXPECT_EQ(error_of_text("<mvsim_world version=\"1.0\"/>"), "");
  EXPECT_EQ(error_of_text("<mvsim_world/>"), "");
  EXPECT_NE(error_of_text("<!-- nothing -->"), "");
}

TEST(WorldRoot, UnknownTagsAreWarnedOfOnce) {
  const WorldSpec world = load_body("<blok/><blok/><gravity>1.6</gravity>");
  EXPECT_EQ(world.gravity, 1.6);
  ASSERT_EQ(world.warnings.size(), 1u);
  EXPECT_TRUE(has(world.warnings[0], "<text>:2:1: <blok> is unknown and ignored, did you mean 'block'?"));
  EXPECT_TRUE(has(world.warnings[0], "(2 times, here first)"));
}

TEST(Variable, MvsimWorldSeedIsTheSeedOfTheWorld) {
  const std::string body = block_at("${MVSIM_WORLD_SEED}") + block_at("$f{MVSIM_WORLD_SEED+0.5}");
  EXPECT_EQ(positions(load_body(body, 7)), (Numbers{7, 7.5}));
  EXPECT_EQ(positions(load_body(body)), (Numbers{0, 0.5}));
}

TEST(For, RunsOncePerValueWithEndsIncluded) {
  EXPECT_EQ(positions(load_body("<for var='i' from='0' to='2'>" + block_at("${i}") + "</for>")),
            (Numbers{0, 1, 2}));
  EXPECT_TRUE(load_body("<for var='i' from='3' to='2'>" + block_at("1") + "</for>").blocks.empty());
  EXPECT_EQ(positions(load_body("<for var='i' from='$f{1.9}' to='2'>" + block_at("$f{i+0.5}") + "</for>")),
            (Numbers{1.5, 2.5}));
}

TEST(For, ValuesAreOutermost) {
  const WorldSpec world = load_body(
      "<for var='i' from='0' to='1'><variable name='x' value='$f{i*10}'/>"
      "<block name='b${i}'><init_pose>${x} 0 0</init_pose></block></for>");
  EXPECT_EQ(positions(world), (Numbers{0, 10}));
  EXPECT_EQ(world.blocks[1].name, "b1");
}

TEST(For, NestsAndKeepsTheLastValue) {
  const WorldSpec world = load_body("<for var='r' from='0' to='1'><for var='c' from='0' to='2'>" +
                                    block_at("$f{10*r + c}") + "</for></for>" + block_at("$f{100*r+c}"));
  EXPECT_EQ(positions(world), (Numbers{0, 1, 2, 10, 11, 12, 102}));
}

TEST(For, SaysWhatIsMissing) {
  EXPECT_TRUE(has(error_of("<for from='0' to='1'><gravity>1</gravity></for>"), ":2:1: <for> has no var"));
  EXPECT_TRUE(has(error_of("<for var='i' to='1'><gravity>1</gravity></for>"), "<for> has no from"));
  EXPECT_TRUE(has(error_of("<for var='i' from='0' to='x'><gravity>1</gravity></for>"),
                  ":2:23: <to>: found 'x', expected an integer"));
  EXPECT_TRUE(has(joined(load_body("<for var='i' from='0' to='1'/>").warnings), "<for> has nothing inside"));
}

TEST(If, TruthIsThatOfTheSpecification) {
  for (const char* yes : {"true", "True", "TRUE", "yes", "on", "y", "1", "2", "-1", "0x10", "1.5", "$f{2>1}"})
    EXPECT_EQ(load_body("<if condition='" + std::string(yes) + "'>" + block_at("0") + "</if>").blocks.size(),
              1u)
        << yes;
  for (const char* no : {"false", "no", "0", "0.9", "tRuE", "", " true", "$f{2<1}"})
    EXPECT_EQ(load_body("<if condition='" + std::string(no) + "'>" + block_at("0") + "</if>").blocks.size(),
              0u)
        << no;
  EXPECT_TRUE(has(error_of("<if><gravity>1</gravity></if>"), ":2:1: <if> has no condition"));
  EXPECT_TRUE(has(error_of("<if condition='${x}'/>"), "the variable 'x' is not defined"));
}

TEST(Variable, CountsFromItsPlaceOn) {
  const WorldSpec world = load_body("<variable name='x' value='1'/>" + block_at("${x}") +
                                    "<variable name='x' value='$f{x+1}'/>" + block_at("${x}"));
  EXPECT_EQ(positions(world), (Numbers{1, 2}));
  EXPECT_TRUE(has(error_of("<variable value='1'/>"), ":2:1: <variable> has no name"));
  EXPECT_TRUE(has(error_of("<variable name='x'/>"), "<variable> 'x' has no value"));
}

TEST(Variable, SeparateNamesDifferInCaseButExpressionsDoNotCare) {
  EXPECT_EQ(positions(load_body("<variable name='Size' value='3'/>" + block_at("$f{SIZE*2}"))), (Numbers{6}));
  EXPECT_TRUE(has(error_of("<variable name='Size' value='3'/>" + block_at("${size}")),
                  "the variable 'size' is not defined, did you mean 'Size'?"));
}

TEST(Variable, ACallerMayDefineSome) {
  const TempFolder folder;
  const std::string text = world_of("<variable name='n' value='${n|2}'/><for var='i' from='1' to='${n}'>" +
                                    block_at("${i}") + "</for>");
  WorldLoadOptions options;
  EXPECT_EQ(positions(load_world_text(text, folder.path(), options)), (Numbers{1, 2}));
  options.variables = {{"n", "1"}};
  EXPECT_EQ(positions(load_world_text(text, folder.path(), options)), (Numbers{1}));
  EXPECT_TRUE(load_world_text(text, folder.path(), options).warnings.empty());
}

TEST(Variable, WhatACallerDefinesInVainIsAnError) {
  const TempFolder folder;
  const std::string text = world_of("<variable name='a' value='${obstacles|2}$f{Count - 1}'/>");
  WorldLoadOptions options;
  options.variables = {{"COUNT", "4"}, {"obstacle", "8"}};
  try {
    load_world_text(text, folder.path(), options);
    FAIL();
  } catch (const WorldFileError& e) {
    EXPECT_TRUE(
        has(e.what(), ":1:1: nothing in this world uses the variable 'obstacle', did you mean 'obstacles'?"));
  }
  options.refuses_unused = false;
  const WorldSpec world = load_world_text(text, folder.path(), options);
  EXPECT_EQ(world.unused_variables, (std::vector<std::string>{"obstacle"}));
  EXPECT_TRUE(world.warnings.empty());
}

// Variables in an <if> or <for> that is not carried out, or in a file included there, count as used.
TEST(Variable, WhatIsSkippedCountsAsAsking) {
  const TempFolder folder;
  folder.write("a.xml", "<variable name='x' value='${first}'/>");
  folder.write("b.xml", "<include file = 'c.xml'/>");
  folder.write("c.xml", "<variable name='z' value='${second}'/>");
  WorldLoadOptions options;
  options.variables = {{"first", "1"}, {"second", "2"}, {"third", "3"}, {"fourth", "4"}};
  options.refuses_unused = false;
  const std::string text = world_of(
      "<if condition='0'><if condition='1'><include file='a.xml'/></if><variable name='u' "
      "value='${third}'/></if>"
      "<for var='i' from='1' to='0'><include file='b.xml'/></for>");
  const WorldSpec world = load_world_text(text, folder.path(), options);
  EXPECT_EQ(world.unused_variables, (std::vector<std::string>{"fourth"}));
}

TEST(Expansion, ReadsDefaultsManyExpressionsAndAllDigits) {
  EXPECT_EQ(positions(load_body(block_at("${nothing|5}"))), (Numbers{5}));
  EXPECT_EQ(positions(load_body(block_at("$f{1/${nothing|4}}"))), (Numbers{0.25}));
  EXPECT_EQ(positions(load_body(block_at("$f{1234567 + 0.25}"))), (Numbers{1234567.25}));
  EXPECT_EQ(positions(load_body("<variable name='e' value='$f{1+$f{1+1}}'/>" + block_at("${e}"))),
            (Numbers{3}));
  std::string sum = "<variable name='s' value='0";
  for (int i = 0; i < 30; ++i) sum += "$f{1}";
  EXPECT_EQ(positions(load_body(sum + "'/>" + block_at("$f{s > 1e29}"))), (Numbers{1}));
  EXPECT_TRUE(has(error_of(block_at("${nothing|}")), "the variable 'nothing' is not defined"));
  EXPECT_TRUE(has(error_of(block_at("${nothing")), "has no closing '}'"));
  EXPECT_TRUE(has(error_of(block_at("$f{1+}")), ":2:8: $f{1+}: expected a number"));
  EXPECT_TRUE(has(error_of("<variable name='width' value='1'/>" + block_at("$f{widht}")),
                  "unknown name 'widht', did you mean 'width'?"));
}

TEST(Expansion, EnvironmentIsReadOnlyUnderItsPrefix) {
  setenv("MVSIM_TEST_PAYLOAD", "2.5", 1);
  EXPECT_EQ(positions(load_body(block_at("$env{MVSIM_TEST_PAYLOAD}"))), (Numbers{2.5}));
  EXPECT_EQ(positions(load_body(block_at("$f{$env{MVSIM_TEST_PAYLOAD}*2}"))), (Numbers{5}));
  unsetenv("MVSIM_TEST_PAYLOAD");
  EXPECT_TRUE(has(error_of(block_at("$env{MVSIM_TEST_PAYLOAD}")), "'MVSIM_TEST_PAYLOAD' is not set"));
  EXPECT_TRUE(has(error_of(block_at("$env{HOME}")), ":2:8: the environment variable 'HOME' may not be read"));
}

TEST(Expansion, RandomnessIsOfTheWorldSeed) {
  const std::string body = "<for var='i' from='1' to='3'>" + block_at("$f{rand()}") + "</for>";
  EXPECT_EQ(positions(load_body(body, 7)), positions(load_body(body, 7)));
  EXPECT_NE(positions(load_body(body, 7)), positions(load_body(body, 8)));
  const std::string fixed = "<variable name='_' value='$f{randomize(2)}'/>" + body;
  EXPECT_EQ(positions(load_body(fixed, 7)), positions(load_body(fixed, 8)));
}

TEST(Include, ParameterGoesBeforeVariableBeforeEnvironmentBeforeDefault) {
  TempFolder folder;
  folder.write("worlds/inc.xml", block_at("${MVSIM_TEST_X|4}"));
  EXPECT_EQ(positions(load_file(folder, "<include file='inc.xml'/>")), (Numbers{4}));
  setenv("MVSIM_TEST_X", "3", 1);
  EXPECT_EQ(positions(load_file(folder, "<include file='inc.xml'/>")), (Numbers{3}));
  const std::string variable = "<variable name='MVSIM_TEST_X' value='2'/>";
  EXPECT_EQ(positions(load_file(folder, variable + "<include file='inc.xml'/>")), (Numbers{2}));
  EXPECT_EQ(positions(load_file(folder, variable + "<include file='inc.xml' MVSIM_TEST_X='1'/>")),
            (Numbers{1}));
  unsetenv("MVSIM_TEST_X");
}

TEST(Include, OtherEnvironmentIsNeverSeen) {
  TempFolder folder;
  folder.write("worlds/inc.xml", block_at("${HOME|4}"));
  EXPECT_EQ(positions(load_file(folder, "<include file='inc.xml'/>")), (Numbers{4}));
}

TEST(Include, ParametersEndWithTheInclude) {
  TempFolder folder;
  folder.write("worlds/inc.xml", block_at("${x}"));
  EXPECT_TRUE(
      has(file_error(folder, "<include file='inc.xml' x='1'/>" + block_at("${x}")), "'x' is not defined"));
}

TEST(Include, ParametersMayHoldExpressionsAndOtherReferences) {
  TempFolder folder;
  folder.write("worlds/inc.xml",
               "<variable name='late' value='3'/>" + block_at("$f{late + ${x}}") + block_at("${late}"));
  EXPECT_EQ(positions(load_file(folder, "<include file='inc.xml' x='$f{2*2}'/>")), (Numbers{7, 3}));
  EXPECT_EQ(positions(load_file(folder, "<include file='inc.xml' x='${y|${z|5}}'/>")), (Numbers{8, 3}));
  EXPECT_EQ(positions(load_file(folder, "<variable name='x' value='6'/><include file='inc.xml' x='${x}'/>")),
            (Numbers{9, 3}));
}

TEST(Include, AParameterIsAValueAndNeverMarkup) {
  TempFolder folder;
  folder.write("worlds/inc.xml", "<block name='a'><init_pose>${x} 0 0</init_pose></block>");
  EXPECT_TRUE(has(file_error(folder, "<include file='inc.xml' x='1 0 0&lt;/init_pose&gt;'/>"),
                  "found '1 0 0</init_pose> 0 0'"));
}

TEST(Include, RelativePathsFollowTheIncludedFile) {
  TempFolder folder;
  folder.write("definitions/a.xml", "<include file='sub/b.xml'/>" + block_at("1"));
  folder.write("definitions/sub/b.xml", "<include file='c.xml'/>");
  folder.write("definitions/sub/c.xml", block_at("3"));
  folder.write("worlds/d.xml", block_at("4"));
  EXPECT_EQ(positions(load_file(folder, "<include file='../definitions/a.xml'/><include file='d.xml'/>")),
            (Numbers{3, 1, 4}));
  EXPECT_EQ(
      positions(load_file(folder, "<include file='file://" + folder.path() + "/definitions/sub/c.xml'/>")),
      (Numbers{3}));
}

TEST(Include, FallsBackToThePackagesWorlds) {
  TempFolder folder, assets;
  assets.write("worlds/definitions/r.xml", block_at("1") + "<include file='s.xml'/>");
  assets.write("worlds/definitions/s.xml", block_at("2"));
  const std::string body = "<include file='definitions/r.xml'/><include file='../../definitions/s.xml'/>";
  const std::string path = folder.write("worlds/w.xml", world_of(body));
  EXPECT_EQ(positions(load_world(path, options_with(assets.path()))), (Numbers{1, 2, 2}));
  folder.write("worlds/definitions/r.xml", block_at("9"));
  EXPECT_EQ(positions(load_world(path, options_with(assets.path()))), (Numbers{9, 2}));
}

TEST(Include, ErrorsInsideNameTheIncludedFileAlsoAfterSubstitution) {
  TempFolder folder;
  folder.write(
      "worlds/inc.xml",
      "<!-- ${a|long} -->\n<variable name='n' value='${a|a long text before}'/> <gravity>${b}</gravity>\n"
      "<b2d_vel_iters>${a|2}x</b2d_vel_iters>");
  const std::string error = file_error(folder, "<include file='inc.xml' b='3'/>");
  EXPECT_TRUE(
      has(error, folder.path() + "/worlds/inc.xml:3:1: <b2d_vel_iters>: found '2x', expected an integer"));
  const std::string second = file_error(folder, "<include file='inc.xml' b='abc'/>");
  EXPECT_TRUE(has(second, "/worlds/inc.xml:2:54: <gravity>: found 'abc'"));
}

TEST(Include, SaysWhatIsWrong) {
  TempFolder folder;
  folder.write("worlds/inc.xml", "${");
  EXPECT_TRUE(has(file_error(folder, "<include/>"), "w.world.xml:2:1: <include> has no file"));
  EXPECT_TRUE(
      has(file_error(folder, "<include file='none.xml'/>"), ":2:10: the file 'none.xml' does not exist"));
  EXPECT_TRUE(has(file_error(folder, "<include file='.'/>"), "is not a regular file"));
  EXPECT_TRUE(has(file_error(folder, "<include file='inc.xml'/>"), "inc.xml:1:1: '${' has no closing '}'"));
  for (const char* uri : {"http://example.org/a.xml", "https://example.org/a.xml", "package://a/b.xml"})
    EXPECT_TRUE(has(file_error(folder, "<include file='" + std::string(uri) + "'/>"),
                    "takes a local file, not a URL"))
        << uri;
}

TEST(Class, InstanceGoesBeforeClassAndSingleNodesReplaceAsAWhole) {
  const WorldSpec world = load_body(
      "<block:class name='c'><mass>1</mass><restitution>0.5</restitution>"
      "<shape><pt>0 0</pt><pt>1 0</pt><pt>0 1</pt></shape></block:class>"
      "<block class='c'><mass>2</mass><init_pose>0 0 0</init_pose></block>"
      "<block class='c'><shape><pt>0 0</pt><pt>3 0</pt><pt>3 3</pt><pt>0 3</pt></shape>"
      "<init_pose>0 0 0</init_pose></block>");
  EXPECT_EQ(world.blocks[0].mass, 2);
  EXPECT_EQ(world.blocks[0].restitution, 0.5);
  EXPECT_EQ(world.blocks[0].shape->size(), 3u);
  EXPECT_EQ(world.blocks[1].mass, 1);
  EXPECT_EQ(world.blocks[1].shape->size(), 4u);
}

TEST(Class, IsEvaluatedPerInstanceAndTheLastDefinitionCounts) {
  const WorldSpec world = load_body(
      "<block:class name='c'><mass>$f{1+rand()}</mass></block:class>"
      "<block class='c'><init_pose>0 0 0</init_pose></block><block class='c'><init_pose>0 0 "
      "0</init_pose></block>"
      "<block:class name='c'><mass>7</mass></block:class><block class='c'><init_pose>0 0 "
      "0</init_pose></block>");
  EXPECT_NE(world.blocks[0].mass, world.blocks[1].mass);
  EXPECT_EQ(world.blocks[2].mass, 7);
}

TEST(Class, IncludesAndIfsInsideAreCarriedOut) {
  TempFolder folder;
  folder.write("definitions/c.xml",
               "<block:class name='c'><include file='inner.xml' m='${mass|3}'/>"
               "<if condition='${bouncy|false}'><restitution>0.9</restitution></if></block:class>");
  folder.write("definitions/inner.xml", "<mass>${m}</mass><if condition='1'><color>#010203</color></if>");
  const std::string use = "<block class='c'><init_pose>0 0 0</init_pose></block>";
  WorldSpec world = load_file(folder, "<include file='../definitions/c.xml'/>" + use);
  EXPECT_EQ(world.blocks[0].mass, 3);
  EXPECT_EQ(world.blocks[0].restitution, 0.01);
  EXPECT_EQ(world.blocks[0].color.b, 3);
  world = load_file(folder, "<include file='../definitions/c.xml' mass='4' bouncy='yes'/>" + use);
  EXPECT_EQ(world.blocks[0].mass, 4);
  EXPECT_EQ(world.blocks[0].restitution, 0.9);
}

TEST(Class, UnknownOnesAreErrorsWithTheNearestName) {
  EXPECT_TRUE(
      has(error_of("<block:class name='crate'/><block class='crat'><init_pose>0 0 0</init_pose></block>"),
          ":2:28: the block class 'crat' is not defined, did you mean 'crate'?"));
  EXPECT_TRUE(has(error_of("<block:class/>"), ":2:1: <block:class> has no name"));
}

TEST(Files, MismatchedClosingTagsAreWarnedOf) {
  const WorldSpec world = load_body("<gravity>2</gravitas>");
  EXPECT_EQ(world.gravity, 2);
  EXPECT_TRUE(has(joined(world.warnings), ":2:11: </gravitas> closes <gravity>"));
}

TEST(Include, AParameterThatTheFileDoesNotUseIsAWarning) {
  const TempFolder folder;
  folder.write("worlds/part.xml", "<block><init_pose>${x|0} 0 0</init_pose></block>");
  const std::string used = joined(load_file(folder, "<include file='part.xml' x='2'/>").warnings);
  EXPECT_TRUE(used.empty()) << used;
  const std::string unused = joined(load_file(folder, "<include file='part.xml' xx='2'/>").warnings);
  EXPECT_TRUE(has(unused, "the file has no parameter 'xx', did you mean 'x'?")) << unused;
}

}  // namespace
}  // namespace mvsim::flow_test
