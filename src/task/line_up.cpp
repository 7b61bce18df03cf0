#include "task/line_up.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "sim/measure.h"

namespace mvsim {
namespace {

constexpr int kTries = 400;
constexpr uint16_t kCommon = 0xffff;  // the random stream for all agents together

RandomStream stream_of(const EnvState& env, uint16_t index) {
  const SimState& s = env.simulation.state();
  return {s.key + kStepKeys * static_cast<uint64_t>(env.steps), s.episode, StreamPurpose::kSpawn, index};
}

// Returns the agents in a random order, the rearmost first.
std::vector<size_t> shuffled(size_t count, RandomStream& random) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(static_cast<uint32_t>(i))]);
  return order;
}

double length_of(const CourseLine& line) {
  return std::visit([](const auto* l) { return l->length(); }, line);
}

double nearest_on(const CourseLine& line, Vec2 point) {
  return std::visit([&](const auto* l) { return l->nearest(point); }, line);
}

double shortest_of(const std::vector<CourseLine>& lines) {
  double least = length_of(lines.front());
  for (const CourseLine& line : lines) least = std::min(least, length_of(line));
  return least;
}

}  // namespace

LineUp::LineUp(TermReader& reader, const TaskContext& context)
    : term_(reader.term()), vehicles_(context.agents.begin(), context.agents.end()) {
  for (const auto& tracker : context.trackers)
    if (lines_.empty()) lines_ = tracker->lines();
  if (lines_.empty())
    reader.fail(
        "line_up",
        "expected the attribute 'centreline' of <mvsim_env> or a <crop_rows> in it, along which to stand");
  const double length = shortest_of(lines_);
  for (const size_t v : vehicles_)
    if (const int group = context.model.bodies[context.model.vehicles[v].body].joint_group;
        group >= 0 && context.model.joint_groups[static_cast<size_t>(group)].tied)
      reader.fail("line_up", "the vehicle '" + context.model.vehicles[v].name +
                                 "' is joined to a static block and cannot be placed");
  lateral_ = reader.number("lateral", 0, {0, 1e4});
  yaw_ = kDegree * reader.number("yaw", 0, {0, 3600});
  speed_ = reader.interval("speed", {0, 1e4}).value_or(Interval{0, 0});
  gap_ = reader.interval("gap", kPositive).value_or(Interval{2, 2});
  clearance_ = reader.number("clearance", 0.05, kPositive);
  along_ = reader.intervals("along", {0, length});
  if (gap_.high * static_cast<double>(vehicles_.size()) > length)
    reader.fail("gap", "the agents would need more than the " + std::to_string(length) + " m of the line");
}

void LineUp::place(const Pose2& pose, double speed, EnvState& env, size_t agent) const {
  env.simulation.place_vehicle(vehicles_[agent], pose);
  if (speed > 0) env.simulation.set_vehicle_twist(vehicles_[agent], {speed, 0, 0});
  env.agents[agent].start = {pose.x, pose.y};
  env.agents[agent].field.reset();
}

double LineUp::draw_along(const CourseLine& line, RandomStream& random) const {
  if (along_.empty()) return length_of(line) * random.uniform();
  const size_t part = along_.size() == 1 ? 0 : random.below(static_cast<uint32_t>(along_.size()));
  return random.uniform(along_[part].low, along_[part].high);
}

Pose2 LineUp::draw_pose(const CourseLine& line, double along, RandomStream& random) const {
  const Pose2 pose = std::visit([&](const auto* l) { return l->at(along); }, line);
  const Vec2 aside = Rotation2(pose.yaw).rotate({0, lateral_ * random.normal()});
  return {pose.x + aside.x, pose.y + aside.y, pose.yaw + yaw_ * random.normal()};
}

bool LineUp::is_free(const EnvState& env, size_t agent) const {
  return clearance(env.simulation, vehicles_[agent], clearance_) >= clearance_;
}

// Whether all agents have room. Agents with a pose from the caller must only not touch anything.
bool LineUp::are_free(const EnvState& env) const {
  for (size_t agent = 0; agent < vehicles_.size(); ++agent)
    if (given_start(env, agent).pose ? clearance(env.simulation, vehicles_[agent], clearance_) <= 0
                                     : !is_free(env, agent))
      return false;
  return true;
}

void LineUp::place_all(EnvState& env, const Poll& poll) const {
  const CourseLine& line = line_of(env);
  RandomStream common = stream_of(env, kCommon);
  const auto first_given =
      std::ranges::find_if(env.given, [](const GivenStart& given) { return given.pose.has_value(); });
  const bool any_given = first_given != env.given.end();
  for (int i = 0; i < kTries; ++i) {
    if (poll) poll();
    double along = draw_along(line, common);
    const double speed = common.uniform(speed_.low, speed_.high);
    const std::vector<size_t> order = shuffled(vehicles_.size(), common);
    std::vector<double> places(order.size());
    for (const size_t agent : order) {
      places[agent] = along;
      along += common.uniform(gap_.low, gap_.high);
    }
    double moved = 0;  // shift that aligns the others with the first given pose
    if (any_given)
      moved = nearest_on(line, {first_given->pose->x, first_given->pose->y}) -
              places[static_cast<size_t>(first_given - env.given.begin())];
    for (size_t agent = 0; agent < places.size(); ++agent) {
      const auto pose = given_start(env, agent).pose;
      place(pose ? *pose : draw_pose(line, places[agent] + moved, common), speed, env, agent);
    }
    if (are_free(env)) return;
  }
  if (any_given)
    throw Error(
        "no episode can start: an agent touches something at its given pose, or the others have no room "
        "beside it, expected a free pose");
  fail();
}

void LineUp::place_one(EnvState& env, size_t agent, const Poll& poll) const {
  const CourseLine& line = line_of(env);
  RandomStream random = stream_of(env, static_cast<uint16_t>(agent));
  for (int i = 0; i < kTries; ++i) {
    if (poll) poll();
    const double along = draw_along(line, random);
    const double speed = random.uniform(speed_.low, speed_.high);
    place(draw_pose(line, along, random), speed, env, agent);
    if (is_free(env, agent)) return;
  }
  fail();
}

void LineUp::fail() const {
  throw WorldFileError(term_.params.where, "<line_up>: no episode can start: " + std::to_string(kTries) +
                                               " tries found no place on the line where every agent is " +
                                               "as far from everything as the attribute 'clearance' asks");
}

}  // namespace mvsim
