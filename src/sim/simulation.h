// One running world: a Model that it shares, a SimState that it owns, and the workspace to step it. Copyable
// (after refill_solver() the copy continues bit for bit); not thread-safe: one thread at a time.
//
// The order of calls is reset, place and set_param if needed, then step. state() has the state itself. Values
// that are computed from it come from the functions of sim/measure.h, on a SimView or a SimScene. A
// Simulation converts to both.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scene/marks.h"
#include "sim/measure.h"
#include "sim/place.h"
#include "sim/sense.h"
#include "sim/sim_state.h"
#include "sim/step_observer.h"
#include "sim/workspace.h"

namespace mvsim {

class Simulation {
 public:
  Simulation(std::shared_ptr<const Model> model, uint64_t key, uint32_t episode = 0);
  Simulation(std::shared_ptr<const Model> model, SimState state);  // of that model: see read_state()

  const Model& model() const { return *model_; }
  const SimState& state() const { return state_; }
  operator SimScene() const { return {{*model_, state_}, work_.scene}; }

  // Sets the model's initial state with nominal parameters and the random streams of (key, episode). Nothing
  // of the earlier state remains.
  void reset(uint64_t key, uint32_t episode) { reset_state(*model_, state_, work_, key, episode); }
  // Becomes a new simulation of `model`, which keeps only the memory of Box2D.
  void change_model(std::shared_ptr<const Model> model, uint64_t key, uint32_t episode);

  // -- changes between steps (sim/place.h); each takes effect at the next step
  void place_vehicle(size_t vehicle, const Pose2& pose) {
    mvsim::place_vehicle(*model_, state_, work_, vehicle, pose);
  }
  // The same without the bodies joined to it.
  void place_vehicle_alone(size_t vehicle, const Pose2& pose) {
    mvsim::place_vehicle_alone(*model_, state_, work_, vehicle, pose);
  }
  void place_block(size_t block, const Pose2& pose);
  // In the body frame (sim/place.h).
  void set_vehicle_twist(size_t vehicle, const Twist2& twist) {
    mvsim::set_vehicle_twist(*model_, state_, work_, vehicle, twist);
  }
  // In the body frame.
  void set_block_twist(size_t block, const Twist2& twist) {
    mvsim::set_block_twist(*model_, state_, work_, block, twist);
  }
  // Sets the velocity of a driven block from now on, in world axes.
  void drive_block(size_t block, const Twist2& world_twist) {
    mvsim::drive_block(*model_, state_, block, world_twist);
  }
  // In the body frame (sim/place.h).
  void push_vehicle(size_t vehicle, const Twist2& change) {
    mvsim::push_vehicle(*model_, state_, work_, vehicle, change);
  }
  // `index`: into Model::params.
  void set_param(size_t index, double value) { mvsim::set_param(*model_, state_, work_, index, value); }
  void set_twist(size_t vehicle, double vx, double omega);  // throws Error if the controller takes no twist
  void set_command(size_t vehicle,
                   std::span<const double> command);  // finite, size of the controller's command
  void set_sensor_scheduled(size_t sensor, bool scheduled) {
    state_.sensors.at(sensor).scheduled = scheduled;
  }
  void clear_collision_flags();
  void clear_collision_flags(size_t vehicle);
  // Makes every step with Box2D, even if nothing can be touched. For comparisons; reset() keeps it.
  void set_always_solver(bool always);
  // Drops Box2D's memory of contacts. The next step then starts from the state alone, so a copy that is made
  // now continues bit for bit. Call it at the start of every control period.
  void refill_solver() { work_.refill_solver(); }

  // Adds an observer of every later step. Observers are not owned and no part of the state: a copy has none.
  void add_observer(StepObserver& observer) { observers_.add(observer, *model_); }
  void remove_observer(StepObserver& observer) { observers_.remove(observer); }

  // Returns the whole state as bytes (sim/snapshot.h). Refills the solver, so that this simulation and one
  // restored from the bytes continue with the same results. Throws Error if the state is not finite.
  std::string snapshot();
  // Continues from a snapshot of the same world. Throws Error, and changes nothing, if the bytes are anything
  // else.
  void restore(std::string_view bytes);

  void step() { step(model_->timestep); }
  void step(double dt);
  // Steps until `duration` has passed: whole time steps and a shorter last one. A rest of
  // less than a thousandth of a time step is carried to the next call. `after_step` may throw to stop early;
  // nothing is carried then.
  void run(double duration, const std::function<void()>& after_step = {});

  // Returns the latest due reading of a sensor as float32. Throws Error if it has another type.
  std::span<const float> reading(size_t sensor) const { return float_reading_of({*model_, state_}, sensor); }
  std::span<const uint8_t> reading_valid(size_t sensor) const {
    return reading_valid_of({*model_, state_}, sensor);
  }
  // Takes a reading now, with noise from the sensor's own stream, and does not store it. Writes
  // ReadingSpec::bytes() bytes and a flag for each value; `valid` may be null.
  void read_now(size_t sensor, void* values, uint8_t* valid) {
    read_sensor(*model_, state_, work_.scene, sensor, static_cast<std::byte*>(values), valid);
  }
  // Draws whether a reading taken now is missing (sim/sense.h).
  bool drops_out(size_t sensor) { return mvsim::drops_out(*model_, state_, sensor); }
  // Records the numbers from which the current image can be drawn later (sim/sense.h).
  void record_view(size_t sensor, double* recipe) { mvsim::record_view(*model_, state_, sensor, recipe); }

 private:
  std::shared_ptr<const Model> model_;
  SimState state_;
  mutable Workspace work_;
  StepObservers observers_;
};

// A goal to be marked.
struct GoalMark {
  Vec2 center;
  double radius = 0.25;  // m
};

// Marks of a simulation for viewers: headings, joints, regions and the rays of lidars, as it stands now.
// Takes fresh readings of all lidars, from a copy: looking changes nothing.
Marks debug_marks(const Simulation& simulation, const std::optional<GoalMark>& goal = {});

}  // namespace mvsim
