// <localization>: estimates of the pose with drift, jumps and latency, against numbers computed by hand.
#include "task/track/localization.h"

#include <gtest/gtest.h>

#include <cmath>

#include "batch/batch_test_util.h"
#include "episode/episode.h"
#include "episode/quantities.h"
#include "model/model.h"
#include "task/track/race.h"

namespace mvsim::localization_test {
namespace {

using namespace testing;

using Attributes = std::vector<std::pair<std::string, Overrides>>;

EnvSpec with(const Attributes& attributes, const std::string& name = "nav_arena") {
  EnvSpec spec = shipped(name);
  apply_overrides(spec, dict({{"localization", dict(attributes)}}));
  return spec;
}

std::string error_of(const Attributes& attributes) {
  try {
    (void)compile_task(with(attributes), load_options());
  } catch (const WorldFileError& e) {
    return e.what();
  }
  return "no error";
}

struct Drive {
  explicit Drive(const EnvSpec& spec, uint64_t key = 1)
      : task(compile_task(spec, load_options())), env(make_env(*task, key)) {
    start_episode(*task, env);
  }
  void step(double v = 1, double omega = 0.3) {
    double reward = 0;
    agent().end = EpisodeEnd::kNone;
    agent().action = {v, omega};
    step_period(*task, env, [] { return true; }, {&reward, 1});
  }
  AgentState& agent() { return env.agents[0]; }
  Pose2 truth() { return agent().now.pose; }
  Pose2 odometry() const { return env.simulation.state().vehicles[0].odometry; }
  Pose2 seen() {
    double out[3];
    const QuantityList list = find_quantities(*task, env, "agent:robot/estimated_pose");
    read_quantities(*task, env, list, out);
    return {out[0], out[1], out[2]};
  }
  std::vector<float> observed(size_t index) {
    const ObservationSlot& slot = task->agents[0].observations[index];
    std::vector<float> out(slot.low.size());
    Scratch scratch;
    slot.term->write_frame(env, agent(), scratch, reinterpret_cast<std::byte*>(out.data()));
    return out;
  }

  std::unique_ptr<Task> task;
  EnvState env;
};

void expect_near(const Pose2& found, const Pose2& expected, double tolerance = 1e-9) {
  EXPECT_NEAR(found.x, expected.x, tolerance);
  EXPECT_NEAR(found.y, expected.y, tolerance);
  EXPECT_NEAR(found.yaw, expected.yaw, tolerance);
}

double distance(const Pose2& a, const Pose2& b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

TEST(Localization, WithoutTheElementAPoseIsExact) {
  Drive run(shipped("nav_arena"));
  for (int i = 0; i < 3; ++i) run.step();
  expect_near(run.seen(), run.truth(), 0);
  EXPECT_EQ(run.agent().memory.size(), 0u);
}

TEST(Localization, WithoutJumpsItIsDeadReckoningFromTheStart) {
  Drive run(with({{"drift", number(0.1)}}));
  const Pose2 start = run.truth();
  expect_near(run.seen(), start);
  for (int i = 0; i < 40; ++i) run.step();
  expect_near(run.seen(), compose(start, run.odometry()));
  EXPECT_GT(distance(run.seen(), run.truth()), 0.01);
  const size_t first = run.env.simulation.model().vehicles[0].body_params;
  const std::vector<double>& params = run.env.simulation.state().params;
  EXPECT_GT(std::fabs(params[first + kOdometryX] - 1), 1e-3);
}

TEST(Localization, DriftIsTheDeviationOfTheOdometrysScales) {
  Drive run(with({{"drift", number(0.1)}}));
  double squares = 0;
  constexpr int kEpisodes = 300;
  for (int i = 0; i < kEpisodes; ++i) {
    start_episode(*run.task, run.env);
    const size_t first = run.env.simulation.model().vehicles[0].body_params;
    for (const size_t param : {kOdometryX, kOdometryY, kOdometryYaw}) {
      const double error = run.env.simulation.state().params[first + param] - 1;
      squares += error * error / 3;
    }
  }
  EXPECT_NEAR(std::sqrt(squares / kEpisodes), 0.1, 0.1 * 4 / std::sqrt(2.0 * 3 * kEpisodes));
}

TEST(Localization, AJumpLeavesARandomErrorThatStaysUntilTheNext) {
  // with a rate of 1000/s there is a jump in every period of 0.2 s
  Drive run(with({{"jump_rate", number(1000)}, {"jump_sigma", number(0.2)}, {"jump_sigma_yaw", number(9)}}));
  double squares = 0, yaw_squares = 0;
  constexpr int kPeriods = 1000;
  for (int i = 0; i < kPeriods; ++i) {
    run.step(0, 0);
    const Pose2 error{run.seen().x - run.truth().x, run.seen().y - run.truth().y,
                      run.seen().yaw - run.truth().yaw};
    squares += (error.x * error.x + error.y * error.y) / 2;
    yaw_squares += error.yaw * error.yaw;
  }
  EXPECT_NEAR(std::sqrt(squares / kPeriods), 0.2, 0.2 * 4 / std::sqrt(4.0 * kPeriods));
  EXPECT_NEAR(std::sqrt(yaw_squares / kPeriods), 9 * kDegree, 9 * kDegree * 4 / std::sqrt(2.0 * kPeriods));
}

TEST(Localization, JumpsComeAtTheirRate) {
  Drive run(with({{"jump_rate", number(0.5)}, {"jump_sigma", number(0.1)}}));
  int jumps = 0;
  constexpr int kPeriods = 2000;
  for (int i = 0; i < kPeriods; ++i) {
    const Pose2 error{run.seen().x - run.truth().x, run.seen().y - run.truth().y};
    run.step(-1, 0);  // it stands
    const Pose2 next{run.seen().x - run.truth().x, run.seen().y - run.truth().y};
    jumps += distance(error, next) > 1e-6 ? 1 : 0;
  }
  const double p = 1 - std::exp(-0.5 * 0.2);
  EXPECT_NEAR(jumps, p * kPeriods, 4 * std::sqrt(p * (1 - p) * kPeriods));
}

TEST(Localization, LatencyIsLinearBetweenTwoPeriods) {
  const Attributes common{{"drift", number(0.05)}, {"jump_rate", number(0.5)}, {"jump_sigma", number(0.1)}};
  Attributes late = common;
  late.push_back({"latency", number(0.5)});  // 2.5 control periods
  Drive now(with(common)), then(with(late));
  std::vector<Pose2> estimates{now.seen()};
  expect_near(then.seen(), now.seen(), 0);
  for (int i = 1; i < 30; ++i) {
    now.step();
    then.step();
    estimates.push_back(now.seen());
    const auto at = [&](int k) { return estimates[static_cast<size_t>(std::max(0, k))]; };
    const Pose2 a = at(i - 2), b = at(i - 3);
    expect_near(then.seen(), {(a.x + b.x) / 2, (a.y + b.y) / 2, (a.yaw + b.yaw) / 2});
  }
}

TEST(Localization, ObservationsSeeTheEstimateAndTheRestTheTruth) {
  Drive exact(shipped("nav_arena")), run(with({{"jump_sigma", number(0.3)}, {"jump_sigma_yaw", number(20)}}));
  for (int i = 0; i < 5; ++i) {
    exact.step();
    run.step();
  }
  expect_near(run.truth(), exact.truth(), 0);
  EXPECT_EQ(run.agent().reward_sums, exact.agent().reward_sums);
  const Pose2 seen = run.seen();
  const Vec2 to_goal = run.agent().goal - Vec2{seen.x, seen.y};
  const Vec2 d = Rotation2(seen.yaw).unrotate(to_goal);
  const std::vector<float> goal = run.observed(1), velocity = run.observed(2);
  EXPECT_NEAR(goal[0], norm(to_goal), 1e-5);
  EXPECT_NEAR(goal[1], d.x / norm(to_goal), 1e-5);
  EXPECT_NEAR(goal[2], d.y / norm(to_goal), 1e-5);
  EXPECT_NE(goal[0], exact.observed(1)[0]);
  // the default source of velocity is the odometry
  EXPECT_EQ(velocity[0], static_cast<float>(vehicle_odometry_twist(run.env.simulation, 0).vx));
  EXPECT_NE(velocity[0], exact.observed(2)[0]);
}

TEST(Localization, ThePlaceOnACentrelineIsThatOfTheEstimate) {
  EnvSpec spec = with({{"jump_sigma", number(0.5)}}, "race");
  Drive run(spec);
  run.step(0.5, 0);
  const auto& race = dynamic_cast<const RaceTracker&>(*run.task->trackers[1]);
  const auto& seen_race = dynamic_cast<const EstimatedTracker&>(*run.task->trackers[2]).inner();
  const auto* const localization = find_tracker<LocalizationTracker>(run.task->trackers);
  const Pose2 seen = localization->seen(run.agent());
  const double along = dynamic_cast<const RaceTracker&>(seen_race).state(run.agent()).along;
  EXPECT_NEAR(
      std::remainder(along - race.line(run.env).nearest({seen.x, seen.y}), race.line(run.env).length()), 0,
      1e-9);
  EXPECT_NE(along, race.state(run.agent()).along);
}

TEST(Localization, AMoveByTheCallerKeepsTheErrorInTheRobotsFrame) {
  Drive run(with({{"jump_sigma", number(0.3)}, {"jump_sigma_yaw", number(20)}}));
  for (int i = 0; i < 5; ++i) run.step();
  const auto error = [&] {
    const Pose2 truth = run.truth(), seen = run.seen();
    const Vec2 off = Rotation2(truth.yaw).unrotate({seen.x - truth.x, seen.y - truth.y});
    return Pose2{off.x, off.y, seen.yaw - truth.yaw};
  };
  const Pose2 before = error(), seen = run.seen();
  measure_again(*run.task, run.env);
  expect_near(run.seen(), seen, 0);
  run.env.simulation.place_vehicle(0, {0.5, -1, 2});
  measure_again(*run.task, run.env);
  expect_near(run.truth(), {0.5, -1, 2}, 1e-6);
  expect_near(error(), before);
}

TEST(Localization, AnEpisodeIsTheSameInEveryBatch) {
  const EnvSpec spec = with({{"level", text("strong")}});
  Batch one(spec, options(1)), many(spec, options(5, 2));
  const std::string alone = traces(one, 60, 2)[0];
  EXPECT_EQ(alone, traces(many, 60)[2]);
}

TEST(Localization, LevelsDrawWithinTheirRanges) {
  EnvSpec spec = with({{"level", text("standard")}, {"latency", number(0)}});
  apply_overrides(spec, dict({{"randomize", text("strong")}}));
  const auto task = compile_task(spec, load_options());
  EXPECT_EQ(find_tracker<LocalizationTracker>(task->trackers)->drift(), 0.02);
  EnvSpec plain = shipped("nav_arena");
  apply_overrides(plain, dict({{"randomize", text("strong")}}));
  const auto without = compile_task(plain, load_options());
  EXPECT_EQ(without->level_randomizations.size() + 1, task->level_randomizations.size());
  EXPECT_TRUE(without->trackers.empty());
  // without a level of its own the element has that of <randomize>
  EnvSpec bare = with({{"latency", number(0)}});
  apply_overrides(bare, dict({{"randomize", text("strong")}}));
  const auto strong = compile_task(bare, load_options());
  EXPECT_EQ(find_tracker<LocalizationTracker>(strong->trackers)->drift(), 0.04);
}

TEST(Localization, MistakesAreNamed) {
  EXPECT_NE(error_of({{"drift", number(-1)}}).find("drift: found '-1', expected >= 0 and <= 1"),
            std::string::npos);
  EXPECT_NE(error_of({{"latency", number(20)}}).find("latency: found '20', expected values from 0 to 12.8"),
            std::string::npos);
  EXPECT_NE(error_of({{"jump_rate", text("normal(1, 1)")}}).find("expected values from 0 to 1000"),
            std::string::npos);
  EXPECT_NE(error_of({{"jump_sigma", text("much")}}).find("jump_sigma"), std::string::npos);
  EXPECT_NE(error_of({{"level", text("weak")}}).find("'none' or 'standard' or 'strong'"), std::string::npos);
  EXPECT_NE(error_of({{"jump_sgma", number(1)}}).find("jump_sigma"), std::string::npos);
  EnvSpec blind = with({{"drift", number(0.1)}});
  apply_overrides(blind, dict({{"observe", dict({{"goal", off()}, {"velocity", off()}})}}));
  const auto task = compile_task(blind, load_options());
  ASSERT_EQ(task->warnings.size(), 1u);
  EXPECT_NE(task->warnings[0].find("no observation needs a pose"), std::string::npos);
}

}  // namespace
}  // namespace mvsim::localization_test
