// Room of vehicles that joints hold together: Box2D needs their shapes only where they could touch something.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/geometry.h"
#include "model/model.h"
#include "sim/sim_state.h"

namespace mvsim {

// Box2D moves joined vehicles in every step, and most of its time goes into their shapes: it makes them anew
// in each control period and keeps the box of each in its tree. Shapes far from everything change no motion,
// so the solver leaves them out there. It adds them a metre and many steps before anything can be touched.
// The result has the same bits.
class RigRoom {
 public:
  RigRoom(const Model& model, const SimState& state);

  // Whether the room can be known: only vehicles move, by their wheels and by revolute joints, and all else
  // stands.
  bool is_known() const { return is_known_; }
  // Measures the room around the vehicles as they stand.
  void measure(const SimState& state);
  // Whether the room is far larger than a step in which no point of a vehicle goes farther than `way`, m.
  bool is_wide_for(double way) const;
  // Longest way of a point of a vehicle between two states of its body, m.
  double way_of(size_t vehicle, const BodyState& before, const BodyState& after) const;
  // Takes the longest way of a vehicle in a step off the room.
  void use(double way) { room_ -= way; }

 private:
  struct Box {
    Vec2 center, half;  // m
  };
  static Box box_of(std::span<const Vec2> points);
  static Box placed(const Box& box, const Pose2& pose);
  static double gap(const Box& a, const Box& b);

  const Model& model_;
  bool is_known_ = false;
  std::vector<Box> vehicles_, statics_;               // body frame; world frame
  std::vector<std::pair<size_t, size_t>> strangers_;  // vehicles that no joint connects
  std::vector<Box> now_;                              // scratch, by vehicle
  double room_ = 0;                                   // m that each vehicle can still go
};

}  // namespace mvsim
