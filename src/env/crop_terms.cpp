#include "env/crop_terms.h"

namespace mvsim {
namespace {

void need_rows(const TermReader& reader, const TaskContext& context) {
  if (context.crop_paths.empty()) reader.fail("class", "expected a <crop_rows> in <mvsim_env>");
}

// Metres along the path through the rows; the sum over an episode is how far the agent came.
class RowProgress final : public Reward {
 public:
  double value(const EnvState&, const AgentState& agent) const override {
    return agent.crop.along - agent.crop.before;
  }
};

// 1 for each alley whose end is reached for the first time.
class RowEnd final : public Reward {
 public:
  double value(const EnvState&, const AgentState& agent) const override {
    return agent.crop.done - agent.crop.done_before;
  }
};

// Metres between the agent and its place on the path.
class RowOffset final : public Reward {
 public:
  explicit RowOffset(const std::vector<CropPath>& paths) : paths_(paths) {}
  double value(const EnvState& env, const AgentState& agent) const override {
    const Pose2 place = paths_[env.variant].at(agent.crop.along);
    return norm(Vec2{agent.now.pose.x - place.x, agent.now.pose.y - place.y});
  }

 private:
  const std::vector<CropPath>& paths_;  // of the task, which outlives its terms
};

// After so many alleys.
class Rows final : public Termination {
 public:
  explicit Rows(int count) : count_(count) {}
  bool holds(const EnvState&, const AgentState& agent) const override { return agent.crop.done >= count_; }
  Verdict verdict() const override { return Verdict::kSuccess; }

 private:
  int count_;
};

// Of the alley in which the robot is, or to which the headland leads, from 0 on; of all when the last is
// done.
class RowIndex final : public ObservationOf<float> {
 public:
  explicit RowIndex(const std::vector<CropPath>& paths) : paths_(paths) {}
  std::vector<Interval> bounds() const override {
    return {{0, static_cast<double>(paths_.front().alleys())}};
  }
  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    *out = static_cast<float>(paths_[env.variant].alleys_before(agent.crop.farthest));
  }

 private:
  const std::vector<CropPath>& paths_;  // of the task, which outlives its terms
};

// 0 for the first alley, 1 for the second, 0 for the third...
class RowParity final : public ObservationOf<float> {
 public:
  explicit RowParity(const std::vector<CropPath>& paths) : paths_(paths) {}
  std::vector<Interval> bounds() const override { return {{0, 1}}; }
  void write(EnvState& env, AgentState& agent, Scratch&, float* out) const override {
    *out = paths_[env.variant].alleys_before(agent.crop.farthest) % 2 == 1 ? 1.0F : 0.0F;
  }

 private:
  const std::vector<CropPath>& paths_;  // of the task, which outlives its terms
};

}  // namespace

std::unique_ptr<const Reward> make_row_progress(TermReader& reader, TaskContext& context) {
  need_rows(reader, context);
  return std::make_unique<RowProgress>();
}

std::unique_ptr<const Reward> make_row_end(TermReader& reader, TaskContext& context) {
  need_rows(reader, context);
  return std::make_unique<RowEnd>();
}

std::unique_ptr<const Reward> make_row_offset(TermReader& reader, TaskContext& context) {
  need_rows(reader, context);
  return std::make_unique<RowOffset>(context.crop_paths);
}

std::unique_ptr<const Termination> make_rows(TermReader& reader, TaskContext& context) {
  need_rows(reader, context);
  const auto alleys = static_cast<int>(context.crop_paths.front().alleys());
  return std::make_unique<Rows>(reader.integer("count", alleys, 1, alleys));
}

std::unique_ptr<const Observation> make_row_index(TermReader& reader, TaskContext& context) {
  need_rows(reader, context);
  return std::make_unique<RowIndex>(context.crop_paths);
}

std::unique_ptr<const Observation> make_row_parity(TermReader& reader, TaskContext& context) {
  need_rows(reader, context);
  return std::make_unique<RowParity>(context.crop_paths);
}

}  // namespace mvsim
