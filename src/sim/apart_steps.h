// Steps of a vehicle near other things that it does not touch, made without Box2D.
#pragma once

#include <span>
#include <vector>

#include "base/geometry.h"
#include "sim/body_state.h"
#include "sim/measure.h"
#include "sim/move.h"
#include "sim/sim_state.h"

namespace mvsim {

// A vehicle near other things is Box2D's (sim/free_room.h): its contacts depend on the poses, the boxes and
// the pairs of the steps before. Until it touches something it moves as it does freely, to the bit. So steps
// in which it surely touches nothing are made without Box2D and recorded. Box2D makes up for them before a
// step in which the vehicle may touch something. In most control periods that step does not come, and the
// next period begins with a solver that is filled from the state alone.
class ApartSteps {
 public:
  // The state before a step and the force in it, from which Box2D can make it.
  struct Step {
    double dt = 0;  // s
    BodyForce force;
    BodyState body;
    RoundedPose rounded;
  };

  // Whether the vehicle is the only thing that moves. All else is done by Box2D at once.
  static bool are_possible(const Model& m);

  // Whether the vehicle surely touches nothing on its way from the present pose to `after`, which is one step
  // away. It keeps farther from everything than the collision threshold.
  bool has_room(const SimScene& sim, const BodyState& after);
  // Whether the vehicle may be far enough from everything to leave Box2D.
  bool may_leave(const Model& m, const SimState& s, Workspace& w);

  bool is_full() const { return steps_.size() >= kMost; }
  // `wheels`: of the vehicle, in this step. `origin`: of the solver.
  void add(const Step& step, std::span<const WheelState> wheels, Vec2 origin);
  // The steps that Box2D has not made, with the angles of all wheels in each. None are left here.
  struct Record {
    std::vector<Step> steps;
    std::vector<double> steers;  // rad, by step and wheel
    Vec2 origin;                 // of the solver
  };
  bool is_any() const { return !steps_.empty(); }
  Record take();

  // Box2D begins anew with the next step.
  void drop_steps();
  // After a change of the state from outside a step.
  void forget();

 private:
  static constexpr size_t kMost = 64;  // steps; to make up for more would take long

  // Longest way of a point of the vehicle from the pose of the latest look to that of `body`, m.
  double way_since_look(const SimScene& sim, const BodyState& body) const;
  void look(const SimScene& sim);
  bool hull_holds(std::span<const WheelState> wheels) const;
  void make_hull(const VehicleModel& v, std::span<const WheelState> wheels);

  std::vector<Step> steps_;
  std::vector<double> steers_;
  Vec2 origin_;
  // the latest look at the surroundings
  bool has_looked_ = false;
  Pose2 looked_at_;  // pose of the vehicle
  double room_ = 0;  // m that every point of the vehicle may go
  // A convex outline that holds chassis and wheels, vehicle frame. A wheel that was seen at two angles is in
  // it with all its angles.
  Polygon hull_;
  std::vector<double> steers_of_hull_;  // rad, by wheel
  std::vector<bool> wheel_turns_;
  // the latest look at the way to other things from the circle that holds the vehicle
  bool has_free_distance_ = false;
  Vec2 measured_at_;
  double free_distance_ = 0;  // m
};

}  // namespace mvsim
