// Messages for mistakes that show only when an environment is compiled or reset. They name the keyword or the
// line, the constraint, and the remedy.
#include <gtest/gtest.h>

#include "episode/episode.h"
#include "task/task.h"
#include "task/task_test_util.h"

namespace mvsim::message_test {
namespace {

using testing::dict;
using testing::number;
using testing::off;
using testing::Overrides;
using testing::shipped;
using testing::text;
using testing::weight;

using Keywords = std::vector<std::pair<std::string, Overrides>>;

std::string message_of(EnvSpec spec, const Keywords& overrides, bool reset = false) {
  try {
    if (!overrides.empty()) apply_overrides(spec, dict(overrides));
    const auto task = compile_task(spec, testing::load_options());
    if (!reset) return "no error";
    EnvState env = make_env(*task, 3);
    start_episode(*task, env);
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

void expect_has(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "\"" << part << "\" in: " << message;
}

Overrides reset(const char* term, const char* attribute, const char* value) {
  return dict({{term, dict({{attribute, text(value)}})}});
}

std::string arena_reset(const char* term, const char* attribute, const char* value) {
  return message_of(shipped("nav_arena"), {{"reset", reset(term, attribute, value)}}, true);
}

TEST(NoRoom, NamesWhatBindsAndTheBestThatWasFound) {
  expect_has(arena_reset("goal", "clearance", "3.5"),
             "keyword reset.goal.clearance: <goal>, clearance: no episode can start: the goal needs 3.5 m");
  expect_has(arena_reset("goal", "clearance", "3.5"), " m: expected less clearance or a wider area");
  expect_has(arena_reset("spawn", "clearance", "4"), "keyword reset.spawn.clearance");
  const std::string far = arena_reset("goal", "distance", "20 30");
  expect_has(far, "keyword reset.goal.distance");
  expect_has(far, " apart, expected a distance within");
  expect_has(arena_reset("spawn", "pose", "3.04 0 0"), "touches a wall, expected a free one");
  const std::string crowded =
      message_of(shipped("nav_arena"),
                 {{"obstacles", number(60)}, {"radius", text("0.3 0.3")}, {"clearance", number(1)}}, true);
  expect_has(crowded, "without the movable obstacles");
  expect_has(crowded, "keyword clearance: <");
}

// Every number has a range: a value that would lead to NaN or to an endless loop is refused at its line.
TEST(Ranges, OfNumbersOfAnEnvironment) {
  const auto refused = [](const Keywords& overrides, const std::string& place) {
    const std::string message = message_of(shipped("nav_arena"), overrides);
    EXPECT_TRUE(message.starts_with("keyword " + place)) << message;
    expect_has(message, "expected");
  };
  for (const char* huge : {"1e300", "1e308", "-1e300"}) {
    refused({{"reward", dict({{"time", weight(huge)}})}}, "reward.time.weight: ");
    refused({{"reset", reset("goal", "clearance", huge)}}, "reset.goal.clearance: ");
    for (const char* attribute : {"distance", "inflation", "area", "position", "slope"})
      refused({{"reset",
                reset("goal", attribute, (std::string(huge) + (attribute[0] == 'p' ? " 0" : "")).c_str())}},
              "reset.goal." + std::string(attribute) + ": ");
    refused({{"reset", reset("spawn", "pose", (std::string("0 0 ") + huge).c_str())}}, "reset.spawn.pose: ");
    refused({{"reset", dict({{"spawn", dict({{"pose", text("0 0 0")},
                                             {"deviation", text(std::string("0 0 ") + huge)}})}})}},
            "reset.spawn.deviation: ");
    refused({{"reset", reset("spawn", "yaw", huge)}}, "reset.spawn.yaw: ");
    refused({{"reset", reset("place", "gap", huge)}}, "reset.place.gap: ");
    refused({{"observe", dict({{"goal", dict({{"max_distance", text(huge)}})}})}},
            "observe.goal.max_distance: ");
    refused({{"terminate", dict({{"off_map", dict({{"margin", text(huge)}})}})}},
            "terminate.off_map.margin: ");
    refused({{"randomize", dict({{"vehicle:robot/friction/mu",
                                  dict({{"value", text(std::string("normal(0, ") +
                                                       (huge[0] == '-' ? huge + 1 : huge) + ")")}})}})}},
            "randomize.vehicle:robot/friction/mu.value: ");
  }
  refused({{"control_period", number(1e5)}}, "control_period: found 100000");
  refused({{"control_period", number(1e5)}, {"substeps", number(10)}},
          "substeps: found 10 time steps of 10000");
  refused({{"radius", text("0.12 90")}}, "radius: <place>, radius: found '0.12 90', expected radii from");
  refused({{"radius", text("0.001 0.2")}}, "radius: <place>");
}

TEST(Keywords, AreBlamedForWhatTheyBreakElsewhere) {
  const auto expect_blame = [](const char* env, const Keywords& overrides, const std::string& start,
                               const std::string& part) {
    const std::string message = message_of(shipped(env), overrides);
    EXPECT_TRUE(message.starts_with(start)) << message;
    expect_has(message, part);
  };
  // the line of the file, where it shows, comes after
  expect_blame("nav_arena", {{"terminate", dict({{"goal", off()}})}},
               "keyword terminate: ", "nav_arena.env.xml:");
  expect_blame("nav_arena", {{"action", dict({{"class", text("wheel_torque")}})}},
               "keyword action: ", "wheel_torque");
  expect_blame("nav_arena", {{"obstacles", text("many")}}, "keyword obstacles: ", "'many'");
  expect_blame("nav_arena", {{"observe", off()}}, "keyword observe: ", "expected at least one");
  expect_blame("nav_arena", {{"time_limit", number(30)}, {"reset", dict({{"goal", off()}})}},
               "keywords time_limit, reset: ", "expected a <goal> in <reset>");
}

TEST(Keywords, DoNotTakeTheBlameForAFilesOwnMistake) {
  EnvSpec spec = testing::from_text(
      "<mvsim_env world='../worlds/nav_arena.world.xml' control_period='0.2'>\n<agent>"
      "<action class='twist' vx='0 0.2' omega='-1 1'/>\n<observe class='scan' "
      "sensor='lidra'/></agent></mvsim_env>");
  const std::string message = message_of(spec, {{"time_limit", number(30)}});
  expect_has(message, "test.env.xml:3:");
  EXPECT_FALSE(message.starts_with("keyword")) << message;
}

TEST(Knobs, OneThatNothingUsesIsAMistake) {
  const std::string file = R"(<mvsim_env world="../worlds/nav_arena.world.xml" control_period="0.2">
<knob name="obstacels" value="2"/>
<agent><action class="twist" vx="0 0.2" omega="-1 1"/><observe class="velocity"/></agent></mvsim_env>)";
  const std::string message = message_of(testing::from_text(file), {});
  expect_has(message, "test.env.xml:2:1: <knob>: nothing uses the knob 'obstacels'");
  expect_has(message, "did you mean 'obstacles'?");
  // another world may have no use for it
  EnvSpec spec = testing::from_text(file);
  EXPECT_EQ(message_of(spec, {{"world", text(testing::kSource + "/worlds/nav_arena.world.xml")}}),
            "no error");
  const std::string keyword = message_of(
      spec, {{"world", text(testing::kSource + "/worlds/nav_arena.world.xml")}, {"obstacels", number(3)}});
  expect_has(keyword,
             "keyword obstacels: nothing uses the knob 'obstacels', neither an attribute of the environment "
             "nor the world '");
  expect_has(keyword, "did you mean 'obstacles'?");
}

// A short file can ask for a long text.
TEST(Knobs, TheirTextsCountAgainstTheMemoryLimit) {
  std::string uses;
  for (int i = 0; i < 2000; ++i) uses += "${k}";
  const EnvSpec spec = testing::from_text("<mvsim_env world='w' control_period='0.2'><knob name='k' value='" +
                                          std::string(10'000, 'x') + "'/>\n<agent><action class='" + uses +
                                          "'/><observe class='velocity'/></agent></mvsim_env>");
  EnvLoadOptions load = testing::load_options();
  load.memory_limit = 10'000'000;
  try {
    compile_task(spec, load);
    FAIL();
  } catch (const WorldFileError& e) {
    expect_has(e.what(), "test.env.xml:2:");
    expect_has(e.what(), "<class> takes ");
  }
}

TEST(Knobs, SeveralFilesAreSeveralWorlds) {
  const std::string maps = testing::kSource + "/worlds/maps/",
                    copy = ::testing::TempDir() + "mvsim_smaller_map";
  std::filesystem::create_directories(copy);
  for (const auto& entry : std::filesystem::directory_iterator(maps))
    std::filesystem::copy_file(entry.path(), copy + "/" + entry.path().filename().string(),
                               std::filesystem::copy_options::overwrite_existing);
  std::ofstream(copy + "/shifted.yaml") << "image: office.pgm\nresolution: 0.05\norigin: [100, 0, 0]\n";
  const Overrides files{{{}, maps + "office.yaml"}, {{}, copy + "/shifted.yaml"}};
  EnvSpec spec = shipped("nav_map");
  apply_overrides(spec, dict({{"map", files}}));
  const auto task = compile_task(spec, testing::load_options());
  ASSERT_EQ(task->models.size(), 2u);
  EnvState env = make_env(*task, 5);
  std::array<int, 2> picked{};
  for (int i = 0; i < 20; ++i) {
    start_episode(*task, env);
    ++picked[env.variant];
    EXPECT_EQ(env.agents[0].start.x > 50, env.variant == 1) << "each map has its own bounds";
  }
  EXPECT_GT(picked[0], 3);
  EXPECT_GT(picked[1], 3);
  expect_has(message_of(shipped("nav_map"), {{"map", text("")}}),
             "keyword map: found '', expected the path of a file");
}

// An environment of eight worlds whose vehicle holds `parts`, which may differ from world to world.
std::string variants_message(const std::string& name, const std::string& parts, const std::string& blocks) {
  const std::string folder = ::testing::TempDir() + "/mvsim_alike_" + name;
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/w.world.xml")
      << "<mvsim_world version='1.0'>\n<vehicle name='r'><init_pose>0 0 0</init_pose>" + parts +
             "</vehicle>\n" + blocks + "</mvsim_world>";
  return message_of(load_env_text("<mvsim_env\nworld='w.world.xml' variants='8' control_period='0.2'>"
                                  "<agent><action class='twist' vx='0 0.2' omega='-1 1'/>"
                                  "<observe class='scan' sensor='eye' sectors='2'/></agent></mvsim_env>",
                                  folder + "/t.env.xml", testing::load_options()),
                    {});
}

// Terms are compiled for the first world, so the arrays that they index must be the same in all worlds.
TEST(Variants, OfAnotherMakeAreRefused) {
  const std::string drive = "<dynamics class='differential'><controller class='twist_ideal'/></dynamics>";
  const auto scan = [](const std::string& rays, const std::string& name = "eye") {
    return "<sensor class='laser' name='" + name + "'><nrays>" + rays + "</nrays></sensor>";
  };
  const auto refused = [&](const std::string& name, const std::string& message, const std::string& part) {
    expect_has(message, "t.env.xml:2:");
    expect_has(message, "of several worlds, world 1 differs from world 0: " + part);
    EXPECT_NE(message, "no error") << name;
  };
  EXPECT_EQ(variants_message("same", drive + scan("20"), ""), "no error");
  refused("rays", variants_message("rays", drive + scan("$f{10+floor(1000*rand())}"), ""),
          "of the sensor 'eye' of the vehicle 'r', found values per reading of ");
  refused("name",
          variants_message("name", drive + scan("20", "eye") + scan("9", "n$f{floor(1000*rand())}"), ""),
          "of the vehicle 'r', found a sensor 'n");
  const std::string box = "<init_pose>3 0 0</init_pose><geometry type='box' lx='1' ly='1' lz='1'/></block>\n";
  refused("block",
          variants_message("block", drive + scan("20"), "<block name='b$f{floor(1000*rand())}'>" + box),
          "found a block 'b");
  EXPECT_EQ(
      variants_message("numbers", drive + scan("20"), "<block name='b'><mass>$f{10+rand()}</mass>" + box),
      "no error");
}

TEST(Randomize, AWrongPathListsThoseNearIt) {
  const std::string message = message_of(
      shipped("nav_arena"),
      {{"randomize", dict({{"vehicle:robot/friction/grip", dict({{"scale", text("uniform(0.5, 1)")}})}})}});
  expect_has(message, "keyword randomize.vehicle:robot/friction/grip");
  expect_has(message, "here are vehicle:robot/friction/mu, vehicle:robot/friction/C_damping");
}

TEST(MissingFiles, NameTheNearestAndTheFolder) {
  const std::string worlds = testing::kSource + "/worlds/";
  expect_has(message_of(shipped("nav_arena"), {{"world", text(worlds + "nav_arna.world.xml")}}),
             "does not exist, did you mean 'nav_arena.world.xml'? Looked in ");
  expect_has(message_of(shipped("nav_map"), {{"map", text(worlds + "maps/ofice.yaml")}}),
             "did you mean 'office.yaml'?");
  try {
    load_env(testing::env_path("nav_arna"), testing::load_options());
    FAIL();
  } catch (const WorldFileError& e) {
    expect_has(e.what(), "no such environment file, did you mean 'nav_arena.env.xml'? Looked in ");
  }
}

TEST(Hints, RadiansWhereDegreesAreRead) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"reset", reset("spawn", "yaw", "-3.14159 3.14159")}}));
  const auto task = compile_task(spec, testing::load_options());
  ASSERT_EQ(task->warnings.size(), 2u);
  expect_has(task->warnings[0],
             "keyword reset.spawn.yaw: <spawn>, yaw: a yaw of -3.14159 is in degrees here");
}

TEST(Stuck, EachHasItsOwnDistance) {
  const std::string file = R"(<mvsim_env world="../worlds/nav_arena.world.xml" control_period="0.2">
<agent><action class="twist" vx="0 0.2" omega="-1 1"/><observe class="velocity"/></agent>
<terminate class="stuck" name="parked" distance="0.05" within="3"/>
<terminate class="stuck" name="slow" distance="1.5" within="4"/></mvsim_env>)";
  const auto task = compile_task(testing::from_text(file), testing::load_options());
  EnvState env = make_env(*task, 1);
  start_episode(*task, env);
  env.agents[0].action = {1, 0};  // 0.2 m/s: 0.05 m at once, 1.5 m never
  double reward = 0;
  while (env.agents[0].end == EpisodeEnd::kNone && env.steps < 100)
    step_period(*task, env, [] { return true; }, {&reward, 1});
  EXPECT_NEAR(static_cast<double>(env.steps) * 0.2, 4, 1e-9);
  EXPECT_FALSE(task->agents[0].terminations[0]->holds(env, env.agents[0]));
  EXPECT_TRUE(task->agents[0].terminations[1]->holds(env, env.agents[0]));
}

}  // namespace
}  // namespace mvsim::message_test
