// Every row of every table of tags: what is no value of its type, or out of its range, is refused with the
// line, the tag and what was expected; the ends of the range are taken; what has no effect warns once.
#include <cmath>
#include <set>

#include "worldfile/tags.h"
#include "worldfile/world_text.h"

namespace mvsim {

// GoogleTest finds it by the namespace of its argument.
static void PrintTo(const TagRow& row, std::ostream* out) {
  *out << row.element << " " << row.tag.name();
}

namespace tags_test {
namespace {

// Around a tag of each element: the tag's own line is the third.
struct Context {
  const char* element;
  const char* before;
  const char* after;
};

constexpr Context kContexts[] = {
    {"world", "\n", ""},
    {"vehicle", "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential_4_wheels'/>\n",
     "</vehicle>"},
    {"chassis", "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'><chassis>\n",
     "</chassis></dynamics></vehicle>"},
    {"wheel",
     "<vehicle><init_pose>0 0 0</init_pose><visual name='v' model_uri='http://a.b/a.dae'/><dynamics "
     "class='differential'><l_wheel>\n",
     "</l_wheel></dynamics></vehicle>"},
    {"odometry", "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'/><odometry>\n",
     "</odometry></vehicle>"},
    {"limits linear",
     "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'/><limits><linear>\n",
     "</linear></limits></vehicle>"},
    {"limits angular",
     "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'/><limits><angular>\n",
     "</angular></limits></vehicle>"},
    {"kinematics", "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'/><kinematics>\n",
     "</kinematics></vehicle>"},
    {"motor", "<vehicle><init_pose>0 0 0</init_pose><dynamics class='differential'/><motor>\n",
     "</motor></vehicle>"},
    {"servo", "<vehicle><init_pose>0 0 0</init_pose><dynamics class='ackermann'/><servo>\n",
     "</servo></vehicle>"},
    {"placement", "<block><init_pose>0 0 0</init_pose>\n", "</block>"},
    {"block", "<block><init_pose>0 0 0</init_pose>\n", "</block>"},
    {"walls", "<walls><shape><pt>0 0</pt><pt>1 0</pt></shape>\n", "</walls>"},
    {"distance joint", "<joint type='distance' body_a='a' body_b='b' anchor_a='0 0' anchor_b='0 0'>\n",
     "</joint>"},
    {"revolute joint", "<joint type='revolute' body_a='a' body_b='b' anchor_a='0 0' anchor_b='0 0'>\n",
     "</joint>"},
    {"actor", "<actor><init_pose>0 0 0</init_pose>\n", "</actor>"},
    {"waypoint", "<actor><init_pose>0 0 0</init_pose><path><waypoint>\n", "1 2 3</waypoint></path></actor>"},
    {"pointcloud", "<element class='pointcloud'><file>no.txt</file>\n", "</element>"},
    {"joint", "<joint>\n", "</joint>"},
    {"skybox", "<element class='skybox'>\n", "</element>"},
    {"occupancy_grid", "<element class='occupancy_grid'><file>no.png</file>\n", "</element>"},
    {"elevation_map",
     "<element class='elevation_map'><elevation_data_matrix>[1 2; 3 4]</elevation_data_matrix>\n",
     "</element>"},
    {"horizontal_plane", "<element class='horizontal_plane'>\n", "</element>"},
    {"vertical_plane", "<element class='vertical_plane'>\n", "</element>"},
    {"door", "<element class='vertical_plane'><door>\n", "</door></element>"},
    {"property_region", "<element class='property_region'><value_double>1</value_double>\n", "</element>"},
    {"ground_grid", "<element class='ground_grid'>\n", "</element>"},
    {"visual", "<block><init_pose>0 0 0</init_pose><visual>\n", "</visual></block>"},
    {"publish", "<block><init_pose>0 0 0</init_pose><publish>\n", "</publish></block>"},
    {"sensor publish",
     "<vehicle><init_pose>0 0 0</init_pose><dynamics class='d'/><sensor class='laser'><publish>\n",
     "</publish></sensor></vehicle>"},
    {"sensor", "<vehicle><init_pose>0 0 0</init_pose><dynamics class='d'/><sensor class='laser'>\n",
     "</sensor></vehicle>"},
    {"gui", "<gui>\n", "</gui>"},
    {"lights", "<lights>\n", "</lights>"},
    {"marker", "<marker type='line_strip' points='0 0 0 1 1 1'>\n", "</marker>"},
    {"georeference", "<georeference>\n", "</georeference>"},
};

// Returns the tags that a type of geometry needs, without the tag itself.
std::string geometry_around(std::string_view tag) {
  std::string out = "<block><init_pose>0 0 0</init_pose><geometry type='";
  if (tag == "radius") return out + "sphere'>\n";
  if (tag == "length" || tag == "vertex_count") return out + "cylinder' radius='1' length='1'>\n";
  out += "box'";
  for (const char* side : {"lx", "ly", "lz"})
    if (tag != side) out += std::string(" ") + side + "='1'";
  return out + ">\n";
}

std::string world_with(const TagRow& row, const std::string& value) {
  const std::string name(row.tag.name()), child = "<" + name + ">" + value + "</" + name + ">";
  if (row.element == "geometry") return geometry_around(name) + child + "</geometry></block>";
  const std::string bodies = row.element.ends_with(" joint")
                                 ? "<block name='a'><init_pose>0 0 0</init_pose></block><block name='b'>"
                                   "<init_pose>3 0 0</init_pose></block>"
                                 : "";
  for (const Context& context : kContexts)
    if (context.element == row.element) return bodies + context.before + child + context.after;
  ADD_FAILURE() << "no world of the test has a <" << row.element << ">";
  return "";
}

std::string in_file(const ParamInfo& range, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", range.type == ParamType::kDegrees ? value / kDegree : value);
  return text;
}

class EveryTag : public testing::TestWithParam<TagRow> {
 protected:
  const TagRow& row() const { return GetParam(); }
  void expect_refused(const std::string& value) const {
    const std::string body = world_with(row(), value), error = error_of(body), name(row().tag.name());
    EXPECT_TRUE(has(error, "<text>:3:")) << body;
    EXPECT_TRUE(has(error, "<" + name + ">: found ")) << body;
    EXPECT_TRUE(has(error, ", expected ")) << body;
  }
  // Other tags may not fit to the value; the tag itself must not be what is wrong.
  void expect_taken(const std::string& value) const {
    const std::string body = world_with(row(), value), error = error_of(body);
    EXPECT_EQ(error.find("<" + std::string(row().tag.name()) + ">: found"), std::string::npos) << error;
  }
};

TEST_P(EveryTag, IsCheckedByItsType) {
  const TagInfo& tag = row().tag;
  switch (tag.type) {
    case TagType::kNumber:
    case TagType::kDegrees:
    case TagType::kInt:
      for (const char* bad : {"", "x", "nan", "inf", "-inf", "1 2", "1 m", "1e999"}) expect_refused(bad);
      return;
    case TagType::kBool:
      for (const char* bad : {"", "2", "yes", "tru"}) expect_refused(bad);
      for (const char* good : {"true", "0"}) expect_taken(good);
      return;
    case TagType::kColor:
      for (const char* bad : {"", "red", "#12345", "#gggggg"}) expect_refused(bad);
      expect_taken("#01020304");
      return;
    case TagType::kChoice:
      for (const char* bad : {"", "other"}) expect_refused(bad);
      for (const std::string_view good : tag.range.choices) expect_taken(std::string(good));
      return;
    case TagType::kPoint:
      for (const char* bad : {"", "1", "1 x", "1 2 3 4"}) expect_refused(bad);
      expect_taken("1 2 3");
      return;
    case TagType::kText:
    case TagType::kOwn:
      return;
  }
}

TEST_P(EveryTag, IsCheckedByItsRange) {
  const TagInfo& tag = row().tag;
  if (tag.type != TagType::kNumber && tag.type != TagType::kDegrees && tag.type != TagType::kInt) return;
  const ParamInfo& range = tag.range;
  const auto beyond = [&](double end, double way) {
    return tag.type == TagType::kInt ? end + way : end + way * std::max(1e-6, std::fabs(end) * 1e-6);
  };
  const double below = beyond(range.min, -1), above = beyond(range.max, 1);
  if (!tag.also || below != *tag.also) expect_refused(in_file(range, below));
  expect_refused(in_file(range, above));
  if (range.is_min_excluded)
    expect_refused(in_file(range, range.min));
  else
    expect_taken(in_file(range, range.min));
  expect_taken(in_file(range, range.max));
  if (tag.also) expect_taken(in_file(range, *tag.also));
}

TEST_P(EveryTag, WarnsOnceWhereItHasNoEffect) {
  const TagInfo& tag = row().tag;
  const std::string name(tag.name());
  if (tag.effect == TagEffect::kRefused) {
    EXPECT_TRUE(has(error_of(world_with(row(), "")), "<" + name + "> is not supported yet"));
  }
  if (tag.effect != TagEffect::kNone) return;
  std::string value = "v";
  if (tag.type == TagType::kBool) value = "1";
  if (tag.type == TagType::kNumber || tag.type == TagType::kInt) value = in_file(tag.range, tag.range.max);
  if (tag.type == TagType::kColor) value = "#010203";
  if (tag.type == TagType::kChoice) value = tag.range.choices[0];
  if (row().element == "occupancy_grid") return;  // needs a file; element_test.cpp has it
  const std::string text = world_with(row(), value);
  int count = 0;
  const std::string wanted = "<" + name + "> has no effect";
  for (const std::string& warning : load_body(text + "<gravity>1</gravity>").warnings)
    if (has(warning, wanted)) {
      ++count;
      EXPECT_TRUE(has(warning, "<text>:3:")) << warning;
      EXPECT_FALSE(has(warning, "times")) << warning;
    }
  EXPECT_EQ(count, 1) << text;
}

// T40: no place of a world takes a command.
TEST_P(EveryTag, RunsNoCommand) {
  const std::string error = error_of(world_with(row(), "1 $(touch x)"));
  EXPECT_TRUE(has(error, "<text>:3:")) << error;
  EXPECT_TRUE(has(error, "running the command 'touch x' is refused")) << error;
}

std::string test_name(const testing::TestParamInfo<TagRow>& info) {
  std::string out = info.param.element + "_" + std::string(info.param.tag.name());
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return out;
}

INSTANTIATE_TEST_SUITE_P(Tags, EveryTag, testing::ValuesIn(all_tags()), test_name);

TEST(Tags, NoElementHasTwoOfAName) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const TagRow& row : all_tags())
    EXPECT_TRUE(seen.emplace(row.element, row.tag.name()).second) << row.element << " " << row.tag.name();
}

TEST(Tags, DefaultsLieInTheirRanges) {
  for (const TagRow& row : all_tags()) {
    const bool is_length = row.element == "geometry" && row.fallback == "0";  // which its type needs
    if (row.fallback.empty() || is_length) continue;
    if (row.tag.type != TagType::kNumber && row.tag.type != TagType::kInt) continue;
    const double value = std::stod(row.fallback);
    EXPECT_TRUE(in_range(row.tag.range, value) || value == row.tag.also) << row.tag.name();
  }
}

// The one gap in a range.
TEST(Tags, WhatMovesHasAMass) {
  const std::string before = "<block><init_pose>0 0 0</init_pose>\n<mass>", after = "</mass></block>";
  EXPECT_TRUE(has(error_of(before + "1e-9" + after),
                  ":3:1: <mass>: found 1e-9, expected >= 1e-06 and <= 1e+09, or 0 (for a block that nothing "
                  "moves)"));
  EXPECT_EQ(error_of(before + "0" + after), "");
}

// Names come from the tables, of scalars and of what an element reads itself.
TEST(Tags, NearestNamesComeFromTheTables) {
  const std::string block =
      joined(load_body("<block><init_pose>0 0 0</init_pose><masss>1</masss></block>").warnings);
  EXPECT_TRUE(has(block, "<masss> is unknown in <block> and ignored, did you mean 'mass'?"));
  const std::string shape =
      joined(load_body("<block><init_pose>0 0 0</init_pose><shapes/></block>").warnings);
  EXPECT_TRUE(has(shape, "did you mean 'shape'?"));
  const std::string top = joined(load_body("<gravty>1</gravty><vehicel/>").warnings);
  EXPECT_TRUE(has(top, "did you mean 'gravity'?"));
  EXPECT_TRUE(has(top, "did you mean 'vehicle'?"));
}

}  // namespace
}  // namespace tags_test
}  // namespace mvsim
