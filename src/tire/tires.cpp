#include <array>

#include "tire/tire_model.h"

namespace mvsim {

// The registered models: one line each. Here and not in a function, where `class` would declare a local one.
static constexpr const TireModel& (*kRegistered[])() = {
    tire_model<class DefaultTire>, tire_model<class WardIagnemmaTire>, tire_model<class EllipseTire>,
    tire_model<class VtiTire>,     tire_model<class SkidTire>,
};

std::span<const TireModel* const> tire_models() {
  static const auto kModels = [] {
    std::array<const TireModel*, std::size(kRegistered)> models;
    for (size_t i = 0; i < models.size(); ++i) models[i] = &kRegistered[i]();
    return models;
  }();
  return kModels;
}

}  // namespace mvsim
