// Interface for observers of the steps of a Simulation, such as logs (record/). Without observers it costs
// nothing.
#pragma once

#include <memory>
#include <vector>

#include "tire/tire_model.h"

namespace mvsim {

class Simulation;
struct Model;

struct TireStep {
  TireInput in;
  TireOutput out;
};

// Details of the last step that no state keeps; filled only while there are observers.
struct StepDetails {
  std::vector<TireStep> tires;                   // by SimState::wheels
  std::vector<std::vector<double>> controllers;  // by vehicle: values of Controller::log_names()
};

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // At the end of every step, on the simulation's thread, in the order in which the observers were added;
  // `start` is the time at the step's beginning, s. May throw: the step has been done.
  virtual void after_step(const Simulation& simulation, const StepDetails& details, double start) = 0;
};

// The observers of one Simulation object: no part of its state, so copies and moves of it do not carry them.
class StepObservers {
 public:
  StepObservers() = default;
  StepObservers(const StepObservers&) {}
  StepObservers(StepObservers&&) noexcept {}
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): there is nothing to assign
  StepObservers& operator=(const StepObservers&) { return *this; }
  StepObservers& operator=(StepObservers&&) noexcept { return *this; }
  ~StepObservers() = default;

  void add(StepObserver& observer, const Model& model);
  void remove(StepObserver& observer) {
    if (!observed_) return;
    std::erase(observed_->observers, &observer);
    if (observed_->observers.empty()) observed_.reset();
  }

  // Destination of a step's details, or null while there are no observers.
  StepDetails* details() const { return observed_ ? &observed_->details : nullptr; }
  void after_step(const Simulation& simulation, double start) const {
    for (StepObserver* observer : observed_->observers)
      observer->after_step(simulation, observed_->details, start);
  }

 private:
  struct Observed {
    std::vector<StepObserver*> observers;  // not owned
    StepDetails details;
  };
  std::unique_ptr<Observed> observed_;  // null: no observers
};

}  // namespace mvsim
