// Imperfections of real robots that their descriptions leave out, as parameters that an environment
// randomises: shifted loads, wheels of another size, late and noisy actions, pushes, sensors that sit askew,
// are late or drop out. Nominally none of them has an effect.
#pragma once

#include <cstddef>

#include "model/model.h"

namespace mvsim {

// From VehicleModel::transfer_params on; behind them the radius of each wheel (m) that its tire rolls on.
// Lidars, Box2D, controllers and odometry keep the nominal sizes and places of wheels.
enum TransferParam {
  kLoadX,         // m, how far the centre of mass of the chassis lies from the middle of its outline
  kLoadY,         // m
  kTrack,         // factor of the y of all wheels
  kSteerOffset,   // rad, added to the steering angle of an action
  kSteerRate,     // factor of the action's `steer_rate`
  kActionDelay,   // s
  kActionNoise,   // standard deviation of what is added to each value of an action in [-1, 1]
  kPushShortest,  // s between two pushes, at least
  kPushLongest,   // at most; 0: none
  kPushX,         // m/s, a push changes the velocity by up to this, to either side
  kPushY,         // m/s
  kPushYaw,       // rad/s
  kTransferParamCount
};

// From SensorModel::transfer_params on; a sensor that sees how its vehicle moves has the first two only.
enum SensorTransferParam {
  kReadingDelay,    // s
  kReadingDropout,  // probability that a ray returns nothing, or that a whole reading is that before
  kMountX,          // m, vehicle frame: how far the sensor sits from where the world puts it
  kMountY,          // m
  kMountYaw,        // rad
  kSensorTransferParamCount
};

// Once its wheels and its tire are known.
void add_transfer_params(VehicleModel& vehicle, Model& model);
// `owner` is the beginning of the names of its parameters, e.g. "vehicle:r1/".
void add_transfer_params(const std::string& owner, SensorModel& sensor, Model& model);

}  // namespace mvsim
