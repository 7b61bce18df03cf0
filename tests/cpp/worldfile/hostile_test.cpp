// Worlds that try to fill the memory, to run a program, or to read files outside of their roots.
#include <sys/stat.h>

#include "base/random.h"
#include "base/text.h"
#include "worldfile/world_text.h"

namespace mvsim::hostile_test {
namespace {

namespace fs = std::filesystem;

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string load_error(const std::string& path) {
  try {
    load_world(path, {});
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "";
}

TEST(Hostile, DeepAndManyElements) {
  EXPECT_TRUE(has(error_of(repeated("<a>", 100000) + repeated("</a>", 100000)), "nested deeper than 64"));
  EXPECT_TRUE(has(error_of(repeated("<a/>", 300000)), "more than 200000 elements"));
  EXPECT_EQ(error_of(repeated("<if condition='1'>", 60) + repeated("</if>", 60)), "");
}

TEST(Hostile, Loops) {
  EXPECT_TRUE(has(error_of("<for var='i' from='0' to='1000000'><gravity>1</gravity></for>"),
                  "too many elements: more than 200000"));
  EXPECT_TRUE(has(error_of("<for var='i' from='0' to='2147483647'><for var='j' from='0' to='2147483647'>"
                           "<x/></for></for>"),
                  "too many elements"));
  EXPECT_TRUE(
      has(error_of("<for var='i' from='0' to='60000'><block><init_pose>0 0 0</init_pose></block></for>"),
          "vehicles, blocks and walls: more than 50000"));
  EXPECT_TRUE(has(error_of("<block:class name='c'>" + repeated("<mass>1</mass>", 5000) +
                           "<init_pose>0 0 0</init_pose></block:class>"
                           "<for var='i' from='0' to='40000'><block class='c'/></for>"),
                  "more than 5000000"));
  EXPECT_TRUE(has(
      error_of("<for var='i' from='0' to='100000'><gravity>" + repeated(" ", 1000000) + "1</gravity></for>"),
      "bytes of values"));
}

TEST(Hostile, GrowingText) {
  EXPECT_TRUE(has(error_of("<variable name='x' value='aa'/><for var='i' from='0' to='99'>"
                           "<variable name='x' value='${x}${x}'/></for>"),
                  "bytes of expanded text"));
  EXPECT_TRUE(
      has(error_of("<variable name='x' value='" + repeated("${x|", 50000) + repeated("}", 50000) + "'/>"),
          ":2:20: "));
  TempFolder folder;
  for (const int count : {25, 60}) {
    std::string attributes;
    for (int i = 0; i < count; ++i)
      attributes += " A" + std::to_string(i) + "='" + repeated("${A" + std::to_string(i + 1) + "}", 2) + "'";
    folder.write("inc.xml", "<variable name='z' value='${A0}'/>");
    const std::string end = " A" + std::to_string(count) + "='x'";
    EXPECT_NE(
        load_error(folder.write("w.xml", world_of("<include file='inc.xml'" + attributes + end + "/>"))), "");
  }
}

TEST(Hostile, ParametersThatNameThemselves) {
  TempFolder folder;
  folder.write("inc.xml", "<variable name='z' value='${A}'/>");
  EXPECT_TRUE(has(load_error(folder.write("w.xml", world_of("<include file='inc.xml' A='${A}${A}'/>"))),
                  "'A' is not defined"));
  EXPECT_TRUE(has(load_error(folder.write("w.xml", world_of("<include file='inc.xml' A='${B}' B='${A}'/>"))),
                  "'A' is not defined"));
}

TEST(Hostile, IncludesInACircleOrAChain) {
  TempFolder folder;
  folder.write("a.xml", "<include file='b.xml'/>");
  folder.write("b.xml", "<include file='a.xml'/>");
  EXPECT_TRUE(has(load_error(folder.write("w.xml", world_of("<include file='a.xml'/>"))), "makes a circle"));
  EXPECT_TRUE(has(load_error(folder.write("w.xml", world_of("<include file='w.xml'/>"))), "makes a circle"));
  for (int i = 0; i < 20; ++i)
    folder.write("c" + std::to_string(i) + ".xml", "<include file='c" + std::to_string(i + 1) + ".xml'/>");
  EXPECT_TRUE(
      has(load_error(folder.write("w.xml", world_of("<include file='c0.xml'/>"))), "nested deeper than 16"));
  folder.write("tiny.xml", "<gravity>1</gravity>");
  EXPECT_TRUE(has(load_error(folder.write("w.xml", world_of("<for var='i' from='0' to='99999'>"
                                                            "<include file='tiny.xml'/></for>"))),
                  "includes: more than 10000"));
  folder.write("class.xml", "<vehicle:class name='c'><include file='class2.xml'/></vehicle:class>");
  folder.write("class2.xml", "<include file='class2.xml'/>");
  EXPECT_TRUE(
      has(load_error(folder.write("w.xml", world_of("<include file='class.xml'/>"))), "makes a circle"));
}

TEST(Hostile, NoCommandIsEverRun) {
  TempFolder folder;
  const std::string victim = folder.path() + "/touched";
  const std::string command = "$(touch " + victim + ")";
  const std::string object = "<dynamics class='d'/><init_pose>0 0 0</init_pose>";
  const std::string bodies[] = {
      "<gravity>" + command + "</gravity>",
      "<unknown>" + command + "</unknown>",
      "<gui><x>" + command + "</x></gui>",
      "<variable name='a' value='" + command + "'/>",
      "<variable name='d' value='$'/><variable name='a' value='${d}(touch " + victim + ")'/>",
      "<variable name='a' value='&#36;(touch " + victim + ")'/>",
      "<variable name='a' value='$f{" + command + "}'/>",
      "<if condition='" + command + "'/>",
      "<if condition='0'><gravity>" + command + "</gravity></if>",
      "<for var='i' from='" + command + "' to='1'><x/></for>",
      "<include file='" + command + "'/>",
      "<include file='inc.xml' x='" + command + "'/>",
      "<block:class name='" + command + "'/>",
      "<block name='" + command + "'><init_pose>0 0 0</init_pose></block>",
      "<block><init_pose>" + command + " 0 0</init_pose></block>",
      "<block><init_pose>0 0 0</init_pose><shape><pt>" + command + "</pt></shape></block>",
      "<vehicle>" + object + "<visual><model_uri>" + command + "</model_uri></visual></vehicle>",
      "<vehicle>" + object + "<sensor class='laser'><nrays>" + command + "</nrays></sensor></vehicle>",
      "<vehicle>" + object + "<log_path>" + command + "</log_path></vehicle>",
      "<element class='occupancy_grid'><file>" + command + "</file></element>",
      "<save_to_rawlog>" + command + "</save_to_rawlog>",
  };
  folder.write("worlds/inc.xml", "<variable name='x' value='${x}'/>");
  for (const std::string& body : bodies) {
    const std::string error = load_error(folder.write("worlds/w.xml", world_of(body)));
    EXPECT_TRUE(has(error, "running the command 'touch " + victim)) << body;
    EXPECT_TRUE(has(error, ".xml:")) << body;
  }
  EXPECT_EQ(load_error(folder.write("worlds/w.xml", world_of("<!-- " + command + " -->"))), "");
  EXPECT_FALSE(fs::exists(victim));
}

TEST(Hostile, NothingOutsideOfTheRootsIsRead) {
  TempFolder outside;
  const std::string secret = outside.write("secret.xml", "<gravity>1</gravity>");
  TempFolder folder;
  fs::create_directories(folder.path() + "/project/worlds");
  fs::create_symlink(secret, folder.path() + "/project/worlds/link.xml");
  fs::create_directory_symlink(outside.path(), folder.path() + "/project/worlds/links");
  folder.write("near.xml", "<gravity>1</gravity>");
  ASSERT_EQ(mkfifo((folder.path() + "/project/worlds/pipe").c_str(), 0600), 0);
  const auto error = [&](const std::string& file) {
    return load_error(folder.write("project/worlds/w.xml", world_of("<include file='" + file + "'/>")));
  };
  const std::string files[] = {secret,
                               "file://" + secret,
                               "../../near.xml",
                               "link.xml",
                               "links/secret.xml",
                               "/etc/passwd",
                               "../../../../../../etc/passwd",
                               "/dev/zero",
                               "/proc/self/environ"};
  for (const std::string& file : files) EXPECT_TRUE(has(error(file), "is outside of the folders")) << file;
  EXPECT_TRUE(has(error("pipe"), "is not a regular file"));
  EXPECT_TRUE(has(error("\\\\server\\share"), "does not exist"));
  EXPECT_TRUE(has(error("/"), "is outside of the folders"));

  const std::string world =
      folder.write("project/worlds/w.xml", world_of("<include file='" + secret + "'/>"));
  WorldLoadOptions options;
  options.roots = {outside.path()};
  EXPECT_EQ(load_world(world, options).gravity, 1);
}

// A name is no path: a missing part before a link does not make the link another file.
TEST(Hostile, AMissingFolderBeforeALink) {
  TempFolder outside;
  const std::string secret = outside.write("secret.xml", "<gravity>1</gravity>");
  outside.write("secret.yaml", "image: m.pgm\nresolution: 1\norigin: [0, 0, 0]\n");
  outside.write("m.pgm", "P2 1 1 255 0");
  TempFolder folder;
  folder.write("project/worlds/m.yaml", "image: nope/../m.pgm\nresolution: 1\norigin: [0, 0, 0]\n");
  for (const char* name : {"secret.xml", "secret.yaml", "m.pgm"})
    fs::create_symlink(outside.path() + "/" + name, folder.path() + "/project/worlds/" + name);
  const auto grid = [](const std::string& file) {
    return "<element class='occupancy_grid'><file>" + file + "</file></element>";
  };
  for (const std::string& body :
       {std::string("<include file='nope/../secret.xml'/>"),
        std::string("<include file='w.xml/../secret.xml'/>"), grid("nope/../secret.yaml"),
        grid("nope/../m.pgm"), grid("m.yaml"),
        std::string(
            "<element class='elevation_map'><elevation_image>nope/../m.pgm</elevation_image></element>")}) {
    const std::string error = load_error(folder.write("project/worlds/w.xml", world_of(body)));
    EXPECT_TRUE(has(error, "does not exist")) << body;
  }
}

// Parameters that double nothing still cost: every reference counts.
TEST(Hostile, ParametersThatDoubleNothing) {
  TempFolder folder;
  folder.write("inc.xml", "<variable name='z' value='${A0}'/>");
  std::string attributes;
  for (int i = 0; i < 28; ++i)
    attributes += " A" + std::to_string(i) + "='" + repeated("${A" + std::to_string(i + 1) + "}", 2) + "'";
  const std::string world = world_of("<include file='inc.xml'" + attributes + " A28=''/>");
  EXPECT_TRUE(
      has(load_error(folder.write("w.xml", world)), "inc.xml:1:27: the world uses too many references"));
}

// 200 misspelt parameters of a file with 100,000 references.
TEST(Hostile, TheHintAboutParametersIsCheap) {
  TempFolder folder;
  std::string text = "<!--";
  for (int i = 0; i < 100000; ++i) text += "${a_rather_long_name_" + std::to_string(i) + "|1}";
  folder.write("inc.xml", text + "--><gravity>1</gravity>");
  std::string attributes;
  for (int i = 0; i < 190; ++i) attributes += " a_rather_long_nome_" + std::to_string(i) + "='1'";
  const WorldSpec world =
      load_world(folder.write("w.xml", world_of("<include file='inc.xml'" + attributes + "/>")), {});
  EXPECT_TRUE(has(joined(world.warnings), "did you mean 'a_rather_long_name_"));
}

TEST(Hostile, MemoryIsCountedBeforeItIsTaken) {
  TempFolder folder;
  folder.write("worlds/m.pgm", "P2 16000 4000 255\n" + std::string(2 * 16000 * 4000, '0'));
  WorldLoadOptions options;
  options.memory_limit = 100'000'000;
  const std::string path =
      folder.write("worlds/w.xml", world_of("<element class='occupancy_grid'><file>m.pgm</file></element>"));
  try {
    load_world(path, options);
    FAIL() << "expected an error";
  } catch (const WorldFileError& e) {
    EXPECT_TRUE(has(e.what(), "w.xml:2:1: the image")) << e.what();
    EXPECT_TRUE(has(e.what(), "expected at most memory_limit, 0.1 GB"));
  }
  options.memory_limit = 1'000'000;
  try {
    load_world(
        folder.write("worlds/v.xml", world_of("<for var='i' from='1' to='9999'><gravity>1</gravity></for>")),
        options);
    FAIL() << "expected an error";
  } catch (const WorldFileError& e) {
    EXPECT_TRUE(has(e.what(), "v.xml:2:")) << e.what();
  }
}

TEST(Hostile, ALoadCanBeStopped) {
  struct Stop {};
  const std::string loop = "<for var='i' from='0' to='150000'><gravity>1</gravity></for>";
  int calls = 0;
  WorldLoadOptions options;
  options.poll = [&] {
    if (++calls == 1000) throw Stop();
  };
  EXPECT_THROW(load_world_text(world_of(loop), ".", options), Stop);
  EXPECT_EQ(calls, 1000);
}

// A message is one short line of UTF-8 for every text.
TEST(Hostile, MessagesQuoteLittle) {
  TempFolder folder;
  const std::string name = repeated("very_long_name", 400);
  const std::string bodies[] = {
      "<include file='" + name + "'/>",
      "<element class='" + name + "'/>",
      "<variable name='" + name + "'/>",
      "<gravity>" + name + "</gravity>",
      "<gravity>one\n\ttwo</gravity>",
      "<if condition='$f{" + name + "}'/>",
      "<vehicle class='" + name + "'/>",
      "<block class='a&#10;b'/>",
      "<vehicle><init_pose>0 0 0</init_pose><dynamics class='a&#10;" + name + "'/></vehicle>",
      "<include file='inc.xml'/>",
  };
  folder.write("inc.xml", "<gravity>${\xff\xfe}</gravity>");
  for (const std::string& body : bodies) {
    std::string error;
    try {
      load_world(folder.write("w.xml", world_of(body)), {});
    } catch (const WorldFileError& e) {
      error = e.what();
    }
    if (error.empty()) continue;  // the fault is found by the compiler
    EXPECT_LT(error.size(), 700u) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_EQ(find_not_text(error), std::string::npos) << error;
  }
}

TEST(Hostile, AnIncludeMayHoldNothing) {
  TempFolder folder;
  folder.write("comment.xml", "<!-- nothing here -->\n");
  folder.write("empty.xml", "");
  folder.write("declared.xml", "<?xml version='1.0'?>\n");
  for (const char* name : {"comment.xml", "empty.xml", "declared.xml"})
    EXPECT_EQ(load_error(folder.write("w.xml", world_of("<include file='" + std::string(name) + "'/>"))), "");
  EXPECT_NE(load_error(folder.write("w.xml", "<!-- nothing -->")), "") << "a world holds something";
}

// A world file with deleted, doubled or swapped bytes loads or is refused with an error. It never crashes.
TEST(Hostile, MutantsLoadOrAreRefused) {
  const std::string seed_text = world_of(
      "<variable name='n' value='$f{1+2}'/><for var='i' from='0' to='${n}'><block name='b${i}'>"
      "<init_pose>$f{i*2} ${n|3} 0</init_pose><geometry type='cylinder' radius='0.5' "
      "length='1'/></block></for>"
      "<if condition='$f{n>2}'><walls><shape><pt>0 0</pt><pt>1 0</pt></shape></walls></if><!-- c -->"
      "<vehicle:class name='c'><dynamics class='differential'><l_wheel pos='0 1'/><chassis><shape><pt>0 "
      "0</pt>"
      "<pt>1 0</pt><pt>1 1</pt></shape></chassis><controller class='raw'/></dynamics></vehicle:class>"
      "<vehicle name='r' class='c'><init_pose>0 0 &#48;</init_pose><sensor class='laser'/></vehicle>");
  const TempFolder folder;
  RandomStream random(1, 0, StreamPurpose::kVariant);
  for (int i = 0; i < 3000; ++i) {
    std::string text = seed_text;
    for (uint32_t k = 0; k <= random.below(4); ++k) {
      const uint32_t at = random.below(static_cast<uint32_t>(text.size())), length = 1 + random.below(12);
      switch (random.below(4)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, text.substr(random.below(static_cast<uint32_t>(text.size())), length));
          break;
        case 2:
          text[at] = static_cast<char>(random.below(256));
          break;
        default:
          text.insert(at, std::string("<>{}$|&;'\"/").substr(random.below(11), 1));
          break;
      }
    }
    try {
      load_world_text(text, folder.path(), {});
    } catch (const WorldFileError&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace mvsim::hostile_test
