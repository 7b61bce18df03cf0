// Random draws of an episode: distributions, parameters, variants of worlds.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "episode/episode.h"
#include "sim/simulation.h"
#include "task/randomize.h"
#include "task/task_test_util.h"

namespace mvsim::randomize_test {
namespace {

using testing::dict;
using testing::number;
using testing::off;
using testing::shipped;
using testing::text;

TEST(Randomize, DrawsStayInTheirDistributions) {
  const auto draws = [](const char* form) {
    const Distribution d(NamedText{"value", form, {}});
    RandomStream random(1, 0, StreamPurpose::kRandomize);
    std::vector<double> out;
    for (int i = 0; i < 20000; ++i) out.push_back(d.draw(random));
    return out;
  };
  const auto mean = [](const std::vector<double>& v) {
    double sum = 0;
    for (double x : v) sum += x;
    return sum / static_cast<double>(v.size());
  };
  const auto uniform = draws(" uniform( 2 , 4 ) ");
  EXPECT_NEAR(mean(uniform), 3, 0.02);
  EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), 2);
  EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 4);
  const auto normal = draws("normal(5, 2)");
  EXPECT_NEAR(mean(normal), 5, 0.06);
  const auto logs = draws("loguniform(0.01, 100)");
  EXPECT_NEAR(std::count_if(logs.begin(), logs.end(), [](double x) { return x < 1; }) / 20000.0, 0.5, 0.02);
  const auto choice = draws("choice(1, 7, 9)");
  EXPECT_NEAR(std::count(choice.begin(), choice.end(), 7.0) / 20000.0, 1 / 3.0, 0.02);
  EXPECT_EQ(draws("0.5")[3], 0.5);
}

TEST(Randomize, ChangesEachEpisodeAndIsSeeded) {
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(
      spec, dict({{"randomize",
                   dict({{"vehicle:robot/friction/mu", dict({{"scale", text("uniform(0.5, 0.9)")}})},
                         {"vehicle:robot/controller/K*", dict({{"scale", text("uniform(0.8, 1.2)")}})}})}}));
  const auto task = compile_task(spec, testing::load_options());
  const size_t mu = task->models[0]->find_params("vehicle:robot/friction/mu").at(0);
  const double nominal = task->models[0]->params[mu].nominal;
  EnvState a = make_env(*task, 4), b = make_env(*task, 4), c = make_env(*task, 5);
  std::vector<double> drawn;
  for (int i = 0; i < 20; ++i) {
    for (EnvState* env : {&a, &b, &c}) start_episode(*task, *env);
    EXPECT_EQ(a.simulation.state().params[mu], b.simulation.state().params[mu]);
    EXPECT_NE(a.simulation.state().params[mu], c.simulation.state().params[mu]);
    drawn.push_back(a.simulation.state().params[mu]);
    EXPECT_GE(drawn.back(), 0.5 * nominal);
    EXPECT_LE(drawn.back(), 0.9 * nominal);
  }
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(std::unique(drawn.begin(), drawn.end()), drawn.end());
}

TEST(Randomize, NothingToChangeIsAnErrorUnlessOptional) {
  const auto with = [](const std::string& optional) {
    EnvSpec spec = shipped("nav_arena");
    apply_overrides(spec,
                    dict({{"randomize", dict({{"region:ice*/x", dict({{"value", text("uniform(0, 1)")},
                                                                      {"optional", text(optional)}})}})}}));
    return spec;
  };
  EXPECT_THROW(compile_task(with("false"), testing::load_options()), WorldFileError);
  EXPECT_NO_THROW(compile_task(with("true"), testing::load_options()));
}

TEST(Randomize, IcePatchesMoveAndMayBeNone) {
  EnvSpec spec = shipped("ice_drive");
  const auto task = compile_task(spec, testing::load_options());
  EXPECT_EQ(task->models[0]->find_params("region:ice*/x").size(), 8u);
  apply_overrides(spec, dict({{"patches", number(0)}}));
  EXPECT_TRUE(compile_task(spec, testing::load_options())->models[0]->find_params("region:*").empty());
}

TEST(Bounds, OfAnOpenWorldAreItsGround) {
  const auto task = compile_task(shipped("off_road"), testing::load_options());
  const Rect& bounds = task->models[0]->bounds;
  EXPECT_EQ(bounds.x_min, -40);
  EXPECT_EQ(bounds.y_max, 40);
}

TEST(Variants, AreWorldsOfTheirOwnSeeds) {
  const std::string folder = ::testing::TempDir() + "/mvsim_variants";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/v.world.xml") << R"XML(<mvsim_world version="1.0">
    <include file=")XML" + testing::kSource + R"XML(/worlds/definitions/turtlebot3_burger.vehicle.xml"
             controller="twist_pid" KP="0.1" KI="4" max_torque="0.12"/>
    <vehicle name="robot" class="turtlebot3_burger"><init_pose>0 0 0</init_pose></vehicle>
    <simul_timestep>0.02</simul_timestep>
    <block name="wall"><static>true</static><init_pose>$f{1 + rand()} 0 0</init_pose>
      <geometry type="box" lx="0.1" ly="1" lz="1"/></block></mvsim_world>)XML";
  EnvSpec spec = shipped("nav_arena");
  apply_overrides(spec, dict({{"world", text(folder + "/v.world.xml")},
                              {"variants", number(5)},
                              {"observe", dict({{"scan", dict({{"sensor", off()}})}})},
                              {"reset", dict({{"place", off()},
                                              {"spawn", dict({{"area", text("-3 0 -3 3")}})},
                                              {"goal", dict({{"area", text("-3 0 -3 3")}})}})}}));
  const auto task = compile_task(spec, testing::load_options());
  ASSERT_EQ(task->models.size(), 5u);
  EnvState env = make_env(*task, 1);
  std::vector<int> seen(5, 0);
  for (int i = 0; i < 100; ++i) {
    start_episode(*task, env);
    ++seen[env.variant];
    EXPECT_EQ(&env.simulation.model(), task->models[env.variant].get());
  }
  for (int n : seen) EXPECT_GT(n, 5);
  const auto x = [&](int k) { return task->models[k]->blocks[0].initial_pose.x; };
  EXPECT_NE(x(0), x(1));
  EXPECT_NE(x(1), x(2));
}

}  // namespace
}  // namespace mvsim::randomize_test
