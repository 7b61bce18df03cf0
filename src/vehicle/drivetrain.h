// Distribution of one engine's torque to four wheels. Open differentials split it by fixed shares, Torsen
// ones send more to the slower side.
#pragma once

#include <array>
#include <string_view>

namespace mvsim {

inline constexpr std::string_view kDrivetrainTypes[] = {"open_front",   "open_rear",   "open_4wd",
                                                        "torsen_front", "torsen_rear", "torsen_4wd"};
enum class DrivetrainType { kOpenFront, kOpenRear, kOpen4wd, kTorsenFront, kTorsenRear, kTorsen4wd };

// One differential. `split`: share of its first output (front, left) when both turn alike; `bias`: ratio of
// spins above which a Torsen shifts torque, >= 1.
struct Differential {
  double split = 0.5, bias = 1.5;
};

struct Drivetrain {
  DrivetrainType type = DrivetrainType::kTorsen4wd;
  Differential center, front, rear;
};

// Share of a Torsen differential's first output; the second gets the rest.
double torsen_share(const Differential& differential, double spin_1, double spin_2);

// Shares of the engine's torque by CarWheel; they sum to 1. `spins`: rad/s, by CarWheel.
std::array<double, 4> torque_shares(const Drivetrain& drivetrain, const std::array<double, 4>& spins);

}  // namespace mvsim
