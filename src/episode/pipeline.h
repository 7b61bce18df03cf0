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

#include "episode/pipeline_sources.h"
#include "task/env_spec.h"
#include "task/observation_spec.h"

namespace mvsim {

class Pipeline {
 public:
  // Makes the pipeline of one agent. `given` has the keys of observations whose values the caller gives
  // instead. Randomised imperfections are left out, since a real robot has its own. Throws WorldFileError,
  // and Error for an observation that is not available on a robot.
  Pipeline(const EnvSpec& spec, const EnvLoadOptions& options, size_t agent,
           const std::vector<std::string>& given);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  std::shared_ptr<const Model> model() const;
  size_t vehicle() const;  // in Model::vehicles
  const std::vector<std::string>& warnings() const;
  double control_period() const;  // s
  bool has_goal() const;
  double goal_radius() const;  // m, of the termination if there is one
  // Whether the environment randomises the delay of the sensor's readings, or leaves some out.
  bool may_be_late(size_t sensor) const;
  const std::vector<ObservationSource>& sources() const;
  const std::vector<ObservationSpec>& observations() const;
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
  void pose(const Pose2& pose) { pose_ = pose; }              // world frame
  void velocity(const Twist2& twist) { twist_ = twist; }      // body frame
  void odometry(const Pose2& pose);                           // since begin(), in any frame
  void attitude(double z, double pitch, double roll);         // m, rad; positive pitch is nose down
  void steer(double left, double right);                      // rad, of the front wheels
  void goal(Vec2 goal);                                       // world frame; plans a path if a term needs one
  void value(size_t key, std::span<const std::byte> values);  // of an observation of `given`

  // Runs one control period: fills the observations. Throws Error if a path is needed and there is no goal.
  void observe();
  ObservationBuffer& observation(size_t key);  // one row

  // Returns the command of the vehicle's controller for an action in [-1, 1], and its names and units.
  std::vector<double> command(std::span<const float> action);
  std::vector<std::string> command_names() const, command_units() const;

 private:
  struct Impl;

  std::unique_ptr<Impl> impl_;
  Pose2 pose_;
  Twist2 twist_;
};

}  // namespace mvsim
