// Crop rows: the tracker, its rewards (row_progress, row_end, row_offset), its observations (row_index,
// row_parity) and its termination (rows).
#include "task/track/crop.h"

#include <algorithm>
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
      std::vector<std::string> names(model->blocks.size());
      std::ranges::transform(model->blocks, names.begin(), &BlockModel::name);
      reader.fail("blocks", "found '" + shortened(pattern) + "', which matches " +
                                std::to_string(rows.back().size()) +
                                " blocks of the world, expected the plants of a row, 2 at least" +
                                did_you_mean(pattern, names));
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
class RowProgressReward final : public Reward {
 public:
  RowProgressReward(TermReader& reader, TaskContext& context) : rows_(need_rows(reader, context)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return rows_.state(agent).along - rows_.state(agent).before;
  }

 private:
  const CropTracker& rows_;
};
template std::unique_ptr<const Reward> term<RowProgressReward>(TermReader&, TaskContext&);

// 1 for each alley whose end is reached for the first time.
class RowEndReward final : public Reward {
 public:
  RowEndReward(TermReader& reader, TaskContext& context) : rows_(need_rows(reader, context)) {}
  double value(const EnvState&, const AgentState& agent) const override {
    return rows_.state(agent).done - rows_.state(agent).done_before;
  }

 private:
  const CropTracker& rows_;
};
template std::unique_ptr<const Reward> term<RowEndReward>(TermReader&, TaskContext&);

// Metres between the agent and its place on the path.
class RowOffsetReward final : public Reward {
 public:
  RowOffsetReward(TermReader& reader, TaskContext& context) : rows_(need_rows(reader, context)) {}
  double value(const EnvState& env, const AgentState& agent) const override {
    const Pose2 place = rows_.path(env).at(rows_.state(agent).along);
    return norm(Vec2{agent.now.pose.x - place.x, agent.now.pose.y - place.y});
  }

 private:
  const CropTracker& rows_;
};
template std::unique_ptr<const Reward> term<RowOffsetReward>(TermReader&, TaskContext&);

// Ends after a number of alleys.
class RowsTermination final : public Termination {
 public:
  RowsTermination(TermReader& reader, TaskContext& context) : rows_(need_rows(reader, context)) {
    const auto alleys = static_cast<int>(rows_.paths().front().alleys());
    count_ = reader.integer("count", alleys, 1, alleys);
  }
  bool holds(const EnvState&, const AgentState& agent) const override {
    return rows_.state(agent).done >= count_;
  }
  Verdict verdict() const override { return Verdict::kSuccess; }

 private:
  const CropTracker& rows_;
  int count_ = 0;
};
template std::unique_ptr<const Termination> term<RowsTermination>(TermReader&, TaskContext&);

// Index, from 0, of the robot's alley, or of the alley after its headland. After the last alley it is their
// number.
class RowIndexObservation final : public ObservationOf<float> {
 public:
  RowIndexObservation(TermReader& reader, TaskContext& context) : rows_(need_seen_rows(reader, context)) {}
  std::vector<Interval> bounds() const override {
    return {{0, static_cast<double>(rows_.paths().front().alleys())}};
  }
  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    *out = static_cast<float>(rows_.path(env).alleys_before(rows_.state(agent).farthest));
  }

 private:
  const CropTracker& rows_;
};
template std::unique_ptr<const Observation> term<RowIndexObservation>(TermReader&, TaskContext&);

// 0 for the first alley, 1 for the second, 0 for the third...
class RowParityObservation final : public ObservationOf<float> {
 public:
  RowParityObservation(TermReader& reader, TaskContext& context) : rows_(need_seen_rows(reader, context)) {}
  std::vector<Interval> bounds() const override { return {{0, 1}}; }
  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    *out = rows_.path(env).alleys_before(rows_.state(agent).farthest) % 2 == 1 ? 1.0F : 0.0F;
  }

 private:
  const CropTracker& rows_;
};
template std::unique_ptr<const Observation> term<RowParityObservation>(TermReader&, TaskContext&);

}  // namespace mvsim
