// Masses and inertias of bodies with the roundings of Box2D, which sums up a body's mass fixture by fixture.
#pragma once

#include <span>

#include "base/geometry.h"
#include "model/model.h"
#include "sim/body_state.h"

namespace mvsim {

// Mass properties about the body origin.
struct MassProperties {
  double mass = 0;  // kg
  Vec2 center;
  double inertia = 0;  // kg m2 about the body origin
};

MassProperties vehicle_mass(const VehicleModel& vehicle,
                            std::span<const double> params);  // chassis and wheels
MassProperties block_mass(const BlockModel& block, std::span<const double> params);

BodyInertia vehicle_inertia(const VehicleModel& vehicle, std::span<const double> params);
BodyInertia block_inertia(const BlockModel& block, std::span<const double> params);

}  // namespace mvsim
