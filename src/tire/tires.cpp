#include "tire/tires.h"

#include <array>

namespace mvsim {

std::span<const TireModel* const> tire_models() {
  static const auto kModels = std::to_array<const TireModel*>({
      &default_tire(),
      &wardiagnemma_tire(),
      &ellipse_tire(),
      &vti_tire(),
  });
  return kModels;
}

}  // namespace mvsim
