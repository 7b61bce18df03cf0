#include "sim/step_observer.h"

#include "model/model.h"

namespace mvsim {

void StepObservers::add(StepObserver& observer, const Model& model) {
  if (!observed_) {
    observed_ = std::make_unique<Observed>();
    observed_->details.tires.resize(model.wheel_count);
    for (const VehicleModel& v : model.vehicles)
      observed_->details.controllers.emplace_back(v.controller->log_names().size());
  }
  observed_->observers.push_back(&observer);
}

}  // namespace mvsim
