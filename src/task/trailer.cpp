// A robot's trailer, and the terms of the angle of the hitch: an observation, a reward and a termination, all
// of class `hitch`.
#include "task/trailer.h"

#include <cmath>

#include "task/make_term.h"

namespace mvsim {

std::optional<size_t> trailer_of(const Model& model, size_t vehicle) {
  const std::vector<size_t> joined = model.joined_vehicles(vehicle);
  return joined.size() == 1 ? std::optional(joined.front()) : std::nullopt;
}

size_t need_trailer(const TermReader& reader, std::string_view attribute, const Model& model,
                    size_t vehicle) {
  if (const std::optional<size_t> trailer = trailer_of(model, vehicle)) return *trailer;
  const size_t count = model.joined_vehicles(vehicle).size();
  reader.fail(attribute, "the vehicle '" + model.vehicles[vehicle].name + "' is joined to " +
                             std::to_string(count) + " vehicles, expected one, its trailer");
}

double hitch_angle(const Simulation& simulation, size_t vehicle, size_t trailer) {
  const Model& m = simulation.model();
  const auto yaw = [&](size_t v) { return body_pose(simulation, m.vehicles[v].body).yaw; };
  return wrap_to_pi(yaw(trailer) - yaw(vehicle));
}

// Cosine and sine of the angle.
class HitchObservation final : public ObservationOf<float> {
 public:
  HitchObservation(const TermReader& reader, const TaskContext& context)
      : vehicle_(context.vehicle), trailer_(need_trailer(reader, "class", context.model, context.vehicle)) {}
  std::vector<Interval> bounds() const override { return {symmetric(1), symmetric(1)}; }
  void write(EnvState& env, AgentState&, Scratch&, float* out) const override {
    const Rotation2 r(hitch_angle(env.simulation, vehicle_, trailer_));
    out[0] = static_cast<float>(r.c);
    out[1] = static_cast<float>(r.s);
  }

 private:
  size_t vehicle_, trailer_;
};
template std::unique_ptr<const Observation> term<HitchObservation>(TermReader&, TaskContext&);

// Square of the angle, rad2.
class HitchReward final : public Reward {
 public:
  HitchReward(const TermReader& reader, const TaskContext& context)
      : vehicle_(context.vehicle), trailer_(need_trailer(reader, "class", context.model, context.vehicle)) {}
  double value(const EnvState& env, const AgentState&) const override {
    const double angle = hitch_angle(env.simulation, vehicle_, trailer_);
    return angle * angle;
  }

 private:
  size_t vehicle_, trailer_;
};
template std::unique_ptr<const Reward> term<HitchReward>(TermReader&, TaskContext&);

// Ends when the angle is beyond `max` (degrees in XML) to either side: the rig jackknifes.
class HitchTermination final : public Termination {
 public:
  HitchTermination(TermReader& reader, TaskContext& context)
      : vehicle_(context.vehicle),
        trailer_(need_trailer(reader, "class", context.model, context.vehicle)),
        max_(kDegree * reader.required_number("max", {kPositive.min, 180})) {}
  bool holds(const EnvState& env, const AgentState&) const override {
    return std::fabs(hitch_angle(env.simulation, vehicle_, trailer_)) > max_;
  }
  Verdict verdict() const override { return Verdict::kFailure; }

 private:
  size_t vehicle_, trailer_;
  double max_;
};
template std::unique_ptr<const Termination> term<HitchTermination>(TermReader&, TaskContext&);

}  // namespace mvsim
