// What stands beside a state to step it and to look at it: the solver and scratch. No state: a copy starts
// empty, and whatever it forgets is made again with the same bits.
#pragma once

#include <memory>
#include <vector>

#include "sim/free_motion.h"
#include "sim/level_ground.h"
#include "sim/near_regions.h"
#include "sim/rigid_body_solver.h"
#include "sim/rotation_memo.h"
#include "sim/scene_buffer.h"
#include "sim/tilt.h"
#include "sim/wheel_inputs.h"
#include "terrain/ground.h"

namespace mvsim {

// Where a vehicle gets to in a step if it touches nothing, and how far that is.
struct FreeStep {
  BodyState body;
  double travel = 0;  // m, of the reference point
};

struct Workspace {
  Workspace() = default;
  Workspace(const Workspace&) {}
  Workspace& operator=(const Workspace& other) {
    if (this != &other) *this = Workspace();  // the other may belong to another Model
    return *this;
  }
  Workspace(Workspace&&) noexcept = default;
  Workspace& operator=(Workspace&&) noexcept = default;
  ~Workspace() = default;

  // After a change of the state from outside a step.
  void forget() {
    forget_contacts();
    scene.forget();
  }
  // After one that placed and resized no block, or none that the scene has not been told of.
  void forget_contacts() {
    solver.reset();
    forget_levels();
    for (NearRegions& near : regions) near.forget();
    for (WheelInputs& inputs : wheel_inputs) inputs.forget();
    scene.begin_moment();
  }
  // What has an entry a vehicle, or a wheel; of a Model with so many.
  void fit(size_t vehicles, size_t wheels) {
    if (fitted == vehicles) return;
    fitted = vehicles;
    forces.resize(vehicles);
    moved.resize(vehicles);
    wheel_yaws.resize(wheels);
    wheel_inputs.resize(vehicles);
    rotations.resize(vehicles);
    yaws.resize(vehicles);
    steers.resize(vehicles);
    tilts.resize(vehicles);
    levels.resize(vehicles);
    regions.resize(vehicles);
  }
  void forget_levels() {
    for (LevelGround& level : levels) level = {};
  }
  // After a step in which blocks may have moved.
  void forget_movable_ground() {
    for (LevelGround& level : levels)
      if (level.on_movable_blocks) level.room = 0;
  }

  // Box2D's copy of the bodies, made at the first step after a change and dropped by the next change.
  std::unique_ptr<RigidBodySolver> solver;
  bool solver_is_stale = false;  // to be filled again before its next step
  SceneBuffer scene;
  // by vehicle
  size_t fitted = 0;  // how many have an entry
  std::vector<BodyForce> forces;
  std::vector<FreeStep> moved;
  std::vector<BodyState> before;  // by body
  std::vector<BodyRotation> rotations;
  std::vector<RotationMemo> yaws;
  std::vector<SteerMemo> steers;
  std::vector<WheelInputs> wheel_inputs;
  std::vector<RotationMemo> wheel_yaws;  // by SimState::wheels
  std::vector<TiltMemo> tilts;
  std::vector<LevelGround> levels;
  std::vector<NearRegions> regions;
  // of the vehicle that is looked at, and of the step
  std::vector<PlacedTop> tops;
  std::vector<StepSquare> step_squares;
};

}  // namespace mvsim
