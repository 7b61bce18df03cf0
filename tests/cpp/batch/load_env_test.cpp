// The environment file language: what is read, and that every mistake is reported at its place with a way
// out.
#include <gtest/gtest.h>

#include "batch/batch_test_util.h"
#include "task/compile_parts.h"
#include "task/task.h"

namespace mvsim::load_env_test {
namespace {

using testing::dict;
using testing::number;
using testing::off;
using testing::on;
using testing::Overrides;
using testing::text;
using testing::weight;

// A correct file in which a test replaces one text by another.
const char kFile[] =
    R"XML(<mvsim_env id="t/Test-v0" world="../worlds/nav_arena.world.xml" control_period="0.2" time_limit="50">
  <knob name="obstacles" value="2"/>
  <agent vehicle="robot">
    <action class="twist" vx="0 0.22" omega="-2 2"/>
    <observe class="scan" sensor="lidar" sectors="36"/>
    <observe class="goal" max_distance="9"/>
    <observe class="velocity"/>
  </agent>
  <reset>
    <place blocks="obstacle*" radius="0.1 0.3" margin="0.5"/>
    <spawn clearance="0.3"/>
    <goal clearance="0.3" distance="1.5"/>
  </reset>
  <reward class="progress" weight="2"/>
  <reward class="goal" weight="10"/>
  <terminate class="goal" radius="0.25"/>
  <terminate class="collision"/>
  <randomize of="vehicle:robot/friction/mu" scale="uniform(0.7, 1.2)"/>
</mvsim_env>
)XML";

std::string edited(const std::string& from, const std::string& to) {
  std::string out = kFile;
  const size_t at = out.find(from);
  if (at == std::string::npos) throw Error("nothing to replace: " + from);
  return out.replace(at, from.size(), to);
}

std::string error_of(const std::string& file) {
  try {
    compile_task(testing::from_text(file), testing::load_options());
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

TEST(LoadEnv, ReadsAllFields) {
  const EnvSpec spec = testing::from_text(kFile);
  EXPECT_EQ(spec.id, "t/Test-v0");
  EXPECT_EQ(spec.control_period, 0.2);
  EXPECT_EQ(spec.time_limit, 50);
  EXPECT_EQ(spec.agents[0].vehicle, "robot");
  ASSERT_EQ(spec.agents[0].observations.size(), 3u);
  EXPECT_EQ(spec.agents[0].observations[0].name, "scan");
  EXPECT_EQ(spec.resets.size(), 3u);
  EXPECT_EQ(spec.agents[0].rewards[1].params.find("weight")->text, "10");
  EXPECT_EQ(spec.agents[0].rewards[1].params.where.line, 15);
  EXPECT_EQ(spec.randomizations[0].name, "vehicle:robot/friction/mu");
  EXPECT_EQ(error_of(kFile), "no error");
}

struct Mistake {
  const char *from, *to;
  std::vector<std::string> expected;  // all of these are in the message
};

TEST(LoadEnv, EveryMistakeNamesItsPlaceAndTheNearestName) {
  const std::vector<Mistake> mistakes = {
      {"<mvsim_env id", "<mvsim_evn id", {"mvsim_env"}},
      {"world=", "wrold=", {":1:", "'wrold'", "did you mean 'world'"}},
      {"control_period=\"0.2\"", "", {":1:", "control_period"}},
      {"control_period=\"0.2\"", "control_period=\"0\"", {":1:", "control_period", ">= 1e-06"}},
      {"control_period=\"0.2\"", "control_period=\"0.03\"", {":1:", "control_period", "0.02"}},
      {"control_period=\"0.2\"", "control_period=\"1s\"", {":1:", "1s", "number"}},
      {"time_limit=\"50\"", "time_limit=\"nan\"", {":1:", "time_limit", "finite"}},
      {"nav_arena.world", "nav_arnea.world", {":1:", "does not exist"}},
      {"../worlds/nav_arena.world.xml", "../../../../../../etc/passwd", {":1:"}},
      {"<knob name", "<knbo name", {":2:", "did you mean 'knob'"}},
      {"vehicle=\"robot\"", "vehicle=\"robt\"", {":3:", "robot"}},
      {"vehicle=\"robot\"", "vehicel=\"robot\"", {":3:", "did you mean 'vehicle'"}},
      {"class=\"twist\"", "class=\"twits\"", {":4:", "did you mean 'twist'"}},
      {"vx=\"0 0.22\"", "", {":4:", "vx"}},
      {"vx=\"0 0.22\"", "vx=\"0.3 0.22\"", {":4:", "low <= high"}},
      {"vx=\"0 0.22\"", "vx=\"0 1 2\"", {":4:", "two numbers"}},
      {"sensor=\"lidar\"", "sensor=\"lidra\"", {":5:", "lidar"}},
      {"sectors=\"36\"", "sectors=\"0\"", {":5:", "sectors", ">= 1"}},
      {"sectors=\"36\"", "sectors=\"181\"", {":5:", "180"}},
      {"sectors=\"36\"", "sectros=\"36\"", {":5:", "did you mean 'sectors'"}},
      {"sectors=\"36\"", "sectors=\"3.5\"", {":5:", "integer"}},
      {"sectors=\"36\"", "history=\"0\"", {":5:", "history"}},
      {"sectors=\"36\"", "stride=\"2\"", {":5:", "stride: found without a history, expected"}},
      {"sectors=\"36\"", "history=\"6\" stride=\"200\"", {":5:", "found a history of 1001", "at most 1000"}},
      {"sectors=\"36\"", "timing=\"sensro\"", {":5:", "did you mean 'sensor'"}},
      {"max_distance=\"9\"", "max_distance=\"-1\"", {":6:", "> 0"}},
      {"max_distance=\"9\"", "max_distance=\"inf\"", {":6:", "finite"}},
      {"<observe class=\"velocity\"/>", "<observe class=\"goal\"/>", {":7:", "second", "'goal'"}},
      {"<observe class=\"velocity\"/>", "<observe/>", {":7:", "class"}},
      {"<observe class=\"velocity\"/>", "<observe class=\"velocity\">x</observe>", {":7:", "content"}},
      {"blocks=\"obstacle*\"", "blocks=\"obstacle9\"", {":10:", "obstacle9", "did you mean 'obstacle"}},
      {"margin=\"0.5\"", "margin=\"-0.5\"", {":10:", ">= 0"}},
      {"<spawn clearance", "<spwan clearance", {":11:", "did you mean 'spawn'"}},
      {"<goal clearance", "<gaol clearance", {":12:", "did you mean 'goal'"}},
      {"distance=\"1.5\"", "distance=\"5 1\"", {":12:", "low <= high"}},
      {"class=\"progress\"", "class=\"progres\"", {":14:", "did you mean 'progress'"}},
      {"weight=\"2\"", "weight=\"two\"", {":14:", "two", "number"}},
      {"radius=\"0.25\"", "", {":16:", "radius"}},
      {"<terminate class=\"goal\" radius=\"0.25\"/>", "", {":15:", "terminate"}},
      {"<goal clearance=\"0.3\" distance=\"1.5\"/>", "", {"expected a <goal> in <reset>"}},
      {"of=\"vehicle:robot/friction/mu\"",
       "of=\"vehicle:robot/friction/nu\"",
       {":18:", "did you mean 'vehicle:robot/friction/mu'"}},
      {"scale=\"uniform(0.7, 1.2)\"", "scale=\"unifrom(0.7, 1.2)\"", {":18:", "did you mean 'uniform'"}},
      {"scale=\"uniform(0.7, 1.2)\"", "scale=\"uniform(1.2, 0.7)\"", {":18:", "low <= high"}},
      {"scale=\"uniform(0.7, 1.2)\"", "scale=\"uniform(0.7)\"", {":18:", "two numbers"}},
      {"scale=\"uniform(0.7, 1.2)\"", "scale=\"uniform(-2, 1.2)\"", {":18:", "mu"}},
      {"scale=\"uniform(0.7, 1.2)\"", "scale=\"1\" value=\"1\"", {":18:", "'scale'", "'value'"}},
      {"radius=\"0.1 0.3\"", "radius=\"${radus}\"", {":10:", "radus"}},
      {"</agent>", "", {""}},
      {"<knob name=\"obstacles\" value=\"2\"/>", "<knob name=\"obstacles\"/>", {":2:", "value"}},
  };
  for (const Mistake& m : mistakes) {
    const std::string message = error_of(edited(m.from, m.to));
    EXPECT_NE(message, "no error") << m.to;
    EXPECT_NE(message.find("test.env.xml:"), std::string::npos) << message;
    for (const std::string& part : m.expected)
      EXPECT_NE(message.find(part), std::string::npos) << "\"" << part << "\" in: " << message;
  }
}

TEST(LoadEnv, ReadsBesideItsFolderButNotTheWholeMachine) {
  const auto root = [](const std::string& folder) {
    return std::filesystem::path(root_of_env(folder)).lexically_normal().string();
  };
  EXPECT_EQ(root("/home/me/envs"), "/home/me/");
  EXPECT_EQ(root("/data/envs"), "/data/");
  EXPECT_EQ(root("/envs"), "/envs");
}

TEST(LoadEnv, HasALimitOnAgentsTermsAndKnobs) {
  const auto repeated = [](int count, const std::string& before, const std::string& after) {
    std::string out;
    for (int i = 0; i < count; ++i) out += before + std::to_string(i) + after + "\n";
    return out;
  };
  const auto read = [](const std::string& text) -> std::string {
    try {
      testing::from_text(text);
    } catch (const WorldFileError& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string agent =
      "<action class='twist' vx='0 0.2' omega='-1 1'/><observe class='velocity'/></agent>";
  const auto file = [&](const std::string& content) {
    return "<mvsim_env world='w' control_period='0.2'>\n" + content + "</mvsim_env>";
  };
  const auto agents = [&](int count) { return file(repeated(count, "<agent vehicle='r", "'>" + agent)); };
  const auto knobs = [&](int count) {
    return file(repeated(count, "<knob name='k", "' value='1'/>") + "<agent>" + agent);
  };
  const auto rewards = [&](int count) {
    return file(repeated(count, "<reward class='time' name='n", "'/>") + "<agent>" + agent);
  };
  // those of the root and those of the agent together
  const auto joined = file(repeated(600, "<reward class='time' name='n", "'/>") + "<agent>\n" +
                           repeated(600, "<reward class='time' name='m", "'/>") + agent);
  EXPECT_EQ(read(agents(64)), "no error");
  EXPECT_EQ(read(knobs(200)), "no error");
  EXPECT_EQ(read(rewards(1000)), "no error");
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(read(agents(65)), "test.env.xml:66:1: <agent>: found more than 64 of them");
  expect(read(knobs(201)), "test.env.xml:202:1: <knob>: found more than 200 of them");
  expect(read(rewards(1001)), "test.env.xml:1002:1: <reward class=\"time\">");
  expect(read(rewards(1001)), "found more than 1000 of them");
  expect(read(joined), "test.env.xml:1003:1: <reward class=\"time\">");  // the 401st of the agent
  EnvSpec spec = testing::from_text(rewards(1000));
  try {
    apply_overrides(spec, dict({{"reward", dict({{"time", weight(1)}})}}));
    FAIL();
  } catch (const WorldFileError& e) {
    expect(e.what(), "keyword reward.time: <reward class=\"time\">: found more than 1000 of them");
  }
}

TEST(Overrides, ReplaceFieldsTermsAndKnobs) {
  EnvSpec spec = testing::from_text(kFile);
  apply_overrides(
      spec,
      dict({{"time_limit", number(30)},
            {"obstacles", number(5)},
            {"reward", dict({{"goal", weight(20)},
                             {"progress", dict({{"weight", number(3)}})},
                             {"time", weight(-0.5)}})},
            {"terminate", dict({{"collision", off()}})},
            {"observe",
             dict({{"scan", dict({{"sectors", number(18)}})}, {"last_action", on()}, {"velocity", off()}})},
            {"reset", dict({{"spawn", dict({{"yaw", text("-10 10")}})}})},
            {"randomize",
             dict({{"vehicle:robot/friction/mu", dict({{"scale", text("uniform(0.5, 0.6)")}})}})}}));
  EXPECT_EQ(spec.time_limit, 30);
  EXPECT_EQ(spec.knobs[0].value.text, "5");
  EXPECT_EQ(spec.agents[0].rewards[0].params.find("weight")->text, "3");
  EXPECT_EQ(spec.agents[0].rewards[1].params.find("weight")->text, "20");
  ASSERT_EQ(spec.agents[0].rewards.size(), 3u);
  EXPECT_EQ(spec.agents[0].rewards[2].params.class_name, "time");
  EXPECT_EQ(spec.agents[0].terminations.size(), 1u);
  ASSERT_EQ(spec.agents[0].observations.size(), 3u);
  EXPECT_EQ(spec.agents[0].observations[2].name, "last_action");
  const auto task = compile_task(spec, testing::load_options());
  EXPECT_EQ(task->models[0]->blocks.size(), 4u + 5u);  // walls and cylinders
  EXPECT_EQ(task->observation_specs[0].low.size(), 18u);
  EXPECT_EQ(task->max_steps, 150);
}

TEST(Overrides, MistakesNameTheKeyword) {
  const auto message = [](const Overrides& overrides) -> std::string {
    try {
      EnvSpec spec = testing::from_text(kFile);
      apply_overrides(spec, overrides);
      compile_task(spec, testing::load_options());
    } catch (const UnknownKeyword& e) {
      return std::string("unknown: ") + e.what();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(dict({{"time_limti", number(1)}})),
            "unknown: unknown keyword 'time_limti', did you mean 'time_limit'?");
  EXPECT_EQ(message(dict({{"obstacle", number(1)}})),
            "unknown: unknown keyword 'obstacle', did you mean 'obstacles'?");
  const auto expect = [&](const Overrides& overrides, const std::string& part) {
    const std::string found = message(overrides);
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  expect(dict({{"time_limit", text("long")}}), "keyword time_limit");
  expect(dict({{"control_period", number(-1)}}), "keyword control_period");
  expect(dict({{"reward", dict({{"colision", weight(1)}})}}), "did you mean 'collision'");
  expect(dict({{"reward", dict({{"progress", dict({{"wieght", number(1)}})}})}}), "did you mean 'weight'");
  expect(dict({{"reward", number(3)}}), "keyword reward");
  expect(dict({{"reward", dict({{"gaol", off()}})}}), "did you mean 'goal'");
  expect(dict({{"reset", dict({{"spwan", off()}})}}), "did you mean 'spawn'");
  expect(dict({{"observe", dict({{"scan", dict({{"sectors", number(-1)}})}})}}),
         "keyword observe.scan.sectors");
  expect(dict({{"world", text("nowhere.world.xml")}}), "nowhere.world.xml");
  expect(dict({{"world", text("")}}), "keyword world: found '', expected the path of a file");
  for (const Overrides& value : {off(), on(), text("twist")})
    expect(dict({{"action", value}}), "keyword action: found no such place in an environment file");
  // the place names the keyword once
  for (const auto& [name, value] : {std::pair{"world", text("nowhere.world.xml")},
                                    {"vehicle", text("robo")},
                                    {"control_period", number(0.013)}}) {
    const std::string prefix = std::string("keyword ") + name + ": ";
    const std::string found = message(dict({{name, value}}));
    EXPECT_TRUE(found.starts_with(prefix)) << found;
    EXPECT_EQ(found.find(std::string(name) + ": ", prefix.size()), std::string::npos) << found;
  }
}

// Values that could only be meant otherwise: what would be placed nowhere or start outside of everything.
TEST(Overrides, SilentNonsenseIsRefused) {
  const auto message = [](const Overrides& overrides) -> std::string {
    try {
      EnvSpec spec = testing::shipped("nav_arena");
      apply_overrides(spec, overrides);
      compile_task(spec, testing::load_options());
    } catch (const WorldFileError& e) {
      return e.what();
    }
    return "no error";
  };
  const auto expect = [&](const Overrides& overrides, const std::string& part) {
    const std::string found = message(overrides);
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  const auto reset = [&](const char* term, const char* attribute, const char* value) {
    return dict({{"reset", dict({{term, dict({{attribute, text(value)}})}})}});
  };
  expect(reset("place", "blocks", "pillar*"), "'pillar*', which matches 0 blocks of the world, expected 8");
  expect(reset("place", "blocks", "obstacel1"), "did you mean 'obstacle1'?");
  expect(dict({{"obstacles", number(2.5)}}), "<place>, count: found '2.5', expected an integer");
  expect(dict({{"obstacles", number(-3)}}), "<place>, count: found '-3', expected >= 0");
  EXPECT_EQ(message(dict({{"obstacles", number(0)}})), "no error");
  for (const char* term : {"goal", "spawn", "place"})
    expect(reset(term, "area", "100 110 0 10"),
           "area: found x 100 to 110, y 0 to 10, expected some of what walls and maps enclose, x -3.");
  expect(reset("goal", "position", "0 100"), "position: expected a point within");
  expect(reset("spawn", "pose", "50 50 0"), "pose: expected a point within");
  EXPECT_EQ(message(reset("goal", "area", "2 10 2 10")), "no error");
}

TEST(Batch, RefusesMoreCopiesThanFit) {
  try {
    Batch batch(testing::shipped("nav_arena"), testing::options(1000000000));
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("num_envs: found 1000000000, which takes more than"),
              std::string::npos)
        << e.what();
  }
}

TEST(LoadEnv, ListsTheRegisteredEnvironments) {
  const auto envs = list_envs(testing::kSource + "/envs");
  std::vector<std::string> ids;
  for (const EnvListing& e : envs) ids.push_back(e.id);
  EXPECT_NE(std::find(ids.begin(), ids.end(), "mvsim/NavArena-v0"), ids.end());
  EXPECT_NE(std::find(ids.begin(), ids.end(), "mvsim/NavMap-v0"), ids.end());
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
}

}  // namespace
}  // namespace mvsim::load_env_test
