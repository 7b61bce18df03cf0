#include "tire/tire_model.h"

namespace mvsim {

// The registered models: one line each. Here and not in a function, where `class` would declare a local one.
static constexpr const TireModel& (*kRegistered[])() = {
    registered<TireModel, class DefaultTire>, registered<TireModel, class WardIagnemmaTire>,
    registered<TireModel, class EllipseTire>, registered<TireModel, class VtiTire>,
    registered<TireModel, class SkidTire>,
};

std::span<const TireModel* const> tire_models() {
  static const auto kModels = objects_of(kRegistered);
  return kModels;
}

}  // namespace mvsim
