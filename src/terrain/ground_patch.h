// Properties of the ground under one wheel.
#pragma once

namespace mvsim {

// Values of the property regions there. Where a value is negative, the tire's own value is used.
struct GroundPatch {
  double mu = -1;          // friction coefficient
  double c_rr = -1;        // rolling resistance coefficient
  int surface = -1;        // index of a MAVS surface (tire/vti)
  double cone_index = -1;  // Pa, strength of the soil
};

}  // namespace mvsim
