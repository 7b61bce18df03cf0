// Workspace of a simulation beside its state: the solver and scratch memory. It is no state: a copy starts
// empty and is filled again with the same bits.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/apart_steps.h"
#include "sim/body_state.h"
#include "sim/drive.h"
#include "sim/move.h"
#include "sim/rigid_body_solver.h"
#include "sim/scene_buffer.h"
#include "sim/stand.h"
#include "terrain/ground.h"
#include "vehicle/wheel.h"

namespace mvsim {

// Scratch memory of one vehicle.
struct VehicleWork {
  BodyForce force;  // of its tires in this step
  BodyState other;  // where its body was before the step; once it is put back, where it gets to freely
  RoundedPose other_rounded;  // as `other`, if VehicleState::rounded is kept
  double travel = 0;          // m, of its reference point in this step if it touches nothing
  RotationMemo yaw;
  LatestRotation rounded_yaw;  // of VehicleState::rounded
  SteerMemo steer;
  ServoMemo servo;
  WheelInputs wheels;
  std::optional<WheelStance> stance{};  // if its loads are transferred
  TiltMemo tilt;
  LevelGround level;
  NearTops tops;
  NearRegions regions;
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
    drop_solver();
    apart.forget();
    forget_levels();
    for (VehicleWork& vehicle : vehicles) {
      vehicle.regions.forget();
      vehicle.wheels.forget();
    }
    scene.begin_moment();
  }
  // Keeps the memory of Box2D's world.
  void drop_solver() {
    if (solver) spare_world = solver->give_up();
    solver.reset();
  }
  // Box2D's copy is to be filled from the state before its next step.
  void refill_solver() {
    solver_is_stale = true;
    apart.drop_steps();
  }
  // To a Model with so many vehicles.
  void fit(size_t count) {
    if (vehicles.size() != count) vehicles.resize(count);
  }
  void forget_levels() {
    for (VehicleWork& vehicle : vehicles) {
      vehicle.level = {};
      vehicle.tops.forget();
    }
  }
  // After a step in which blocks may have moved.
  void forget_movable_ground() {
    for (VehicleWork& vehicle : vehicles)
      if (vehicle.level.on_movable_blocks) vehicle.level.room = 0;
  }

  // Box2D's copy of the bodies, made at the first step after a change and dropped by the next change.
  std::unique_ptr<RigidBodySolver> solver;
  bool solver_is_stale = false;  // to be filled again before its next step
  SolverWorld spare_world;       // of an earlier solver, for the next one
  ApartSteps apart;
  SceneBuffer scene;
  std::vector<VehicleWork> vehicles;
  std::vector<BodyState> before;  // by moving body
  size_t placed_blocks = 0;       // by the caller since the last step
  // of the vehicle that is looked at, and of the step
  std::vector<PlacedTop> tops;
  std::vector<StepSquare> step_squares;
};

}  // namespace mvsim
