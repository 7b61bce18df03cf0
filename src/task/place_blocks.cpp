// <place blocks="pattern" .../>: moves blocks to random poses, with random sizes, at the start of an episode:
// to any pose of an area, or to poses of a list.
#include <algorithm>
#include <cstdio>

#include "sim/measure.h"
#include "sim/rigid_body_solver.h"
#include "task/make_term.h"
#include "task/plan/planning_grid.h"
#include "worldfile/expression.h"

namespace mvsim {
namespace {

constexpr int kBlockTries = 200;
constexpr double kParked = 1e6;  // m, out of the way of blocks that are placed first

}  // namespace

class PlaceBlocks final : public ResetTerm {
 public:
  PlaceBlocks(TermReader& reader, TaskContext& context)
      : vehicle_(context.vehicle), area_(read_area(reader, context.model)) {
    const std::string pattern = reader.required_text("blocks");
    std::vector<std::string> names;
    for (size_t i = 0; i < context.model.blocks.size(); ++i) {
      const BlockModel& block = context.model.blocks[i];
      names.push_back(block.name);
      if (matches_pattern(pattern, block.name)) blocks_.push_back(i);
    }
    check_count(reader, pattern, names);
    margin_ = reader.number("margin", 0, kNotNegative);
    gap_ = reader.number("gap", 0, kNotNegative);
    radius_ = reader.interval("radius", kPositive);
    if (radius_) check_radius(reader, context.model);
    read_poses(reader, context.model);
  }

  void apply(EnvState& env, RandomStream& random, const Poll& poll) const override {
    Simulation& s = env.simulation;
    const Vec2 parked = s.model().origin + Vec2{kParked, kParked};
    for (size_t k = 0; k < blocks_.size(); ++k)
      s.place_block(blocks_[k], {parked.x + 100.0 * static_cast<double>(k), parked.y, 0});
    if (!poses_.empty()) return place_at_poses(env, random);
    for (size_t block : blocks_) place(env, block, random, poll);
  }

 private:
  void read_poses(TermReader& reader, const Model& model) {
    poses_ = reader.poses("poses");
    if (poses_.empty()) return;
    for (const char* other : {"area", "margin", "gap", "radius"})
      if (reader.has(other)) reader.fail(other, "found beside 'poses', expected one of them");
    for (const Pose2& pose : poses_) check_inside(reader, "poses", model, {pose.x, pose.y});
    if (poses_.size() < blocks_.size())
      reader.fail("poses", "found " + std::to_string(poses_.size()) + " poses for " +
                               std::to_string(blocks_.size()) + " blocks, expected at least as many");
  }

  // Places each block at another pose of the list. Poses near a start or a goal of the caller come last.
  void place_at_poses(EnvState& env, RandomStream& random) const {
    std::vector<Pose2> left = poses_;
    for (const size_t block : blocks_) {
      const BlockModel& model = env.simulation.model().blocks[block];
      const double radius = env.simulation.state().params[model.params + kBlockScale] * model.shape.radius;
      size_t chosen = 0;
      for (int i = 0; i < kBlockTries; ++i) {
        chosen = random.below(static_cast<uint32_t>(left.size()));
        if (room_to_given(env, {left[chosen].x, left[chosen].y}, radius) >= 0) break;
      }
      env.simulation.place_block(block, left[chosen]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }

  // Refuses a pattern that matches nothing, which is usually a mistake. A count may state that there may be
  // no block.
  void check_count(TermReader& reader, const std::string& pattern,
                   const std::vector<std::string>& names) const {
    constexpr int kAny = -1, kMost = 1000000;
    const int count = reader.has("count") ? reader.integer("count", kAny, 0, kMost) : kAny;
    const size_t found = blocks_.size();
    if (count == kAny ? found > 0 : found == static_cast<size_t>(count)) return;
    reader.fail("blocks", "found '" + pattern + "', which matches " + std::to_string(found) +
                              " blocks of the world, expected " +
                              (count == kAny ? std::string("at least one") : std::to_string(count)) +
                              did_you_mean(pattern, names));
  }

  // Refuses radii whose scale is out of range.
  void check_radius(TermReader& reader, const Model& model) const {
    for (const size_t i : blocks_) {
      const BlockModel& block = model.blocks[i];
      const ParamInfo& scale = model.params[block.params + kBlockScale].info;
      const double low = scale.min * block.shape.radius, high = scale.max * block.shape.radius;
      if (radius_->low >= low && radius_->high <= high) continue;
      char expected[96];
      std::snprintf(expected, sizeof expected, "expected radii from %.3g to %.3g m", low, high);
      reader.fail("radius", "found '" + reader.text("radius", "") + "', " + expected + " for the block '" +
                                block.name + "' (it has " + number_text(block.shape.radius) + " m)");
    }
  }

  // Places a block at the first of some random poses that keeps the distances, else at the one that is
  // nearest to it.
  void place(EnvState& env, size_t index, RandomStream& random, const Poll& poll) const {
    Simulation& s = env.simulation;
    const BlockModel& block = s.model().blocks[index];
    const Rect area = area_of(area_, s.model());
    if (radius_) {
      const ParamInfo& range = s.model().params[block.params + kBlockScale].info;
      const double scale = random.uniform(radius_->low, radius_->high) / block.shape.radius;
      if (!is_held(env, s.model().params[block.params + kBlockScale].path))
        s.set_param(block.params + kBlockScale, std::clamp(scale, range.min, range.max));
    }
    const double radius = s.state().params[block.params + kBlockScale] * block.shape.radius;
    double best = -1e300;
    Pose2 best_pose;
    for (int i = 0; i < kBlockTries && best < 0; ++i) {
      if (poll) poll();
      const Pose2 pose{random.uniform(area.x_min, area.x_max), random.uniform(area.y_min, area.y_max),
                       random.uniform(-kPi, kPi)};
      const double excess = room(env, {pose.x, pose.y}, radius);
      if (excess <= best) continue;
      best = excess;
      best_pose = pose;
    }
    s.place_block(index, best_pose);
  }

  static bool is_held(const EnvState& env, const std::string& path) {
    return std::any_of(env.held.begin(), env.held.end(),
                       [&](const HeldParam& held) { return matches_pattern(held.pattern, path); });
  }

  // Returns the smallest excess of the distances to walls and to bodies over the wanted ones, at most 0.
  double room(const EnvState& env, Vec2 center, double radius) const {
    const Simulation& s = env.simulation;
    const double to_walls = radius + margin_, to_others = radius + gap_;
    double excess = std::min(0.0, distance_to_fixed(s.model(), center, to_walls) - to_walls);
    if (!is_known_ground(s.model(), center)) excess -= to_walls;
    excess = std::min(excess, room_to_given(env, center, radius));
    return std::min(excess,
                    distance_to_obstacles(s, center, to_others, static_cast<int>(vehicle_)) - to_others);
  }

  // Returns the smallest excess of the distances to starts and goals of the caller, at most 0.
  static double room_to_given(const EnvState& env, Vec2 center, double radius) {
    const Model& m = env.simulation.model();
    double excess = 0;
    for (const GivenStart& given : env.given) {
      const double to_robot = radius + m.vehicles[given.vehicle].radius + m.collision_threshold + kSkins;
      if (given.pose) excess = std::min(excess, norm(center - Vec2{given.pose->x, given.pose->y}) - to_robot);
      if (given.goal) excess = std::min(excess, norm(center - *given.goal) - to_robot);
    }
    return excess;
  }

  size_t vehicle_;
  std::optional<Rect> area_;
  std::vector<size_t> blocks_;
  double margin_ = 0, gap_ = 0;
  std::optional<Interval> radius_;
  std::vector<Pose2> poses_;  // one for each block, if there are any
};
template std::unique_ptr<const ResetTerm> term<PlaceBlocks>(TermReader&, TaskContext&);

}  // namespace mvsim
