#include "task/make_term.h"

#include <algorithm>

#include "base/text.h"

namespace mvsim {
namespace {

enum class Quantity { kSlipRatio, kSlipAngle, kLoad, kTorque, kForce, kSpin, kSteer };

struct QuantityName {
  std::string_view name;
  Quantity quantity;
};

constexpr QuantityName kQuantities[] = {
    {"slip_ratio", Quantity::kSlipRatio}, {"slip_angle", Quantity::kSlipAngle}, {"load", Quantity::kLoad},
    {"torque", Quantity::kTorque},        {"force", Quantity::kForce},          {"spin", Quantity::kSpin},
    {"steer", Quantity::kSteer},
};

}  // namespace

// Quantities of wheels, in the order of the attribute; each has the wheels in index order.
class WheelsObservation final : public ObservationOf<float> {
 public:
  WheelsObservation(TermReader& reader, TaskContext& context)
      : vehicle_(context.vehicle), wheels_(context.model.vehicles[context.vehicle].wheels.size()) {
    read_quantities(reader);
    for (const Quantity q : quantities_) add_bounds(q, reader, context);
  }

  std::vector<Interval> bounds() const override { return bounds_; }

  void write(EnvState& env, AgentState&, Scratch&, float* out) const override {
    const Simulation& simulation = env.simulation;
    const std::span<const WheelState> states = wheel_states(simulation, vehicle_);
    const auto each = [&](const auto& value) {
      for (size_t i = 0; i < wheels_; ++i) *out++ = static_cast<float>(value(i));
    };
    for (const Quantity q : quantities_) {
      switch (q) {
        case Quantity::kSlipRatio:
          each([&](size_t i) { return wheel_slip(simulation, vehicle_, i).ratio; });
          break;
        case Quantity::kSlipAngle:
          each([&](size_t i) { return wheel_slip(simulation, vehicle_, i).angle; });
          break;
        case Quantity::kLoad:
          each([&](size_t i) { return states[i].load; });
          break;
        case Quantity::kTorque:
          each([&](size_t i) { return states[i].torque; });
          break;
        case Quantity::kForce:
          each([&](size_t i) { return states[i].force_x; });
          each([&](size_t i) { return states[i].force_y; });
          break;
        case Quantity::kSpin:
          each([&](size_t i) { return states[i].spin; });
          break;
        case Quantity::kSteer:
          each([&](size_t i) { return states[i].steer; });
          break;
      }
    }
  }

 private:
  void read_quantities(TermReader& reader) {
    const std::vector<std::string> known = names_in(kQuantities);
    const std::string expected = listed(known);
    for (const std::string& word : split_words(reader.text("values", "slip_ratio slip_angle"))) {
      const auto found = std::find(known.begin(), known.end(), word);
      if (found == known.end())
        reader.fail("values",
                    "found '" + word + "', expected some of " + expected + did_you_mean(word, known));
      const Quantity q = kQuantities[found - known.begin()].quantity;
      if (std::find(quantities_.begin(), quantities_.end(), q) != quantities_.end())
        reader.fail("values", "found '" + word + "' twice, expected it once");
      quantities_.push_back(q);
    }
    if (quantities_.empty()) reader.fail("values", "found nothing, expected some of " + expected);
  }

  void add_bounds(Quantity q, TermReader& reader, const TaskContext& context) {
    const VehicleModel& vehicle = context.model.vehicles[vehicle_];
    switch (q) {
      case Quantity::kSlipRatio:
        return add(symmetric(reader.number("max_slip_ratio", 1, kPositive)));
      case Quantity::kSlipAngle:
        return add(symmetric(kPi / 2));
      case Quantity::kLoad:
        return add({0, limit(reader, "max_load", weight(context.model, vehicle))});
      case Quantity::kTorque:
        return add(symmetric(limit(reader, "max_torque", max_torque(context.model, vehicle))));
      case Quantity::kForce: {
        const Interval force = symmetric(limit(reader, "max_force", weight(context.model, vehicle)));
        add(force);
        return add(force);
      }
      case Quantity::kSpin:
        return add(symmetric(limit(reader, "max_spin", max_spin(context, vehicle))));
      case Quantity::kSteer:
        return add(symmetric(kDegree * reader.number("max_steer", 90, kPositive)));
    }
  }

  void add(Interval bound) { bounds_.insert(bounds_.end(), wheels_, bound); }

  // Returns a bound. Its default exists only if it can be computed from another value.
  static double limit(TermReader& reader, const char* name, double fallback) {
    return fallback > 0 ? reader.number(name, fallback, kPositive) : reader.required_number(name, kPositive);
  }

  // Returns the weight of chassis and wheels, N: all of it on one wheel, with a friction coefficient of 1.
  static double weight(const Model& model, const VehicleModel& vehicle) {
    double mass = model.params[vehicle.body_params + kChassisMass].nominal;
    for (const WheelModel& w : vehicle.wheels) mass += w.mass;
    return mass * model.gravity;
  }

  // Returns the controller's limit, N m; 0: it has no limit of that name.
  static double max_torque(const Model& model, const VehicleModel& vehicle) {
    const std::span<const ParamInfo> table = vehicle.controller->params();
    for (size_t i = 0; i < table.size(); ++i)
      if (table[i].name == "max_torque") return model.params[vehicle.controller_params + i].nominal;
    return 0;
  }

  // Returns 1.5 times the largest commanded wheel speed, rad/s; 0: the action is no twist.
  static double max_spin(const TaskContext& context, const VehicleModel& vehicle) {
    double max = 0;
    for (const WheelModel& w : vehicle.wheels)
      max = std::max(max, (context.vx_max + context.omega_max * norm(w.position)) / w.radius);
    return 1.5 * max;
  }

  size_t vehicle_;
  size_t wheels_;
  std::vector<Quantity> quantities_;
  std::vector<Interval> bounds_;
};
template std::unique_ptr<const Observation> term<WheelsObservation>(TermReader&, TaskContext&);

}  // namespace mvsim
