// Runs the observation and action code of an environment on readings of a real robot. Readings are written to
// the places of the simulation's sensors. The same functions then compute the observation, and the command of
// an action. No world is stepped. One thread at a time.
//
//   begin -> (readings -> observe -> command)...
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "episode/episode.h"
#include "episode/pipeline_sources.h"
#include "sim/simulation.h"
#include "task/task.h"
#include "views/view_moment.h"

namespace mvsim {

// An observation with frames from the caller.
class GivenFrame final : public Observation {
 public:
  explicit GivenFrame(std::unique_ptr<const Observation> term)
      : term_(std::move(term)), frame_(term_->bounds().size() * size_of(term_->dtype())) {}

  std::vector<Interval> bounds() const override { return term_->bounds(); }
  DType dtype() const override { return term_->dtype(); }
  std::vector<size_t> shape() const override { return term_->shape(); }
  void write_frame(EnvState&, AgentState&, Scratch&, std::byte* out) const override {
    std::ranges::copy(frame_, out);
  }
  std::span<std::byte> frame() { return frame_; }

 private:
  std::unique_ptr<const Observation> term_;
  std::vector<std::byte> frame_;
};

class Pipeline {
 public:
  // Makes the pipeline of one agent. `given` has the keys of observations whose values the caller gives
  // instead. Randomised imperfections are left out, since a real robot has its own. Throws WorldFileError,
  // and Error for an observation that is not available on a robot.
  Pipeline(const EnvSpec& spec, const EnvLoadOptions& options, size_t agent,
           const std::vector<std::string>& given);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  std::shared_ptr<const Model> model() const { return task_->models.front(); }
  size_t vehicle() const { return agent_task_->vehicle; }  // in Model::vehicles
  const std::vector<std::string>& warnings() const { return task_->warnings; }
  double control_period() const { return task_->control_period; }  // s
  bool has_goal() const { return agent_task_->start_and_goal.has_goal(); }
  double goal_radius() const { return agent_task_->goal_radius; }  // m, of the termination if there is one
  // Whether the environment randomises the delay of the sensor's readings, or leaves some out.
  bool may_be_late(size_t sensor) const;
  const std::vector<ObservationSource>& sources() const { return sources_; }
  const std::vector<ObservationSpec>& observations() const { return task_->observation_specs; }
  std::vector<std::string> action_names() const;
  std::vector<double> action_low() const, action_high() const;  // physical values of -1 and 1

  // Starts a new episode: clears readings, history and the last action.
  void begin();

  // -- readings; each holds until the next of its kind. Throw Error for a sensor or a size that does not fit
  // Ranges of a lidar on the beams of the sensor.
  ScanFit scan(size_t sensor, const GivenScan& given);
  // Reading of a state sensor (imu, gnss): ReadingSpec::bytes() and a flag for each value.
  void reading(size_t sensor, std::span<const std::byte> values, std::span<const uint8_t> valid);
  void image(size_t sensor, size_t image, std::span<const std::byte> pixels);
  void pose(const Pose2& pose) { pose_ = pose; }                         // world frame
  void velocity(const Twist2& twist) { twist_ = twist; }                 // body frame
  void odometry(const Pose2& pose) { vehicle_state().odometry = pose; }  // since begin(), in any frame
  void attitude(double z, double pitch, double roll);         // m, rad; positive pitch is nose down
  void steer(double left, double right);                      // rad, of the front wheels
  void goal(Vec2 goal);                                       // world frame; plans a path if a term needs one
  void value(size_t key, std::span<const std::byte> values);  // of an observation of `given`

  // Runs one control period: fills the observations. Throws Error if a path is needed and there is no goal.
  void observe();
  ObservationBuffer& observation(size_t key) { return rows_.at(key); }  // one row

  // Returns the command of the vehicle's controller for an action in [-1, 1], and its names and units.
  std::vector<double> command(std::span<const float> action);
  std::vector<std::string> command_names() const, command_units() const;

 private:
  // Replaces an observation by the caller's values.
  void take_over(const std::string& key);
  void refuse_privileged() const;
  AgentState& agent() { return env_.agents[index_]; }
  VehicleState& vehicle_state() { return taken_.vehicles[vehicle()]; }
  const Model& world() const { return *task_->models.front(); }
  const VehicleModel& vehicle_model() const { return world().vehicles[vehicle()]; }
  const SensorModel& checked_sensor(size_t index, SensorKind kind) const;
  // Updates the trackers that observations read.
  void follow();
  void write_rows();

  std::shared_ptr<GivenPictures> pictures_ = std::make_shared<GivenPictures>();
  std::unique_ptr<Task> task_;
  size_t index_;  // of the agent
  AgentTask* agent_task_;
  std::vector<ObservationSource> sources_;
  // Trackers that depend on the pose alone. The others measure values that a robot does not have.
  std::vector<const Tracker*> followed_;
  std::vector<GivenFrame*> given_;  // by observation; null if its term computes it
  EnvState env_;
  SimState taken_;  // state with the readings so far
  std::vector<ObservationBuffer> rows_;
  Scratch scratch_;
  Pose2 pose_;
  Twist2 twist_;
  bool is_first_ = true, is_goal_set_ = false;
};

}  // namespace mvsim
