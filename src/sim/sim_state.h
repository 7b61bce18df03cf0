// State of one running world: all plain values that its future depends on, copied as a whole. Functions over
// it take the Model first; sim/simulation.h holds the two together.
//
// Poses are of reference points in the world frame, twists in the body frame unless named otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "model/model.h"
#include "sim/body_state.h"
#include "vehicle/wheel.h"

namespace mvsim {

// Kinds of things that a vehicle touches, as bits: walls are <walls>, maps, and ground too steep to climb.
enum Contact : uint8_t { kTouchesWall = 1, kTouchesBlock = 2, kTouchesVehicle = 4, kTouchesPerson = 8 };

// Pose in single precision (sim/move.h), for vehicles whose tires need it.
struct RoundedPose {
  float x = 0, y = 0, angle = 0;  // of the reference point
  float cx = 0, cy = 0;           // of the centre of mass
  float sin = 0, cos = 1;         // of the angle
  bool is_kept = false;           // it is in use
  bool is_known = false;          // false after a change from outside
};

struct VehicleState {
  double z = 0, pitch = 0, roll = 0;
  Vec2 acceleration;   // m/s2, world frame, of the reference point
  Vec2 last_velocity;  // m/s, world frame, after the last step; the next acceleration is the change from it
  Pose2 odometry;      // starts at identity
  Pose2 last_pose;     // pose after the previous step
  bool has_last_pose = false;
  bool in_collision = false;
  bool by_solver = false;  // Box2D moves it, until it is far from everything again
  uint8_t contacts = 0;    // bits of Contact, since they were last cleared
  RoundedPose rounded;
  double command[kMaxCommand] = {};
};

// The latest due reading of a sensor. Its values are in SimState::readings. A picture has no values there,
// but a recipe in SimState::memory from which it is drawn again (sim/sense.h).
struct SensorState {
  double last_due = 0;    // time of the step that produced the last reading
  double stamp = -1;      // simulated time that the reading describes; < 0: none yet
  uint32_t count = 0;     // readings so far
  bool scheduled = true;  // false: it is read by read_now() only, and its period has no effect
  RandomStream noise;
};

// Readings of all types, one behind the other (SensorModel::bytes).
struct ReadingBuffer {
  std::vector<std::byte> bytes;
};

struct SimState {
  uint64_t key = 0;
  uint32_t episode = 0;
  double time = 0;        // s
  double time_error = 0;  // s; rounding error of `time`
  double owed = 0;        // s; time requested of run() and not simulated yet; may be negative
  uint64_t step_count = 0;
  std::vector<double> params;          // by Model::params
  std::vector<BodyState> bodies;       // by Model::bodies
  std::vector<BodyInertia> inertias;   // the same, from params
  std::vector<double> free_distances;  // m that each vehicle may still travel before it can touch something
  bool in_contact = true;              // Box2D moves some body
  bool always_solver = false;
  Vec2 solver_origin;                   // origin of Box2D's positions, near the bodies that it moves
  std::vector<Pose2> intangible_poses;  // by block, used where BlockModel::body < 0
  std::vector<double> block_z;
  std::vector<VehicleState> vehicles;
  std::vector<WheelState> wheels;
  std::vector<double> memory;  // of controllers and sensors
  std::vector<SensorState> sensors;
  ReadingBuffer readings;
  std::vector<uint8_t> reading_valid;  // a flag for each value
};

// Input of queries. A Simulation converts to it.
struct SimView {
  const Model& model;
  const SimState& state;
};

struct Workspace;

}  // namespace mvsim
