// Crop rows: the path through them, and the terms that use it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "sim/simulation.h"
#include "task/track/crop.h"

namespace mvsim::crop_test {
namespace {

using namespace testing;

// Three rows of three plants, 4 m long and 2 m apart: two alleys, on y = 0 and y = 2.
std::vector<std::vector<Vec2>> rows() {
  return {{{0, -1}, {2, -1.1}, {4, -0.9}}, {{0, 1}, {2, 1}, {4, 1}}, {{0.5, 3}, {2, 3}, {3.5, 3}}};
}

constexpr const char* kWorld = R"(<mvsim_world>
  <vehicle name="r"><init_pose>-1 0 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
  <for var="row" from="0" to="2"><for var="plant" from="0" to="2">
    <block name="row${row}_${plant}"><static>true</static><init_pose>${plant}0 $f{10*row - 5} 0</init_pose>
      <geometry type="cylinder" radius="0.2" length="1"/></block>
  </for></for>
  <walls><shape><pt>-5 -9</pt><pt>-5 20</pt></shape></walls></mvsim_world>)";
constexpr const char* kRows = "<crop_rows blocks='row0_* row1_* row2_*' headland='3'/>";
constexpr const char* kTerms = R"(<agent vehicle="r"><action class="twist" vx="-5 5" omega="-3 3"/>
  <observe class="row_parity"/><observe class="row_index"/><observe class="row_error"/></agent>
  <reward class="row_progress"/><reward class="row_end"/><reward class="row_offset" weight="0"/>
  <terminate class="rows" count="2"/><terminate class="contacts" max="2" with="block"/>)";
enum { kProgress, kRowEnd, kOffset };
enum { kRowsDone, kContacts };

EnvSpec env_of(const std::string& content) {
  const auto folder = std::filesystem::temp_directory_path() / ("mvsim_crop_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "crop.world.xml") << kWorld;
  return load_env_text("<mvsim_env world='crop.world.xml' control_period='0.1'>\n" + content + "</mvsim_env>",
                       (folder / "c.env.xml").string(), load_options());
}

std::string error_of(const std::string& content) {
  try {
    (void)compile_task(env_of(content), load_options());
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

std::string error_of(const std::vector<std::vector<Vec2>>& plants) {
  try {
    (void)CropPath(plants, 1);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(CropPath, SnakesThroughTheAlleys) {
  const CropPath path(rows(), 1);
  // 1 m before, 4 m of the first alley, 1 m out, 2 m across, 1 m in, 4 m back, 1 m out
  EXPECT_EQ(path.alleys(), 2u);
  EXPECT_NEAR(path.length(), 14, 0.05);  // the first row slopes a little
  EXPECT_NEAR(path.nearest({0, 0.3}), 1, 0.05);
  EXPECT_NEAR(path.nearest({4, 0}), 5, 0.05);
  EXPECT_NEAR(path.nearest({5, 1}), 7, 0.05);
  EXPECT_NEAR(path.nearest({1, 2}), 12, 0.05);
  EXPECT_EQ(path.alleys_before(4.9), 0u);
  EXPECT_EQ(path.alleys_before(8), 1u);
  EXPECT_EQ(path.alleys_before(13.5), 2u);
}

TEST(CropPath, WorksTheSameWhereverTheFieldLies) {
  const Pose2 field{120, -40, 2.1};
  std::vector<std::vector<Vec2>> turned = rows();
  for (auto& row : turned)
    for (Vec2& plant : row) plant = transform(field, plant);
  const CropPath here(rows(), 1.5), there(turned, 1.5);
  ASSERT_EQ(here.points().size(), there.points().size());
  for (size_t i = 0; i < here.points().size(); ++i)
    EXPECT_NEAR(norm(transform(field, here.points()[i]) - there.points()[i]), 0, 1e-9);
}

TEST(CropPath, PlacesLookAlongIt) {
  const CropPath path(rows(), 1);
  for (double along = 0.05; along < path.length(); along += 0.1) {
    const Pose2 pose = path.at(along);
    EXPECT_NEAR(path.nearest({pose.x, pose.y}, along), along, 1e-9);
    const Pose2 next = path.at(along + 0.01);
    if (std::fabs(std::remainder(next.yaw - pose.yaw, 2 * kPi)) > 0.1) continue;  // a corner lies between
    const Vec2 step = Rotation2(pose.yaw).unrotate({next.x - pose.x, next.y - pose.y});
    EXPECT_NEAR(step.x, 0.01, 1e-9);
    EXPECT_NEAR(step.y, 0, 1e-9);
  }
  EXPECT_NEAR(path.at(0).x, -1, 0.05);
  EXPECT_NEAR(path.at(-2).x, -3, 0.05);  // before the beginning straight on
}

TEST(CropPath, NobodyLeavesOutAnAlley) {
  const CropPath path(rows(), 1);
  // from the first alley through a gap into the second, whatever is nearest there
  const double in_first = path.nearest({2, 0});
  EXPECT_EQ(path.nearest({2, 2}, in_first), in_first);
  EXPECT_NEAR(path.nearest({-0.5, 2}, in_first), 0.5, 0.1);  // back on the headland
  // on the headland it goes with the robot, from one alley to the next
  double along = path.nearest({4.5, 0});
  for (const Vec2 place : {Vec2{5, 0.2}, {5.4, 1}, {5, 1.8}, {4.4, 2}, {3, 2}}) {
    const double next = path.nearest(place, along);
    EXPECT_GT(next, along);
    along = next;
  }
  EXPECT_NEAR(along, 10, 0.05);
  // past the second alley, not through it: a robot that reaches the headland at its other end has not driven
  // it
  along = path.nearest({4.9, 2}, path.nearest({5, 1}, path.nearest({4.5, 0})));
  EXPECT_NEAR(along, 8.1, 0.05);
  for (const Vec2 place : {Vec2{4.4, 4}, {2, 4}, {-0.3, 4}, {-0.3, 2.6}, {-0.3, 2}})
    EXPECT_LT(path.nearest(place, along), 9.05);
}

TEST(CropPath, MistakesAreNamed) {
  EXPECT_EQ(error_of({{{0, 0}, {1, 0}}}), "found 1 rows, expected 2 at least");
  EXPECT_EQ(error_of({{{0, 0}, {1, 0}}, {{0, 1}}}), "found 1 plants in row 2, expected 2 at least");
  EXPECT_NE(error_of({{{0, 0}, {0, 0}}, {{0, 1}, {1, 1}}}).find("at one place"), std::string::npos);
  EXPECT_NE(error_of({{{0, 0}, {1, 0}}, {{0, 2}, {1, 2}}, {{0, 1}, {1, 1}}}).find("row 3 not beyond"),
            std::string::npos);
  EXPECT_NE(error_of({{{0, 0}, {1, 0}}, {{0, 0}, {1, 0}}}).find("row 2 not beyond"), std::string::npos);
  EXPECT_NE(error_of(kTerms).find("expected a <crop_rows> in <mvsim_env>"), std::string::npos);
  EXPECT_NE(error_of("<crop_rows/>" + std::string(kTerms)).find("blocks"), std::string::npos);
  EXPECT_NE(error_of("<crop_rows blocks='row0_*'/>" + std::string(kTerms)).find("found 1 patterns of names"),
            std::string::npos);
  EXPECT_NE(
      error_of("<crop_rows blocks='row0_* raw1_*'/>" + std::string(kTerms)).find("'raw1_*', which matches 0"),
      std::string::npos);
  EXPECT_NE(error_of(std::string(kRows) + kRows + kTerms).find("a second <crop_rows>"), std::string::npos);
  EXPECT_NE(
      error_of("<crop_rows blocks='row0_* row1_*' headlands='2'/>" + std::string(kTerms)).find("headland"),
      std::string::npos);
  EXPECT_NE(
      error_of(std::string(kRows) + kTerms + "<terminate class='rows' name='more' count='3'/>").find("count"),
      std::string::npos);
  EXPECT_EQ(error_of(std::string(kRows) + kTerms), "no error");
}

// A world that has just begun, in which a test puts the robot wherever it likes.
struct Field {
  Field() : task(compile_task(env_of(std::string(kRows) + kTerms), load_options())), env(make_env(*task, 1)) {
    start_episode(*task, env);
  }
  double step(double vx, double omega = 0) {
    env.agents[0].action = {vx / 5, omega / 3};
    double reward = 0;
    step_period(*task, env, [] { return true; }, {&reward, 1});
    return reward;
  }
  double reward(size_t term) const { return task->agents[0].rewards[term].term->value(env, env.agents[0]); }
  bool holds(size_t term) const { return task->agents[0].terminations[term]->holds(env, env.agents[0]); }
  const CropState& crop() const { return find_tracker<CropTracker>(task->trackers)->state(env.agents[0]); }
  // The number of its last tracker: of the termination `contacts`.
  double contacts() const { return env.agents[0].memory.back(); }
  float parity() { return seen(0); }
  float index() { return seen(1); }
  // Offset and heading.
  std::array<float, 2> error() {
    std::array<float, 2> out{-1, -1};
    write(2, out.data());
    return out;
  }
  float seen(size_t observation) {
    float out = -1;
    write(observation, &out);
    return out;
  }
  void write(size_t observation, float* out) {
    Scratch scratch;
    task->agents[0].observations[observation].term->write_frame(env, env.agents[0], scratch,
                                                                reinterpret_cast<std::byte*>(out));
  }
  // Robots are moved by callers between steps.
  void put(Vec2 place, double yaw) {
    env.simulation.place_vehicle(0, {place.x, place.y, yaw});
    measure_again(*task, env);
  }

  std::unique_ptr<Task> task;
  EnvState env;
};

TEST(Crop, PaysForTheWayAndForEachEnd) {
  Field field;                               // rows 20 m long and 10 m apart
  EXPECT_NEAR(field.crop().along, 2, 1e-6);  // 1 m before the rows, whose headland begins at 3
  EXPECT_EQ(field.parity(), 0);
  EXPECT_EQ(field.index(), 0);
  double sum = 0, ends = 0;
  const double x = field.env.agents[0].now.pose.x;
  for (int i = 0; i < 45; ++i) {
    field.step(5);
    sum += field.reward(kProgress);
    ends += field.reward(kRowEnd);
  }
  EXPECT_NEAR(sum, field.env.agents[0].now.pose.x - x, 1e-9);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(field.parity(), 1);
  // back and forth over the end is no second one
  for (int i = 0; i < 20; ++i) {
    field.step(i < 10 ? -5 : 5);
    EXPECT_EQ(field.reward(kRowEnd), 0);
  }
  EXPECT_EQ(field.parity(), 1);
  EXPECT_FALSE(field.holds(kRowsDone));
  // carried into the second alley: neither paid for nor done
  field.put({6, 10}, kPi);
  EXPECT_NEAR(field.crop().along, 3 + 20 + 3 + 10 + 3 + 14, 1e-6);
  field.step(5);
  EXPECT_NEAR(field.reward(kProgress), 6 - field.env.agents[0].now.pose.x, 1e-6);
  EXPECT_EQ(field.reward(kRowEnd), 0);
  EXPECT_EQ(field.parity(), 1);
  for (int i = 0; i < 12; ++i) field.step(5), ends += field.reward(kRowEnd);
  EXPECT_EQ(ends, 2);
  EXPECT_EQ(field.parity(), 0);
  EXPECT_EQ(field.index(), 2);
  EXPECT_TRUE(field.holds(kRowsDone));
  EXPECT_TRUE(field.env.agents[0].success);
}

TEST(Crop, ErrorIsThatOfThePlaceOnThePath) {
  Field field;
  field.put({6, 0.4}, 0.25);
  EXPECT_NEAR(field.error()[0], 0.4, 1e-6);
  EXPECT_NEAR(field.error()[1], 0.25, 1e-6);
  field.put({6, -0.4}, -0.25);
  EXPECT_NEAR(field.error()[0], -0.4, 1e-6);
  EXPECT_NEAR(field.error()[1], -0.25, 1e-6);
  // the second alley is driven the other way
  field.put({6, 10.4}, kPi - 0.25);
  EXPECT_NEAR(field.error()[0], -0.4, 1e-6);
  EXPECT_NEAR(field.error()[1], -0.25, 1e-6);
}

TEST(Crop, EpisodesBeginAnywhereOnAPartOfThePath) {
  const std::string line_up = "<reset><line_up along='10 40' lateral='0.1' yaw='5'/></reset>";
  const auto task = compile_task(env_of(std::string(kRows) + kTerms + line_up), load_options());
  EnvState env = make_env(*task, 1);
  const CropTracker& rows = *find_tracker<CropTracker>(task->trackers);
  double least = 100, greatest = 0, aside = 0, turned = 0;
  for (int i = 0; i < 200; ++i) {
    start_episode(*task, env);
    const AgentState& agent = env.agents[0];
    const double along = rows.state(agent).along;
    least = std::min(least, along), greatest = std::max(greatest, along);
    const Pose2 place = rows.paths()[0].at(along);
    EXPECT_LT(norm(Vec2{agent.now.pose.x - place.x, agent.now.pose.y - place.y}), 0.5);
    aside = std::max(aside, norm(Vec2{agent.now.pose.x - place.x, agent.now.pose.y - place.y}));
    turned = std::max(turned, std::fabs(std::remainder(agent.now.pose.yaw - place.yaw, kPi / 2)));
    EXPECT_EQ(rows.state(agent).done, 0);
    EXPECT_EQ(rows.state(agent).start, along);  // the way to the given start is no progress
  }
  EXPECT_NEAR(least, 10, 1);
  EXPECT_NEAR(greatest, 40, 1);
  EXPECT_GT(aside, 0.1);
  EXPECT_GT(turned, 0.1);
}

TEST(Crop, EpisodesBeginOnAnyOfSeveralParts) {
  const std::string line_up = "<reset><line_up along='5 10 40 42'/></reset>";
  const auto task = compile_task(env_of(std::string(kRows) + kTerms + line_up), load_options());
  EnvState env = make_env(*task, 1);
  const CropTracker& rows = *find_tracker<CropTracker>(task->trackers);
  int on_second = 0;
  for (int i = 0; i < 200; ++i) {
    start_episode(*task, env);
    const double along = rows.state(env.agents[0]).along;
    const bool second = along > 25;
    on_second += second;
    EXPECT_GE(along, second ? 40 : 5);
    EXPECT_LE(along, second ? 42 : 10);
  }
  EXPECT_NEAR(on_second, 100, 30);  // as likely as the first, however long
}

TEST(Crop, LinesThatAreTooLongAreNamed) {
  const auto refused = [](const std::string& attributes) {
    return error_of(std::string(kRows) + kTerms + "<reset><line_up " + attributes + "/></reset>");
  };
  EXPECT_EQ(refused("along='0 60'"), "no error");
  EXPECT_NE(refused("along='0 1000'").find("along"), std::string::npos);
  EXPECT_NE(refused("along='3 2'").find("along"), std::string::npos);
  EXPECT_NE(refused("along='0 10 3 2'").find("expected low <= high"), std::string::npos);
  EXPECT_NE(refused("along='0 10 3'").find("found 3 numbers, expected pairs"), std::string::npos);
  EXPECT_NE(refused("gap='1 1000'").find("the agents would need more than the 62"), std::string::npos);
  EXPECT_NE(error_of(std::string(kTerms) + "<reset><line_up/></reset>").find("<crop_rows>"),
            std::string::npos);
}

TEST(Crop, TheOffsetIsTheDistanceToItsPlaceOnThePath) {
  Field field;  // rows 20 m long and 10 m apart, headlands of 3 m
  EXPECT_NEAR(field.reward(kOffset), 0, 1e-9);
  field.put({6, 1.5}, 0);
  EXPECT_NEAR(field.reward(kOffset), 1.5, 1e-6);
  field.put({22, 4}, 0);  // the way across the headland is on x = 23
  EXPECT_NEAR(field.reward(kOffset), 1, 1e-6);
  field.put({26, 4}, 0);
  EXPECT_NEAR(field.reward(kOffset), 3, 1e-6);
}

TEST(Crop, ContactsAreCountedWhenTheyBegin) {
  Field field;
  const auto touch = [&] {
    field.put({9, -5}, 0);
    for (int i = 0; i < 10; ++i) field.step(2);  // on against the plant: one contact
    return field.contacts();
  };
  EXPECT_EQ(touch(), 1);
  EXPECT_FALSE(field.holds(kContacts));
  field.put({9, 0}, 0);
  field.step(0);
  EXPECT_EQ(touch(), 2);
  EXPECT_TRUE(field.holds(kContacts));
  EXPECT_FALSE(field.env.agents[0].success);
  start_episode(*field.task, field.env);
  EXPECT_EQ(field.contacts(), 0);
}

TEST(Crop, SnapshotsHoldIt) {
  Batch batch(env_of(std::string(kRows) + kTerms), options(2));
  (void)traces(batch, 30);
  const std::string saved[] = {batch.state(0), batch.state(1)};
  const auto go_on = [&] {
    std::string out;
    for (int s = 0; s < 30; ++s) {
      batch.step(std::vector<float>{1, 0.1F, 1, -0.1F});
      out += row_of(batch, 0) + row_of(batch, 1);
    }
    return out;
  };
  const std::string first = go_on();
  const int both[] = {0, 1};
  const std::string_view states[] = {saved[0], saved[1]};
  batch.set_state(both, states);
  EXPECT_EQ(go_on(), first);
}

}  // namespace
}  // namespace mvsim::crop_test
