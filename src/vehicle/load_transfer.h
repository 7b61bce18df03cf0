// How the chassis weight of a vehicle rests on its wheels while forces at the ground push it: quasi-static,
// by the balance of moments about the centre of mass. Pure; SI units, vehicle frame.
#pragma once

#include <span>

#include "vehicle/wheel.h"

namespace mvsim {

struct LoadBalance {
  double chassis_weight = 0;  // N across the ground: what the loads sum to
  double gravity = 0;         // m/s2 across the ground
  Vec2 center{};              // m, centre of mass of the whole vehicle
  Vec2 moment{};              // N m: force of the ground on the vehicle times height of the centre of mass
};

// Sets WheelState::load. Loads vary linearly over the wheels' positions, as under a stiff chassis on equal
// springs; wheels in a line carry no moment across it. A wheel that would be pulled down carries nothing, and
// the others in proportion less.
void balance_loads(const LoadBalance& balance, std::span<const WheelModel> wheels,
                   std::span<WheelState> states);

}  // namespace mvsim
