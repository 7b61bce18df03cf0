// The state of one running world. Copyable (the copy continues bit for bit); not thread-safe: one thread at a
// time.
//
// reset -> [place, set_param] -> step... . Poses are of reference points in the world frame, twists in the
// body frame unless named otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/random.h"
#include "model/model.h"
#include "sim/body_state.h"
#include "sim/free_motion.h"
#include "sim/rigid_body_solver.h"
#include "sim/rotation_memo.h"
#include "sim/scene_buffer.h"
#include "sim/sense.h"
#include "sim/step_observer.h"
#include "sim/view_recipe.h"
#include "vehicle/wheel.h"

namespace mvsim {

// As tire/slip.h defines them.
struct WheelSlip {
  double ratio = 0;  // in [-1, 1]
  double angle = 0;  // rad, in [-pi/2, pi/2]
};

class Simulation {
 public:
  Simulation(std::shared_ptr<const Model> model, uint64_t key, uint32_t episode = 0);
  Simulation(const Simulation& other);
  Simulation& operator=(const Simulation& other);
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  const Model& model() const { return *model_; }

  // Back to the model's initial state with nominal parameters and the random streams of (key, episode).
  // Leaves no trace of what was before.
  void reset(uint64_t key, uint32_t episode);

  // -- changes between steps; each takes effect at the next step
  // At rest, z snapped to the ground; what is joined to it comes along as it stood at the start. Throws Error
  // if a joint ties one of them to a static block.
  void place_vehicle(size_t vehicle, const Pose2& pose);
  void place_block(size_t block, const Pose2& pose);
  void set_param(size_t index, double value);               // index into Model::params
  void set_twist(size_t vehicle, double vx, double omega);  // throws Error if the controller takes no twist
  void set_command(size_t vehicle,
                   std::span<const double> command);  // finite, size of the controller's command
  void set_sensor_scheduled(size_t sensor, bool scheduled);
  void clear_collision_flags();
  // Box2D for every step, also where nothing can be touched (for comparisons; survives reset).
  void set_always_solver(bool always);
  // Forgets what Box2D remembers of contacts beyond poses and velocities: the next step starts from the state
  // alone, so a copy made here continues bit for bit. Called at the start of every control period.
  void refill_solver();

  // Who looks at each step from now on; not owned, no part of the state: they stay with this object.
  void add_observer(StepObserver& observer) { observers_.add(observer, *model_); }
  void remove_observer(StepObserver& observer) { observers_.remove(observer); }

  // -- snapshots (sim/snapshot.h)
  // The whole state as bytes. Refills the solver, so that this simulation and one restored from the bytes
  // continue alike. Throws Error if the state is not finite.
  std::string snapshot();
  // Continues from a snapshot of the same world. Throws Error, and changes nothing, if the bytes are anything
  // else.
  void restore(std::string_view bytes);
  // The state alone, as part of a larger snapshot that is taken when a control period ends.
  void write(ArchiveWriter& archive) const;
  static Simulation read(std::shared_ptr<const Model> model, ArchiveReader& archive);
  size_t expected_bytes() const;  // of what write() writes, about

  void step() { step(model_->timestep); }
  void step(double dt);
  // Steps until `duration` has passed: whole time steps and a shorter last one (physics 4.1). What is too
  // short for a step, less than a thousandth of a time step, is carried to the next call. `after_step` may
  // throw to stop early; nothing is carried then.
  void run(double duration, const std::function<void()>& after_step = {});

  // -- state
  double time() const { return state_.time; }
  uint64_t step_count() const { return state_.step_count; }
  uint64_t key() const { return state_.key; }
  uint32_t episode() const { return state_.episode; }
  bool is_finite() const;
  Pose3 vehicle_pose(size_t vehicle) const;
  Twist2 vehicle_twist(size_t vehicle) const;        // body frame
  Twist2 vehicle_world_twist(size_t vehicle) const;  // world axes
  Twist2 vehicle_odometry_twist(size_t vehicle) const;
  const VehicleState& vehicle(size_t vehicle) const { return state_.vehicles.at(vehicle); }
  bool had_collision(size_t vehicle) const;  // since the last reset: it or a vehicle that is joined to it
  std::span<const WheelState> wheels(size_t vehicle) const;
  Vec2 wheel_velocity(size_t vehicle, size_t wheel) const;   // of its centre, m/s, vehicle frame
  WheelSlip wheel_slip(size_t vehicle, size_t wheel) const;  // of the present speeds
  Pose3 block_pose(size_t block) const;
  Twist2 block_world_twist(size_t block) const;
  // Yaw of body b less that of body a, 0 at the start; rad, not wrapped.
  double joint_angle(size_t joint) const;
  // World positions of the joint's anchors on body a and body b.
  std::array<Vec2, 2> joint_anchors(size_t joint) const;
  double param(size_t index) const { return state_.params.at(index); }
  std::span<const double> params() const { return state_.params; }
  const SensorState& sensor(size_t sensor) const { return state_.sensors.at(sensor); }
  std::span<const float> reading(size_t sensor) const { return float_reading_of(*model_, state_, sensor); }
  std::span<const uint8_t> reading_valid(size_t sensor) const {
    return reading_valid_of(*model_, state_, sensor);
  }
  // Of any type; empty for a picture, of which there is the recipe (sim/view_recipe.h).
  std::span<const std::byte> reading_bytes(size_t sensor) const {
    return reading_of(*model_, state_, sensor);
  }
  std::span<const double> view_recipe(size_t sensor) const { return view_recipe_of(*model_, state_, sensor); }
  const SimState& state() const { return state_; }
  // Outline in the world frame at its present size, counter-clockwise.
  Polygon block_outline(size_t block) const;

  // A fresh reading now, from the sensor's own noise stream: ReadingSpec::bytes() and flags; `valid` may be
  // null. Not stored.
  void read_now(size_t sensor, void* values, uint8_t* valid) {
    read_sensor(*model_, state_, scene_, sensor, static_cast<std::byte*>(values), valid);
  }
  // What draws a picture of now again (sim/view_recipe.h).
  void record_view(size_t sensor, double* recipe) { mvsim::record_view(*model_, state_, sensor, recipe); }

  // Distance (m) from a point to the nearest tangible thing (occupied cell, static shape, block, other
  // vehicle), at most `limit`. `except_vehicle`: -1 or a vehicle that does not count, nor what is joined to
  // it.
  double distance_to_obstacles(Vec2 point, double limit, int except_vehicle = -1) const;
  // The same from the chassis outline of a vehicle and of those joined to it.
  double clearance(size_t vehicle, double limit) const;
  // What may move and is tangible, but for `except_vehicle` (-1: none) and what is joined to it. The outlines
  // last until the next call of this object.
  std::vector<MovingShape> obstacles(int except_vehicle = -1) const;
  // Whether the chassis, a hundredth smaller all round, overlaps a tangible thing; what is joined does not
  // count.
  bool overlaps(size_t vehicle) const;
  // The same, `others` being those of obstacles(vehicle) that may be near enough.
  bool overlaps(size_t vehicle, std::span<const MovingShape> others) const;

 private:
  Simulation(std::shared_ptr<const Model> model, SimState state);

  void advance_clock(double dt);
  void reset_vehicle(size_t vehicle);
  void put_vehicle(size_t vehicle, const Pose2& pose);
  void place_joined(size_t vehicle, const Pose2& pose);
  double outline_clearance(size_t vehicle, const Polygon& outline, double limit,
                           std::span<const MovingShape> others) const;
  std::span<const MovingShape> shapes_around(size_t vehicle) const;
  void reset_block(size_t block);
  void update_inertia(size_t body);
  void forget_solver();
  void move_bodies(double dt);
  bool diverges(double dt);
  bool move_freely(double dt);
  void measure_free_distances();
  bool blocks_rest() const;
  void leave_contact();
  double distance_to_static(Vec2 point, double limit) const;
  double update_terrain(size_t vehicle);
  void find_tops_below(double height);
  double rest_on_ground(size_t vehicle);
  void snap_to_ground(size_t vehicle);
  void find_step_squares(size_t vehicle, double wheel_ground);
  GroundPatch ground_at(Vec2 point) const;
  Vec2 slope_of(size_t vehicle) const;
  void control_vehicle(size_t vehicle, double dt);
  BodyForce drive_vehicle(size_t vehicle, double dt);
  void update_loads(size_t vehicle);
  double gravity_across(size_t vehicle) const;
  double transfer_load(size_t vehicle);
  void observe_body(size_t vehicle, double dt);
  void integrate_wheels(size_t vehicle, double dt);
  Pose2 block_plane_pose(size_t block) const;
  Polygon vehicle_outline(size_t vehicle) const;
  BodyState placed_at(const Pose2& pose, size_t body) const;  // `pose`: world frame
  Pose2 pose_of(size_t body) const;                           // world frame
  int body_of(int vehicle) const;                             // -1 for -1

  SimState state_;
  std::shared_ptr<const Model> model_;
  // Box2D's copy of the bodies, made at the first step after a change and dropped by the next change.
  std::unique_ptr<RigidBodySolver> solver_;
  // scratch, no state
  std::vector<BodyForce> forces_;   // by vehicle
  std::vector<BodyState> moved_;    // by vehicle
  std::vector<RotationMemo> yaws_;  // by vehicle
  std::vector<PlacedTop> tops_;
  std::vector<StepSquare> step_squares_;
  mutable SceneBuffer scene_;
  StepObservers observers_;
};

}  // namespace mvsim
