#include "episode/pipeline.h"

#include <algorithm>
#include <cmath>

#include "episode/observe.h"
#include "model/transfer_params.h"
#include "sensor/view_sensor.h"
#include "task/track/localization.h"
#include "vehicle/car.h"

namespace mvsim {
namespace {

// Returns the spec with one world, since obstacles are not used, and without errors of localization, since a
// real robot has its own.
EnvSpec spec_for_readings(EnvSpec spec) {
  spec.variants = 1;
  std::erase_if(spec.trackers, [](const TermSpec& term) { return term.params.tag == kLocalizationTag; });
  read_from_state(spec);
  return spec;
}

AgentTask& checked_agent(Task& task, size_t agent) {
  if (agent >= task.agents.size())
    throw Error("agent: found " + std::to_string(agent) + ", expected one of the environment's " +
                std::to_string(task.agents.size()) + " agents, from 0 on");
  return task.agents[agent];
}

}  // namespace

Pipeline::Pipeline(const EnvSpec& spec, const EnvLoadOptions& options, size_t agent,
                   const std::vector<std::string>& given)
    : task_(compile_task(spec_for_readings(spec), options, show(pictures_))),
      index_(agent),
      agent_task_(&checked_agent(*task_, index_)),
      sources_(observation_sources(*task_, spec, index_)),
      given_(sources_.size(), nullptr),
      env_(make_env(*task_, 0)),
      taken_(env_.simulation.state()) {
  for (const ObservationSpec& row : task_->observation_specs) rows_.emplace_back(row, 1);
  for (const auto& tracker : task_->trackers)
    if (tracker->for_estimates()) followed_.push_back(tracker.get());
  for (const std::string& key : given) take_over(key);
  refuse_privileged();
  begin();
}

void Pipeline::take_over(const std::string& key) {
  const auto found = std::ranges::find(sources_, key, &ObservationSource::key);
  if (found == sources_.end()) {
    std::vector<std::string> known;
    for (const ObservationSource& source : sources_) known.push_back(source.key);
    throw Error("given: found '" + key + "', expected some of the observations " + listed(known) +
                did_you_mean(key, known));
  }
  const auto k = static_cast<size_t>(found - sources_.begin());
  if (given_[k]) return;
  auto frame = std::make_unique<GivenFrame>(std::move(agent_task_->observations[k].term));
  given_[k] = frame.get();
  agent_task_->observations[k].term = std::move(frame);
  found->needs = {"given"};
  found->privileged.clear();
}

void Pipeline::refuse_privileged() const {
  std::string text;
  for (const ObservationSource& source : sources_)
    if (!source.privileged.empty())
      text += (text.empty() ? "" : "; ") + source.key + " (" + source.privileged + "): give its values, " +
              source.instead;
  if (!text.empty())
    throw Error("privileged observations, which no robot has: " + text +
                ". Name those that you give in 'given', and call value() for each");
}

const SensorModel& Pipeline::checked_sensor(size_t index, SensorKind kind) const {
  if (index >= world().sensors.size())
    throw Error("sensor: found the index " + std::to_string(index) + ", expected one below " +
                std::to_string(world().sensors.size()));
  const SensorModel& found = world().sensors[index];
  if (found.sensor->kind() != kind)
    throw Error("sensor '" + found.name + "': found a sensor of class '" + std::string(found.class_name) +
                "', expected one of another kind");
  return found;
}

void Pipeline::follow() {
  if (is_first_)
    for (size_t k = 0; k < env_.agents.size(); ++k)
      env_.agents[k].memory.assign(task_->agents[k].memory_size, 0.0);
  const TrackerView view{env_, agent(), agent_task_->vehicle, task_->substeps * task_->substep,
                         agent().now.pose};
  for (const Tracker* const tracker : followed_) {
    if (is_first_)
      tracker->start(view);
    else
      tracker->measure(view);
  }
}

void Pipeline::write_rows() {
  const std::vector<ObservationSlot>& slots = agent_task_->observations;
  std::vector<ObservationRow> each;
  for (size_t k = 0; k < slots.size(); ++k) {
    each.push_back({&env_, &agent(), is_first_, rows_[k].row(0)});
    if (slots[k].is_picture())
      record_picture(slots[k], each.back());
    else
      write_observation(slots[k], each.back(), scratch_);
  }
  draw_pictures(slots, each);
}

bool Pipeline::may_be_late(size_t sensor) const {
  const size_t first = world().sensors.at(sensor).transfer_params;
  const auto draws = [&](const Randomization& random) {
    return std::ranges::any_of(random.params(), [&](size_t param) {
      return param == first + kReadingDelay || param == first + kReadingDropout;
    });
  };
  return std::ranges::any_of(task_->randomizations, draws) ||
         std::ranges::any_of(task_->level_randomizations, draws);
}

std::vector<std::string> Pipeline::action_names() const {
  return names_in(agent_task_->action_components);
}
std::vector<double> Pipeline::action_low() const {
  std::vector<double> values;
  for (const ActionComponent& c : agent_task_->action_components) values.push_back(c.low);
  return values;
}
std::vector<double> Pipeline::action_high() const {
  std::vector<double> values;
  for (const ActionComponent& c : agent_task_->action_components) values.push_back(c.high);
  return values;
}

void Pipeline::begin() {
  const Vec2 goal = agent().goal;
  const std::shared_ptr<const GoalField> field = agent().field;
  env_.agents[index_] = make_agent(*agent_task_);
  agent().goal = goal;
  agent().field = field;
  env_.simulation.reset(0, 0);
  taken_ = env_.simulation.state();
  pictures_->clear();
  env_.started = true;
  env_.steps = 0;
  is_first_ = true;
}

ScanFit Pipeline::scan(size_t sensor, const GivenScan& given) {
  const SensorModel& model = checked_sensor(sensor, SensorKind::kRay);
  const auto& lidar = static_cast<const RaySensor&>(*model.sensor);
  const Pose3& mount = lidar.mount();
  SensorState& state = taken_.sensors[sensor];
  const ScanFit fit = fit_scan(given, {lidar.angles(), {mount.x, mount.y, mount.yaw}, lidar.reading().high},
                               reinterpret_cast<float*>(taken_.readings.bytes.data() + model.bytes),
                               taken_.reading_valid.data() + model.values);
  ++state.count;
  return fit;
}

void Pipeline::reading(size_t sensor, std::span<const std::byte> values, std::span<const uint8_t> valid) {
  const SensorModel& model = checked_sensor(sensor, SensorKind::kState);
  const ReadingSpec& spec = model.sensor->reading();
  if (values.size() != spec.bytes() || valid.size() != spec.size())
    throw Error("sensor '" + model.name + "': found a reading of " + std::to_string(values.size()) +
                " bytes, expected " + std::to_string(spec.bytes()));
  std::ranges::copy(values, taken_.readings.bytes.begin() + static_cast<std::ptrdiff_t>(model.bytes));
  std::ranges::copy(valid, taken_.reading_valid.begin() + static_cast<std::ptrdiff_t>(model.values));
  ++taken_.sensors[sensor].count;
}

void Pipeline::image(size_t sensor, size_t image, std::span<const std::byte> pixels) {
  const SensorModel& model = checked_sensor(sensor, SensorKind::kView);
  const auto& view = static_cast<const ViewSensor&>(*model.sensor);
  if (image >= view.images().size() || pixels.size() != view.images()[image].reading.bytes())
    throw Error("sensor '" + model.name + "': found an image of " + std::to_string(pixels.size()) +
                " bytes, expected one of its own size");
  pictures_->put(sensor, image, pixels);
}

void Pipeline::attitude(double z, double pitch, double roll) {
  VehicleState& vehicle = vehicle_state();
  vehicle.z = z;
  vehicle.pitch = pitch;
  vehicle.roll = roll;
}

void Pipeline::steer(double left, double right) {
  const VehicleModel& vehicle = vehicle_model();
  if (vehicle.wheels.size() <= std::max<size_t>(kFrontLeft, kFrontRight))
    throw Error("vehicle '" + vehicle.name + "': found " + std::to_string(vehicle.wheels.size()) +
                " wheels, expected one that steers");
  taken_.wheels[vehicle.first_wheel + kFrontLeft].steer = left;
  taken_.wheels[vehicle.first_wheel + kFrontRight].steer = right;
}

void Pipeline::goal(Vec2 goal) {
  if (!has_goal()) throw Error("goal: the environment has no <goal>");
  set_goal(*task_, env_, index_, goal);
  is_goal_set_ = true;
}

void Pipeline::value(size_t key, std::span<const std::byte> values) {
  GivenFrame* const frame = given_.at(key);
  if (!frame) throw Error(sources_[key].key + ": it is no observation of 'given'");
  if (values.size() != frame->frame().size())
    throw Error(sources_[key].key + ": found " + std::to_string(values.size()) + " bytes, expected " +
                std::to_string(frame->frame().size()));
  std::ranges::copy(values, frame->frame().begin());
}

void Pipeline::observe() {
  if (has_goal() && !is_goal_set_) throw Error("observe: expected a goal first");
  env_.simulation = Simulation(task_->models.front(), taken_);
  if (!is_first_) ++env_.steps;
  measure_motion(*agent_task_, pose_, twist_, agent());
  follow();
  write_rows();
  is_first_ = false;
}

std::vector<double> Pipeline::command(std::span<const float> action) {
  const size_t size = agent_task_->action_components.size();
  const bool is_finite = std::ranges::all_of(action, [](float value) { return std::isfinite(value); });
  if (action.size() != size || !is_finite)
    throw Error("action: found " + std::to_string(action.size()) + " values" +
                (is_finite ? "" : ", not all of them finite") + ", expected " + std::to_string(size) +
                " finite ones");
  std::swap(agent().previous_action, agent().action);
  take_action(agent(), action.data());
  apply_action(*agent_task_, agent(), env_.simulation);
  const VehicleState& sent = env_.simulation.state().vehicles[agent_task_->vehicle];
  std::ranges::copy(sent.command, vehicle_state().command);
  return {sent.command, sent.command + vehicle_model().controller->command().size()};
}

std::vector<std::string> Pipeline::command_names() const {
  std::vector<std::string> names;
  for (const CommandInfo& c : vehicle_model().controller->command()) names.emplace_back(c.name);
  return names;
}
std::vector<std::string> Pipeline::command_units() const {
  std::vector<std::string> units;
  for (const CommandInfo& c : vehicle_model().controller->command()) units.emplace_back(c.unit);
  return units;
}

}  // namespace mvsim
