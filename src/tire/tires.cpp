#include "tire/tires.h"

#include <array>

namespace mvsim {

std::span<const TireModel* const> tire_models() {
  static const std::array kModels{
      &default_tire(),
      &wardiagnemma_tire(),
      &ellipse_tire(),
      &vti_tire(),
  };
  return kModels;
}

}  // namespace mvsim
