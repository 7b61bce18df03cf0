// One wheel that carries a mass along a straight line, for tests of a tire model.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tire/tire_model.h"

namespace mvsim::test {

inline const TireModel& tire_named(std::string_view name) {
  for (const TireModel* model : tire_models())
    if (model->name() == name) return *model;
  throw Error("no tire model of that name");
}
inline const TireModel& default_tire() {
  return tire_named("default");
}
inline const TireModel& wardiagnemma_tire() {
  return tire_named("wardiagnemma");
}
inline const TireModel& ellipse_tire() {
  return tire_named("ellipse");
}
inline const TireModel& vti_tire() {
  return tire_named("vti");
}

// Parameters by name, the others at their defaults.
inline std::vector<double> params_of(const TireModel& model,
                                     std::initializer_list<std::pair<std::string_view, double>> given = {}) {
  std::vector<double> out;
  for (const ParamInfo& info : model.params()) {
    out.push_back(info.fallback);
    for (const auto& [name, value] : given)
      if (name == info.name) out.back() = value;
  }
  return out;
}

struct TireRig {
  const TireModel& model;
  std::vector<double> params;
  TireInput wheel;  // its velocity and spin are the rig's state
  TireOutput last{};
  double distance = 0;  // m

  // A quarter of a light off-road vehicle.
  TireRig(const TireModel& tire, std::vector<double> p, double dt = 0.005)
      : model(tire), params(std::move(p)) {
    wheel.dt = dt;
    wheel.mass = wheel.effective_mass = 320;
    wheel.load = 320 * 9.81;
    wheel.radius = 0.33;
    wheel.width = 0.23;
    wheel.inertia = 0.5 * 35 * 0.33 * 0.33;
  }

  void roll_at(double speed) {
    wheel.velocity.x = speed;
    wheel.spin = speed / wheel.radius;
  }

  void step() {
    last = model.step(params.data(), wheel);
    wheel.spin = last.spin;
    wheel.velocity = wheel.velocity + wheel.dt / wheel.mass * (last.force + wheel.slope_force);
    distance += wheel.dt * wheel.velocity.x;
  }
  void run(double seconds) {
    for (int i = 0; i < static_cast<int>(seconds / wheel.dt + 0.5); ++i) step();
  }
};

}  // namespace mvsim::test
