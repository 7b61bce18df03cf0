#include <array>

#include "tire/tire_model.h"

namespace mvsim {

std::span<const TireModel* const> tire_models() {
  static const auto kModels = std::to_array<const TireModel*>({
      &tire_model<class DefaultTire>(),
      &tire_model<class WardIagnemmaTire>(),
      &tire_model<class EllipseTire>(),
      &tire_model<class VtiTire>(),
  });
  return kModels;
}

}  // namespace mvsim
