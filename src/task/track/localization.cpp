#include "task/track/localization.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/archive.h"
#include "base/math.h"

namespace mvsim {
namespace {

constexpr double kMostPeriods = 64;  // longest latency
constexpr double kFarthest = 1e7;    // m or rad: no estimate is beyond it

// The levels. docs/env-randomisation.md has the same table.
struct Level {
  const char *jump_rate, *jump_sigma, *jump_sigma_yaw;
  double latency;  // largest, control periods
  std::optional<double> drift;
};
const Level kLevels[] = {
    {"0", "0", "0", 0, std::nullopt},
    {"uniform(0.1, 0.5)", "uniform(0, 0.05)", "uniform(0, 2)", 1, 0.02},
    {"uniform(0.05, 0.5)", "uniform(0, 0.15)", "uniform(0, 5)", 2, 0.04},
};

// Returns the level of the element, or else that of <randomize>.
const Level& level_of(TermReader& reader, const EnvSpec& spec) {
  const std::vector<std::string> names{"none", "standard", "strong"};
  if (reader.has("level")) return kLevels[reader.choice("level", names)];
  const auto found = std::ranges::find(names, spec.randomize_level.text);
  return kLevels[found == names.end() ? 0 : found - names.begin()];
}

Distribution read_distribution(TermReader& reader, const char* name, const std::string& fallback,
                               double max) {
  const bool given = reader.has(name);
  const NamedText text =
      given ? *reader.term().params.find(name) : NamedText{name, fallback, reader.term().params.where};
  Distribution out(text);
  if (out.low() < 0 || out.high() > max)
    reader.fail(name, "found '" + shortened(text.text) + "', expected values from 0 to " + short_number(max));
  return out;
}

std::string up_to(double value) {
  return "uniform(0, " + short_number(value, 9) + ")";
}

RandomStream stream_of(const TrackerView& view, StreamPurpose purpose) {
  const auto agent = static_cast<uint16_t>(&view.agent - view.env.agents.data());
  return {view.env.key + kStepKeys * static_cast<uint64_t>(view.env.steps), view.env.next_episode - 1,
          purpose, agent};
}

const Pose2& odometry_of(const TrackerView& view) {
  return view.env.simulation.state().vehicles[view.vehicle].odometry;
}

// The pose of frame b in a, from those of c in both: T_a_b = T_a_c (+) T_c_b.
Pose2 between(const Pose2& T_a_c, const Pose2& T_b_c) {
  const double yaw = T_a_c.yaw - T_b_c.yaw;
  const Vec2 p = Rotation2(yaw).rotate({T_b_c.x, T_b_c.y});
  return {T_a_c.x - p.x, T_a_c.y - p.y, yaw};
}

// An error with standard deviations of 1.
Pose2 draw_error(RandomStream& random) {
  Pose2 error;
  error.x = random.normal();
  error.y = random.normal();
  error.yaw = random.normal();
  return error;
}

// Sets the correction so that the estimate is the true pose plus this error, scaled.
void jump(const TrackerView& view, LocalizationState& own, const Pose2& error) {
  const Pose2 estimate{view.pose.x + own.jump_sigma * error.x, view.pose.y + own.jump_sigma * error.y,
                       view.pose.yaw + own.jump_sigma_yaw * error.yaw};
  own.T_map_odom = between(estimate, odometry_of(view));
}

// A snapshot may hold any numbers.
Pose2 bounded(const Pose2& pose) {
  const auto within = [](double value) { return value >= -kFarthest && value <= kFarthest ? value : 0.0; };
  return {within(pose.x), within(pose.y), within(pose.yaw)};
}

}  // namespace

template <>
std::unique_ptr<Tracker> tracker<LocalizationTracker>(const TrackerContext& context) {
  TermReader reader(*context.element);
  auto out = std::make_unique<LocalizationTracker>(reader, context);
  reader.finish();
  return out;
}

LocalizationTracker::LocalizationTracker(TermReader& reader, const TrackerContext& context)
    : where_(reader.term().params.where),
      jump_rate_(read_distribution(reader, "jump_rate", level_of(reader, context.spec).jump_rate, 1000)),
      jump_sigma_(read_distribution(reader, "jump_sigma", level_of(reader, context.spec).jump_sigma, 1000)),
      jump_sigma_yaw_(
          read_distribution(reader, "jump_sigma_yaw", level_of(reader, context.spec).jump_sigma_yaw, 180)),
      latency_(read_distribution(reader, "latency",
                                 up_to(level_of(reader, context.spec).latency * context.spec.control_period),
                                 kMostPeriods * context.spec.control_period)),
      drift_(level_of(reader, context.spec).drift) {
  if (reader.has("drift")) drift_ = reader.number("drift", 0, {0, 1});
  const double periods = latency_.high() / context.spec.control_period;
  places_ = periods > 0 ? static_cast<size_t>(std::ceil(periods)) + 1 : 1;
}

void LocalizationTracker::start(const TrackerView& view) const {
  RandomStream random = stream_of(view, StreamPurpose::kLocalizationStart);
  const Pose2 error = draw_error(random);  // first: it does not depend on the kinds of distributions
  LocalizationState& own = state(view.agent);
  own = {};
  own.jump_probability = 1 - math::exp(-jump_rate_.draw(random) * view.period);
  own.jump_sigma = jump_sigma_.draw(random);
  own.jump_sigma_yaw = kDegree * jump_sigma_yaw_.draw(random);
  own.latency = latency_.draw(random) / view.period;
  own.truth = view.pose;
  jump(view, own, error);
  fill(view);
}

void LocalizationTracker::measure(const TrackerView& view) const {
  LocalizationState& own = state(view.agent);
  RandomStream random = stream_of(view, StreamPurpose::kLocalization);
  if (random.uniform() < own.jump_probability) jump(view, own, draw_error(random));
  own.truth = view.pose;
  ring(view.agent)[static_cast<size_t>(view.env.steps) % places_] =
      bounded(compose(own.T_map_odom, odometry_of(view)));
  look_back(view);
}

void LocalizationTracker::moved(const TrackerView& view) const {
  LocalizationState& own = state(view.agent);
  const Pose2 &was = own.truth, &now = view.pose;
  if (was.x == now.x && was.y == now.y && was.yaw == now.yaw) return;
  // T_now_was keeps the estimate where it was relative to the robot
  own.T_map_odom = compose(between(now, was), own.T_map_odom);
  own.truth = now;
  fill(view);
}

void LocalizationTracker::hash(ArchiveHasher& hasher) const {
  hasher(places_);
}

// Sets all estimates of the ring to the present one.
void LocalizationTracker::fill(const TrackerView& view) const {
  LocalizationState& own = state(view.agent);
  own.seen = bounded(compose(own.T_map_odom, odometry_of(view)));
  std::fill_n(ring(view.agent), places_, own.seen);
}

// Finds the estimate of `latency` ago, linearly between the ends of two control periods.
void LocalizationTracker::look_back(const TrackerView& view) const {
  LocalizationState& own = state(view.agent);
  const Pose2* const kept = ring(view.agent);
  const auto most = static_cast<double>(places_ - 1);
  const double latency = own.latency >= 0 && own.latency <= most ? own.latency : 0;
  const auto back = static_cast<size_t>(latency);
  const double share = latency - static_cast<double>(back);
  const auto at = [&](size_t periods) {
    return kept[(static_cast<size_t>(view.env.steps) + places_ - periods % places_) % places_];
  };
  own.seen = at(back);
  if (share == 0) return;
  const Pose2 older = at(back + 1);
  own.seen.x += share * (older.x - own.seen.x);
  own.seen.y += share * (older.y - own.seen.y);
  own.seen.yaw += share * std::remainder(older.yaw - own.seen.yaw, 2 * kPi);
}

SeenPose::SeenPose(const TaskContext& context)
    : localization_(find_tracker<LocalizationTracker>(context.trackers)) {
  context.needs.localization = true;
}

}  // namespace mvsim
