#include "episode/pipeline.h"

#include <algorithm>
#include <cmath>

#include "episode/episode.h"
#include "episode/observe.h"
#include "model/transfer_params.h"
#include "sensor/view_sensor.h"
#include "task/track/localization.h"
#include "vehicle/car.h"
#include "views/view_moment.h"

namespace mvsim {
namespace {

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

// Returns the spec with one world, since obstacles are not used, and without errors of localization, since a
// real robot has its own.
EnvSpec spec_for_readings(EnvSpec spec) {
  spec.variants = 1;
  std::erase_if(spec.trackers, [](const TermSpec& term) { return term.params.tag == kLocalizationTag; });
  read_from_state(spec);
  return spec;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

struct Pipeline::Impl {
  Impl(const EnvSpec& spec, const EnvLoadOptions& options, size_t agent_index)
      : task(compile_task(spec_for_readings(spec), options, show(pictures))),
        index(agent_index),
        agent_task(&checked_agent(*task, index)),
        sources(observation_sources(*task, spec, index)),
        given(sources.size(), nullptr),
        env(make_env(*task, 0)),
        taken(env.simulation.state()) {
    for (const ObservationSpec& row : task->observation_specs) rows.emplace_back(row, 1);
    for (const auto& tracker : task->trackers)
      if (tracker->for_estimates()) followed.push_back(tracker.get());
  }

  static AgentTask& checked_agent(Task& task, size_t agent) {
    if (agent >= task.agents.size())
      throw Error("agent: found " + std::to_string(agent) + ", expected one of the environment's " +
                  std::to_string(task.agents.size()) + " agents, from 0 on");
    return task.agents[agent];
  }

  // Replaces an observation by the caller's values.
  void take_over(const std::string& key) {
    const auto found = std::ranges::find(sources, key, &ObservationSource::key);
    if (found == sources.end()) {
      std::vector<std::string> known;
      for (const ObservationSource& source : sources) known.push_back(source.key);
      throw Error("given: found '" + key + "', expected some of the observations " + listed(known) +
                  did_you_mean(key, known));
    }
    const auto k = static_cast<size_t>(found - sources.begin());
    if (given[k]) return;
    auto frame = std::make_unique<GivenFrame>(std::move(agent_task->observations[k].term));
    given[k] = frame.get();
    agent_task->observations[k].term = std::move(frame);
    found->needs = {"given"};
    found->privileged.clear();
  }

  void refuse_privileged() const {
    std::string text;
    for (const ObservationSource& source : sources)
      if (!source.privileged.empty())
        text += (text.empty() ? "" : "; ") + source.key + " (" + source.privileged + "): give its values, " +
                source.instead;
    if (!text.empty())
      throw Error("privileged observations, which no robot has: " + text +
                  ". Name those that you give in 'given', and call value() for each");
  }

  const Model& model() const { return *task->models.front(); }
  AgentState& agent() { return env.agents[index]; }
  VehicleState& vehicle() { return taken.vehicles[agent_task->vehicle]; }
  const Controller& controller() const { return *model().vehicles[agent_task->vehicle].controller; }

  const SensorModel& sensor(size_t sensor_index, SensorKind kind) const {
    if (sensor_index >= model().sensors.size())
      throw Error("sensor: found the index " + std::to_string(sensor_index) + ", expected one below " +
                  std::to_string(model().sensors.size()));
    const SensorModel& found = model().sensors[sensor_index];
    if (found.sensor->kind() != kind)
      throw Error("sensor '" + found.name + "': found a sensor of class '" + std::string(found.class_name) +
                  "', expected one of another kind");
    return found;
  }

  // Updates the trackers that observations read.
  void follow(bool first) {
    if (first)
      for (size_t k = 0; k < env.agents.size(); ++k)
        env.agents[k].memory.assign(task->agents[k].memory_size, 0.0);
    const TrackerView view{env, agent(), agent_task->vehicle, task->substeps * task->substep,
                           agent().now.pose};
    for (const Tracker* const tracker : followed) {
      if (first)
        tracker->start(view);
      else
        tracker->measure(view);
    }
  }

  void write_rows(bool first) {
    const std::vector<ObservationSlot>& slots = agent_task->observations;
    std::vector<ObservationRow> each;
    for (size_t k = 0; k < slots.size(); ++k) {
      each.push_back({&env, &agent(), first, rows[k].row(0)});
      if (slots[k].is_picture())
        record_picture(slots[k], each.back());
      else
        write_observation(slots[k], each.back(), scratch);
    }
    draw_pictures(slots, each);
  }

  std::shared_ptr<GivenPictures> pictures = std::make_shared<GivenPictures>();
  std::unique_ptr<Task> task;
  size_t index;
  AgentTask* agent_task;
  std::vector<ObservationSource> sources;
  // Trackers that depend on the pose alone. The others measure values that a robot does not have.
  std::vector<const Tracker*> followed;
  std::vector<GivenFrame*> given;  // by observation; null if its term computes it
  EnvState env;
  SimState taken;  // state with the readings so far
  std::vector<ObservationBuffer> rows;
  Scratch scratch;
  bool is_first = true, is_goal_set = false;
};

Pipeline::Pipeline(const EnvSpec& spec, const EnvLoadOptions& options, size_t agent,
                   const std::vector<std::string>& given)
    : impl_(std::make_unique<Impl>(spec, options, agent)) {
  for (const std::string& key : given) impl_->take_over(key);
  impl_->refuse_privileged();
  begin();
}

Pipeline::~Pipeline() = default;

std::shared_ptr<const Model> Pipeline::model() const {
  return impl_->task->models.front();
}
size_t Pipeline::vehicle() const {
  return impl_->agent_task->vehicle;
}
const std::vector<std::string>& Pipeline::warnings() const {
  return impl_->task->warnings;
}
double Pipeline::control_period() const {
  return impl_->task->control_period;
}
bool Pipeline::has_goal() const {
  return impl_->agent_task->start_and_goal.has_goal();
}
double Pipeline::goal_radius() const {
  return impl_->agent_task->goal_radius;
}

bool Pipeline::may_be_late(size_t sensor) const {
  const Impl& m = *impl_;
  const size_t first = m.model().sensors.at(sensor).transfer_params;
  const auto draws = [&](const Randomization& random) {
    return std::ranges::any_of(random.params(), [&](size_t param) {
      return param == first + kReadingDelay || param == first + kReadingDropout;
    });
  };
  return std::ranges::any_of(m.task->randomizations, draws) ||
         std::ranges::any_of(m.task->level_randomizations, draws);
}

const std::vector<ObservationSource>& Pipeline::sources() const {
  return impl_->sources;
}
const std::vector<ObservationSpec>& Pipeline::observations() const {
  return impl_->task->observation_specs;
}
ObservationBuffer& Pipeline::observation(size_t key) {
  return impl_->rows.at(key);
}

std::vector<std::string> Pipeline::action_names() const {
  std::vector<std::string> names;
  for (const ActionComponent& c : impl_->agent_task->action_components) names.push_back(c.name);
  return names;
}
std::vector<double> Pipeline::action_low() const {
  std::vector<double> values;
  for (const ActionComponent& c : impl_->agent_task->action_components) values.push_back(c.low);
  return values;
}
std::vector<double> Pipeline::action_high() const {
  std::vector<double> values;
  for (const ActionComponent& c : impl_->agent_task->action_components) values.push_back(c.high);
  return values;
}

void Pipeline::begin() {
  Impl& m = *impl_;
  const Vec2 goal = m.agent().goal;
  const std::shared_ptr<const GoalField> field = m.agent().field;
  m.env.agents[m.index] = make_agent(*m.agent_task);
  m.agent().goal = goal;
  m.agent().field = field;
  m.env.simulation.reset(0, 0);
  m.taken = m.env.simulation.state();
  m.pictures->clear();
  m.env.started = true;
  m.env.steps = 0;
  m.is_first = true;
}

ScanFit Pipeline::scan(size_t sensor, const GivenScan& given) {
  Impl& m = *impl_;
  const SensorModel& model = m.sensor(sensor, SensorKind::kRay);
  const auto& lidar = static_cast<const RaySensor&>(*model.sensor);
  const Pose3& mount = lidar.mount();
  SensorState& state = m.taken.sensors[sensor];
  const ScanFit fit = fit_scan(given, {lidar.angles(), {mount.x, mount.y, mount.yaw}, lidar.reading().high},
                               reinterpret_cast<float*>(m.taken.readings.bytes.data() + model.bytes),
                               m.taken.reading_valid.data() + model.values);
  ++state.count;
  return fit;
}

void Pipeline::reading(size_t sensor, std::span<const std::byte> values, std::span<const uint8_t> valid) {
  Impl& m = *impl_;
  const SensorModel& model = m.sensor(sensor, SensorKind::kState);
  const ReadingSpec& spec = model.sensor->reading();
  if (values.size() != spec.bytes() || valid.size() != spec.size())
    throw Error("sensor '" + model.name + "': found a reading of " + std::to_string(values.size()) +
                " bytes, expected " + std::to_string(spec.bytes()));
  std::ranges::copy(values, m.taken.readings.bytes.begin() + static_cast<std::ptrdiff_t>(model.bytes));
  std::ranges::copy(valid, m.taken.reading_valid.begin() + static_cast<std::ptrdiff_t>(model.values));
  ++m.taken.sensors[sensor].count;
}

void Pipeline::image(size_t sensor, size_t image, std::span<const std::byte> pixels) {
  const SensorModel& model = impl_->sensor(sensor, SensorKind::kView);
  const auto& view = static_cast<const ViewSensor&>(*model.sensor);
  if (image >= view.images().size() || pixels.size() != view.images()[image].reading.bytes())
    throw Error("sensor '" + model.name + "': found an image of " + std::to_string(pixels.size()) +
                " bytes, expected one of its own size");
  impl_->pictures->put(sensor, image, pixels);
}

void Pipeline::odometry(const Pose2& pose) {
  impl_->vehicle().odometry = pose;
}

void Pipeline::attitude(double z, double pitch, double roll) {
  VehicleState& vehicle = impl_->vehicle();
  vehicle.z = z;
  vehicle.pitch = pitch;
  vehicle.roll = roll;
}

void Pipeline::steer(double left, double right) {
  Impl& m = *impl_;
  const VehicleModel& vehicle = m.model().vehicles[m.agent_task->vehicle];
  if (vehicle.wheels.size() <= std::max<size_t>(kFrontLeft, kFrontRight))
    throw Error("vehicle '" + vehicle.name + "': found " + std::to_string(vehicle.wheels.size()) +
                " wheels, expected one that steers");
  m.taken.wheels[vehicle.first_wheel + kFrontLeft].steer = left;
  m.taken.wheels[vehicle.first_wheel + kFrontRight].steer = right;
}

void Pipeline::goal(Vec2 goal) {
  Impl& m = *impl_;
  if (!has_goal()) throw Error("goal: the environment has no <goal>");
  set_goal(*m.task, m.env, m.index, goal);
  m.is_goal_set = true;
}

void Pipeline::value(size_t key, std::span<const std::byte> values) {
  Impl& m = *impl_;
  GivenFrame* const frame = m.given.at(key);
  if (!frame) throw Error(m.sources[key].key + ": it is no observation of 'given'");
  if (values.size() != frame->frame().size())
    throw Error(m.sources[key].key + ": found " + std::to_string(values.size()) + " bytes, expected " +
                std::to_string(frame->frame().size()));
  std::ranges::copy(values, frame->frame().begin());
}

void Pipeline::observe() {
  Impl& m = *impl_;
  if (has_goal() && !m.is_goal_set) throw Error("observe: expected a goal first");
  m.env.simulation = Simulation(m.task->models.front(), m.taken);
  if (!m.is_first) ++m.env.steps;
  measure_motion(*m.agent_task, pose_, twist_, m.agent());
  m.follow(m.is_first);
  m.write_rows(m.is_first);
  m.is_first = false;
}

std::vector<double> Pipeline::command(std::span<const float> action) {
  Impl& m = *impl_;
  const size_t size = m.agent_task->action_components.size();
  const bool is_finite = std::ranges::all_of(action, [](float value) { return std::isfinite(value); });
  if (action.size() != size || !is_finite)
    throw Error("action: found " + std::to_string(action.size()) + " values" +
                (is_finite ? "" : ", not all of them finite") + ", expected " + std::to_string(size) +
                " finite ones");
  std::swap(m.agent().previous_action, m.agent().action);
  take_action(m.agent(), action.data());
  apply_action(*m.agent_task, m.agent(), m.env.simulation);
  const VehicleState& sent = m.env.simulation.state().vehicles[m.agent_task->vehicle];
  std::ranges::copy(sent.command, m.vehicle().command);
  return {sent.command, sent.command + m.controller().command().size()};
}

std::vector<std::string> Pipeline::command_names() const {
  std::vector<std::string> names;
  for (const CommandInfo& c : impl_->controller().command()) names.emplace_back(c.name);
  return names;
}
std::vector<std::string> Pipeline::command_units() const {
  std::vector<std::string> units;
  for (const CommandInfo& c : impl_->controller().command()) units.emplace_back(c.unit);
  return units;
}

}  // namespace mvsim
