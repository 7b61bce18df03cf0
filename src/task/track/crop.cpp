// Crop rows: the tracker, its rewards (row_progress, row_end, row_offset), its observations (row_error,
// row_index, row_parity) and its termination (rows).
#include "task/track/crop.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "base/archive.h"
#include "task/make_term.h"
#include "task/track/localization.h"

namespace mvsim {
namespace {

std::vector<Vec2> plants_of(const Model& model, const std::string& pattern) {
  std::vector<Vec2> plants;
  for (const BlockModel& block : model.blocks)
    if (matches_pattern(pattern, block.name)) plants.push_back({block.initial_pose.x, block.initial_pose.y});
  return plants;
}

const CropTracker& need_rows(const TermReader& reader, const TaskContext& context) {
  const auto* const rows = find_tracker<CropTracker>(context.trackers);
  if (!rows) reader.fail("class", "expected a <crop_rows> in <mvsim_env>");
  return *rows;
}

// Returns the rows by the poses that observations see.
const CropTracker& need_seen_rows(const TermReader& reader, const TaskContext& context) {
  need_rows(reader, context);
  return *find_seen_tracker<CropTracker>(context);
}

}  // namespace

// Makes the path through the rows of each world, which <crop_rows> names.
template <>
std::unique_ptr<Tracker> tracker<CropTracker>(const TrackerContext& context) {
  constexpr size_t kMaxRows = 1000;
  TermReader reader(*context.element);
  std::istringstream words(reader.required_text("blocks"));
  std::vector<std::string> patterns;
  for (std::string word; words >> word;) patterns.push_back(std::move(word));
  if (patterns.size() < CropPath::kMinRows || patterns.size() > kMaxRows)
    reader.fail("blocks", "found " + std::to_string(patterns.size()) +
                              " patterns of names, expected one for each row, 2 to 1000 of them");
  const double headland = reader.number("headland", 1.5, kPositive);
  reader.finish();
  std::vector<CropPath> paths;
  for (const auto& model : context.models) {
    std::vector<std::vector<Vec2>> rows;
    for (const std::string& pattern : patterns) {
      context.guard.poll();
      rows.push_back(plants_of(*model, pattern));
      if (rows.back().size() >= CropPath::kMinPlants) continue;
      reader.fail("blocks", "found '" + shortened(pattern) + "', which matches " +
                                std::to_string(rows.back().size()) +
                                " blocks of the world, expected the plants of a row, 2 at least" +
                                did_you_mean(pattern, names_in(model->blocks)));
    }
    try {
      paths.emplace_back(rows, headland);
    } catch (const WorldFileError&) {
      throw;
    } catch (const Error& e) {
      reader.fail("blocks", e.what());
    }
  }
  return std::make_unique<CropTracker>(std::move(paths));
}

void CropTracker::start(const TrackerView& view) const {
  CropState& crop = state(view.agent);
  crop = {};
  crop.along = crop.farthest = crop.start = path(view.env).nearest(view.position());
  measure(view);
  begin_period(view);
}

void CropTracker::begin_period(const TrackerView& view) const {
  CropState& crop = state(view.agent);
  crop.before = crop.along;
  crop.done_before = crop.done;
}

void CropTracker::measure(const TrackerView& view) const {
  CropState& crop = state(view.agent);
  const CropPath& way = path(view.env);
  crop.along = way.nearest(view.position(), crop.along);
  if (crop.along <= crop.farthest) return;
  crop.done += static_cast<double>(way.alleys_before(crop.along)) -
               static_cast<double>(way.alleys_before(crop.farthest));
  crop.farthest = crop.along;
}

void CropTracker::moved(const TrackerView& view) const {
  CropState& crop = state(view.agent);
  const double was = crop.along;
  crop.along = crop.before = crop.farthest = path(view.env).nearest(view.position());
  crop.start += crop.along - was;
}

void CropTracker::hash(ArchiveHasher& hasher) const {
  for (const CropPath& path : paths_)
    for (const Vec2 p : path.points()) hasher(p);
}

std::vector<CourseLine> CropTracker::lines() const {
  std::vector<CourseLine> lines;
  for (const CropPath& path : paths_) lines.emplace_back(&path);
  return lines;
}

// Metres along the path through the rows. The sum over an episode is the agent's progress.
template <>
std::unique_ptr<const Reward> term<class RowProgressReward>(TermReader& reader, TaskContext& context) {
  return reward([&rows = need_rows(reader, context)](const EnvState&, const AgentState& agent) {
    return rows.state(agent).along - rows.state(agent).before;
  });
}

// 1 for each alley whose end is reached for the first time.
template <>
std::unique_ptr<const Reward> term<class RowEndReward>(TermReader& reader, TaskContext& context) {
  return reward([&rows = need_rows(reader, context)](const EnvState&, const AgentState& agent) {
    return rows.state(agent).done - rows.state(agent).done_before;
  });
}

// Metres between the agent and its place on the path.
template <>
std::unique_ptr<const Reward> term<class RowOffsetReward>(TermReader& reader, TaskContext& context) {
  return reward([&rows = need_rows(reader, context)](const EnvState& env, const AgentState& agent) {
    const Pose2 place = rows.path(env).at(rows.state(agent).along);
    return norm(Vec2{agent.now.pose.x - place.x, agent.now.pose.y - place.y});
  });
}

// Ends after a number of alleys.
template <>
std::unique_ptr<const Termination> term<class RowsTermination>(TermReader& reader, TaskContext& context) {
  const CropTracker& rows = need_rows(reader, context);
  const auto alleys = static_cast<int>(rows.paths().front().alleys());
  const int count = reader.integer("count", alleys, 1, alleys);
  return termination(Verdict::kSuccess, [&rows, count](const EnvState&, const AgentState& agent) {
    return rows.state(agent).done >= count;
  });
}

// Offset from the path through the rows (m, positive to its left) and heading relative to it (rad).
template <>
std::unique_ptr<const Observation> term<class RowErrorObservation>(TermReader& reader, TaskContext& context) {
  const CropTracker& rows = need_seen_rows(reader, context);
  const SeenPose seen(context);
  const double max_offset = reader.number("max_offset", 2, kPositive);
  return observation({symmetric(max_offset), symmetric(kPi)},
                     [&rows, seen](EnvState& env, AgentState& agent, float* out) {
                       const SeenPose::At here = seen.of(agent);
                       const Pose2 place = rows.path(env).at(rows.state(agent).along);
                       const Vec2 off = Rotation2(place.yaw).unrotate(here.position - Vec2{place.x, place.y});
                       *out++ = static_cast<float>(std::copysign(norm(off), off.y));
                       *out = static_cast<float>(std::remainder(here.yaw - place.yaw, 2 * kPi));
                     });
}

// Index, from 0, of the robot's alley, or of the alley after its headland. After the last alley it is their
// number.
template <>
std::unique_ptr<const Observation> term<class RowIndexObservation>(TermReader& reader, TaskContext& context) {
  const CropTracker& rows = need_seen_rows(reader, context);
  const auto alleys = static_cast<double>(rows.paths().front().alleys());
  return observation({{0, alleys}}, [&rows](EnvState& env, AgentState& agent, float* out) {
    *out = static_cast<float>(rows.path(env).alleys_before(rows.state(agent).farthest));
  });
}

// 0 for the first alley, 1 for the second, 0 for the third...
template <>
std::unique_ptr<const Observation> term<class RowParityObservation>(TermReader& reader,
                                                                    TaskContext& context) {
  const CropTracker& rows = need_seen_rows(reader, context);
  return observation({{0, 1}}, [&rows](EnvState& env, AgentState& agent, float* out) {
    *out = rows.path(env).alleys_before(rows.state(agent).farthest) % 2 == 1 ? 1.0F : 0.0F;
  });
}

}  // namespace mvsim
