// The yaml of map_server in all the ways that YAML writes it, and what is said of mistakes.
#include "assets/map_files.h"

#include <gtest/gtest.h>

namespace mvsim::map_yaml_test {
namespace {

constexpr const char* kGood = "image: a.pgm\nresolution: 0.05\norigin: [1,2,3]\n";

std::string utf16(const std::string& ascii, bool is_big) {
  std::string out = is_big ? "\xfe\xff" : "\xff\xfe";
  for (const char c : ascii) out += is_big ? std::string{'\0', c} : std::string{c, '\0'};
  return out;
}

std::string error_of(const std::string& text) {
  try {
    parse_map_yaml("m.yaml", text);
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

void expect_error(const std::string& text, const std::string& expected) {
  const std::string found = error_of(text);
  EXPECT_NE(found.find(expected), std::string::npos) << text.substr(0, 100) << "\n" << found;
}

TEST(MapYaml, HasDefaults) {
  const MapYaml yaml = parse_map_yaml("m.yaml", kGood);
  EXPECT_EQ(yaml.occupied_threshold, 0.65);
  EXPECT_EQ(yaml.free_threshold, 0.196);
  EXPECT_EQ(yaml.mode, "trinary");
  EXPECT_FALSE(yaml.negate);
  EXPECT_TRUE(yaml.ignored.empty());
}

TEST(MapYaml, IsOneMapHoweverItIsWritten) {
  const std::string block = "image: a.pgm\nresolution: 0.05\norigin:\n- 1\n- 2\n- 3\n";
  const std::string texts[] = {
      kGood,
      block,
      "\xef\xbb\xbf" + block,
      utf16(kGood, false),
      utf16(block, true),
      "# a map\r\n---\r\nimage: a.pgm  # beside it\r\nresolution:\t0.05\r\norigin: [ 1.0,\r\n  2.,\r\n  3e0, "
      "]\r\n",
      "%YAML 1.2\n--- !map\n'image': 'a.pgm'\n\"resolution\": \"0.05\"\norigin:\n  - +1\n  - 2.0\n  - "
      "30e-1\n...\n",
      "{\"image\": \"a.pgm\", \"resolution\": 5e-2, \"origin\": [1, 2, 3]}",
      "{image: a.pgm, resolution: .05, origin: [1, 2, 3], }  # in one line",
      "? image\n: a.pgm\n? resolution\n: 0.05\n? origin\n: [1, 2, 3]\n",
      "image: !!str a.pgm\nresolution: !!float 0.05\norigin: !!python/tuple\n- 1.0\n- 2.0\n- 3.0\n",
      "image: &name a.pgm\nresolution: 0.05\nplace: &place [1, &y 2, 3]\norigin: *place\n",
      "image: >-\n  a.pgm\nresolution: 0.05\norigin: [1, 2, 3]",
      "\n\n  image: a.pgm\n  resolution: 0.05\n  origin: [1, 2, 3]\n  \n",
  };
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    const MapYaml yaml = parse_map_yaml("m.yaml", text);
    EXPECT_EQ(yaml.image, "a.pgm");
    EXPECT_EQ(yaml.resolution, 0.05);
    EXPECT_EQ(yaml.origin.x, 1);
    EXPECT_EQ(yaml.origin.y, 2);
    EXPECT_EQ(yaml.origin.yaw, 3);
  }
}

TEST(MapYaml, WordsAndFileNames) {
  const std::string rest = "\nresolution: 1\norigin: [0, 0, 0]\n";
  EXPECT_EQ(parse_map_yaml("m.yaml", "image: 'a b#.pgm'" + rest).image, "a b#.pgm");
  EXPECT_EQ(parse_map_yaml("m.yaml", "image: a#b's.pgm" + rest).image, "a#b's.pgm");
  EXPECT_EQ(parse_map_yaml("m.yaml", "image: \"caf\\u00e9.pgm\"" + rest).image, "caf\xc3\xa9.pgm");
  EXPECT_EQ(parse_map_yaml("m.yaml", "image: 'null'" + rest).image, "null");
  for (const char* yes : {"1", "true", "True", "TRUE", "yes", "on", "y", "'1'"})
    EXPECT_TRUE(parse_map_yaml("m.yaml", kGood + std::string("negate: ") + yes).negate) << yes;
  for (const char* no : {"0", "false", "False", "no", "Off", "n"})
    EXPECT_FALSE(parse_map_yaml("m.yaml", kGood + std::string("negate: ") + no).negate) << no;
  for (const char* mode : {"trinary", "scale", "raw", "\"raw\""})
    EXPECT_NE(std::string(mode).find(parse_map_yaml("m.yaml", kGood + std::string("mode: ") + mode).mode),
              std::string::npos);
}

TEST(MapYaml, IgnoresWhatIsNoKeyOfItAndSaysWhere) {
  const MapYaml yaml = parse_map_yaml(
      "m.yaml",
      kGood +
          std::string("author:\n  name: me\n  origin: [7]\nlayers: [a, {b: c}]\n---\nimage: other.pgm\n"));
  ASSERT_EQ(yaml.ignored.size(), 3U);
  EXPECT_EQ(yaml.ignored[0].where.text(), "m.yaml:4:1");
  EXPECT_EQ(yaml.ignored[0].why, "the key is unknown in a map yaml and ignored");
  EXPECT_EQ(yaml.ignored[1].where.text(), "m.yaml:7:1");
  EXPECT_EQ(yaml.ignored[2].where.text(), "m.yaml:8:1");
  EXPECT_EQ(yaml.ignored[2].why, "a second document is ignored");
  EXPECT_EQ(yaml.image, "a.pgm");
}

TEST(MapYaml, SaysWhatIsWrong) {
  const std::string good = kGood;
  const std::pair<std::string, const char*> cases[] = {
      {"", "m.yaml:1:1: the map has no 'image:'"},
      {"# nothing\n", "m.yaml:1:1: the map has no 'image:'"},
      {"~\n", "m.yaml:1:1: the map has no 'image:'"},
      {"image: a\nresolution: 1\n", "m.yaml:1:1: the map has no 'origin:'"},
      {good + "resolution: 0.1\n", "m.yaml:4:1: the key 'resolution' is given twice"},
      {good + "negate: maybe\n", "m.yaml:4:9: <negate>: found 'maybe'"},
      {good + "mode: binary\n", "m.yaml:4:7: mode: found 'binary', expected trinary, scale or raw"},
      {good + "mode: [raw]\n", "m.yaml:4:7: <mode>: found a list of 1, expected trinary, scale or raw"},
      {good + "occupied_thresh: 1.5\n", "m.yaml:4:18: <occupied_thresh>: found 1.5, expected >= 0 and <= 1"},
      {good + "occupied_thresh: 0.1\n", "m.yaml:4:1: free_thresh is above occupied_thresh"},
      {"image: a\nresolution: 0\norigin: [0,0,0]\n",
       "m.yaml:2:13: <resolution>: found 0, expected >= 0.0001"},
      {"image: a\nresolution: 1m\norigin: [0,0,0]\n", "m.yaml:2:13: <resolution>: found '1m'"},
      {"image: a\nresolution: 1_000\norigin: [0,0,0]\n", "<resolution>: found '1_000'"},
      {"image: a\nresolution: .nan\norigin: [0,0,0]\n", "<resolution>: found '.nan'"},
      {"image: a\nresolution: {x: 1}\norigin: [0,0,0]\n", "m.yaml:2:13: <resolution>: found a map, expected"},
      {"image: a\nresolution: 1\norigin: [0,0]\n",
       "m.yaml:3:9: origin: found a list of 2, expected [x, y, yaw]"},
      {"image: a\nresolution: 1\norigin: 0 0 0\n", "m.yaml:3:9: origin: found '0 0 0', expected [x, y, yaw]"},
      {"image: a\nresolution: 1\norigin:\n - 0\n - x\n - 0\n", "m.yaml:5:4: <origin>: found 'x'"},
      {"image: a\nresolution: 1\norigin: [0, 0, [0]]\n", "m.yaml:3:16: <origin>: found a list of 1"},
      {"image: a\nresolution: 1\norigin: [0, 0, 1000]\n", "m.yaml:3:16: <origin>: found 1000, expected"},
      {"image:\nresolution: 1\norigin: [0,0,0]\n", "image: is empty"},
      {"image: ''\n", "m.yaml:1:8: image: is empty"},
      {"image: ~\n", "m.yaml:1:8: image: is empty"},
      {"image: \"a\\0b.pgm\"\n", "expected a file name without control characters"},
      {"- image: a\n", "m.yaml:1:1: found a list of 1, expected 'key: value' lines"},
      {"just text\n", "m.yaml:1:1: found 'just text', expected 'key: value' lines"},
      {"[image]: a\n", "m.yaml:1:1: found a list of 1 as a key, expected a word"},
      {"a: &a {image: b}\n<<: *a\n", "m.yaml:2:1: found '<<', which map_server does not merge"},
      {good + "negate: *b\n", "m.yaml:4:9: found the alias '*b', expected an anchor '&b' before it"},
  };
  for (const auto& [text, expected] : cases) expect_error(text, expected);
}

TEST(MapYaml, SaysWhatIsNoYaml) {
  const std::string good = kGood;
  const std::pair<std::string, const char*> cases[] = {
      {good + "  nested: 1\n", "m.yaml:4:3: is not readable YAML: did not find expected key"},
      {good + "just text\n", "is not readable YAML: could not find expected ':'"},
      {"image: a\norigin: [0, 0\nresolution: 1\n",
       "m.yaml:3:11: is not readable YAML: did not find expected"},
      {"image: 'a\n", "is not readable YAML: found unexpected end of stream"},
      {"image: \"C:\\maps\\m.pgm\"\n", "m.yaml:1:11: is not readable YAML: found unknown escape character"},
      {"image: a\n\tresolution: 1\n", "m.yaml:2:"},
      {"image: !x!y a\n", "is not readable YAML: found undefined tag handle"},
      {good + "negate: \xff\n", "m.yaml:4:9: is not readable text: invalid leading UTF-8 octet"},
      {"\xef\xbb\xbfimage: \x01\n", "m.yaml:1:8: is not readable text: control characters are not allowed"},
      {utf16("image: a\nmo\x01", true), "m.yaml:2:3: is not readable text: control characters"},
      {utf16("image: a\nmo\x01", false), "m.yaml:2:3: is not readable text: control characters"},
  };
  for (const auto& [text, expected] : cases) expect_error(text, expected);
}

// Texts that take some parsers more than linear time.
TEST(MapYaml, IsQuickWithWhatIsMadeToBeSlow) {
  const auto repeated = [](const std::string& text, size_t count) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += text;
    return out;
  };
  expect_error(repeated("[", 1 << 17), "expected at most 32 deep");
  expect_error("a: " + repeated("{b: ", 1 << 17), "expected at most 32 deep");
  expect_error(repeated("- ", 1 << 16), "expected at most 32 deep");
  expect_error("a: [" + repeated("1,", 1 << 16), "expected at most 10000 keys and values");
  expect_error("a: &a [1]\nb: [" + repeated("*a,", 1 << 15), "expected at most 10000 keys and values");
  expect_error(repeated("%TAG !a! b\n", 1 << 16), "has more than 1000 percent signs");
  std::string laughs = "a0: &a0 [ha, ha]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  EXPECT_EQ(parse_map_yaml("m.yaml", laughs + kGood).ignored.size(), 30U);
  EXPECT_EQ(parse_map_yaml("m.yaml", kGood + std::string("a: &a [*a, *a]\n")).ignored.size(), 1U);
  EXPECT_EQ(parse_map_yaml("m.yaml", "#" + repeated("x", 1 << 17) + "\n" + kGood).image, "a.pgm");
  expect_error("image: " + repeated("x ", 1 << 16), "the map has no 'resolution:'");
  expect_error(repeated("? ", 1 << 16), "expected at most 32 deep");
  expect_error(repeated("&a ", 1 << 15), "is not readable YAML");
}

}  // namespace
}  // namespace mvsim::map_yaml_test
