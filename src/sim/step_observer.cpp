#include "sim/step_observer.h"

#include "model/model.h"

namespace mvsim {

void StepObservers::add(StepObserver& observer, const Model& model) {
  list_.push_back(&observer);
  if (details_) return;
  details_ = std::make_unique<StepDetails>();
  details_->tires.resize(model.wheel_count);
  for (const VehicleModel& v : model.vehicles)
    details_->controllers.emplace_back(v.controller->log_names().size());
}

}  // namespace mvsim
