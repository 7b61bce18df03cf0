// Inputs of a vehicle's tires. Most follow from parameters alone and are kept from step to step until these
// change. This cache changes no value.
#pragma once

#include <span>
#include <vector>

#include "sim/rotation_memo.h"
#include "sim/sim_state.h"
#include "tire/tire_model.h"

namespace mvsim {

struct WheelInput {
  Vec2 position;       // m, vehicle frame, at the present track
  double weight = 0;   // N, of its share of the chassis and the wheel itself
  TireInput tire;      // its masses, load on level ground and sizes are set; the rest is of the last step
  RotationMemo yaw{};  // of its steering
};

class WheelInputs {
 public:
  std::span<WheelInput> of(const Model& m, const SimState& s, size_t vehicle) {
    if (!known_) make(m, s, vehicle);
    return inputs_;
  }
  void forget() { known_ = false; }  // after a change of parameters

 private:
  void make(const Model& m, const SimState& s, size_t vehicle);

  bool known_ = false;
  std::vector<WheelInput> inputs_;  // by wheel of the vehicle
};

}  // namespace mvsim
