// Parameters of a Model: names, scalars of elements, imperfections of robots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "model/compile_parts.h"
#include "model/model.h"
#include "worldfile/tags.h"

namespace mvsim {

// The scalars of an element that an environment may randomise, as parameters of the Model.

// In the order of their rows; all of them must have values. Returns the index of the first.
template <typename Spec>
size_t add_tag_params(Model& model, const std::string& prefix, Tags<Spec> tags, const Spec& spec) {
  std::vector<ParamInfo> table;
  std::vector<double> values;
  table.reserve(tags.size());
  values.reserve(tags.size());
  for (const Tag<Spec>& tag : tags)
    if (tag.is_randomised) {
      table.push_back(tag.range);
      table.back().min = std::min(tag.range.min, tag.also.value_or(tag.range.min));
      values.push_back(number_of(tag, spec));
    }
  return add_params(model, prefix, table, values);
}

// Parameters by the names that callers give them: paths with `*`, values in the units of `mvsim-gym
// parameters` (degrees for angles, the index of a choice).

// "found 'x', which is no parameter of the simulation, did you mean..., there are ...".
std::string unknown_parameter(const Model& model, const std::string& pattern);

// Indices of the parameters that a caller may set while the simulation runs. Throws Error if the pattern
// matches none, or the scale of a block of the static geometry.
std::vector<size_t> settable_params(const Model& model, const std::string& pattern);

// Converts a value from the caller's units to the stored ones. Throws Error if it is out of range, not
// finite, or no integer where one is expected.
double stored_value(const ParamEntry& entry, double given);
double given_value(const ParamEntry& entry, double stored);

// Returns the value that a name stands for. The parameters that match `pattern` must be choices of names;
// throws Error.
double choice_value(const Model& model, const std::string& pattern, const std::string& name);

// Imperfections of real robots that their descriptions leave out, as parameters that an environment
// randomises: shifted loads, wheels of another size, late and noisy actions, pushes, sensors that sit askew,
// are late or drop out. Nominally none of them has an effect.

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
