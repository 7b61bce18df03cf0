// Traction of the vehicle-terrain interface (friction class `vti`), and its surfaces.
#pragma once

#include <iterator>
#include <string_view>

#include "base/geometry.h"

namespace mvsim {

// The surfaces of the vehicle-terrain interface (friction class `vti`) and their names.

// Rigid ones first; the order is that of the names and of GroundPatch::surface.
enum class Surface { kDry, kWet, kSnow, kIce, kSand, kClay };

inline constexpr std::string_view kSurfaceNames[] = {"dry", "wet", "snow", "ice", "sand", "clay"};
inline constexpr int kSurfaceCount = static_cast<int>(std::size(kSurfaceNames));

// The index of a surface of that name, -1 where there is none.
constexpr int surface_index(std::string_view name) {
  for (int i = 0; i < kSurfaceCount; ++i)
    if (kSurfaceNames[i] == name) return i;
  return -1;
}

constexpr bool is_soil(Surface surface) {
  return surface == Surface::kSand || surface == Surface::kClay;
}

// Traction of a tire on rigid ground, sand and clay: the corrected forms of MAVS's vehicle-terrain interface.
// Pure functions; SI units; forces as shares of the load unless said otherwise.

// A tire and the ground that it stands on.
struct TireContact {
  double load = 0;            // N
  double deflection = 0;      // m
  double section_height = 0;  // m
  double width = 0;           // m, of the section
  double diameter = 0;        // m, undeflected
  double cone_index = 0;      // Pa, strength of a soil; without meaning on rigid ground
};

// B, C, D, E of a magic formula; D is a friction coefficient.
struct MagicFormula {
  double stiffness, shape, peak, curvature;

  double at(double slip) const;
};

// Returns the magic formula of a rigid surface: dry, wet, snow or ice.
MagicFormula rigid_formula(Surface surface);

struct Traction {
  double gross = 0;       // what the shaft's torque is balanced with; odd in the slip ratio
  double resistance = 0;  // motion resistance of the soil, >= 0
  double peak = 0;        // the largest |gross|, and of the lateral force
};

Traction traction(Surface surface, const TireContact& contact, double slip);

// Crolla's lateral curve, in [0, 1), odd. `crossover`: rad.
double crolla(double slip_angle, double crossover);

// Returns the share of the lateral force that a longitudinal force leaves on the friction ellipse, in [0, 1].
double ellipse_rest(double gross, double peak);

// Net force on the vehicle in the wheel's frame, N. `motion`: direction of travel, from -1 (backward) through
// 0 (at rest, no motion resistance) to 1.
Vec2 corrected_force(Surface surface, const TireContact& contact, double slip, double slip_angle,
                     double crossover, double motion);

}  // namespace mvsim
