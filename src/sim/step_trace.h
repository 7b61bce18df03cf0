// What a step did inside of a Simulation, for logs: filled only while one is linked, and no part of the
// state.
#pragma once

#include <functional>
#include <vector>

#include "tire/tire_model.h"

namespace mvsim {

class Simulation;

struct TireStep {
  TireInput in;
  TireOutput out;
};

// Belongs to whoever listens; linked by Simulation::set_trace. One thread at a time, the simulation's.
struct StepTrace {
  std::vector<TireStep> tires;                   // of the last step, by a Simulation's wheels
  std::vector<std::vector<double>> controllers;  // by vehicle: values of Controller::log_names()
  // Called at the end of every step, with the time at its start; may throw.
  std::function<void(const Simulation& simulation, double start)> after_step;
};

// A link stays with its object: copies and moves of a Simulation do not carry it.
class TraceLink {
 public:
  TraceLink() = default;
  TraceLink(const TraceLink&) {}
  TraceLink(TraceLink&&) noexcept {}
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): there is nothing to assign
  TraceLink& operator=(const TraceLink&) { return *this; }
  TraceLink& operator=(TraceLink&&) noexcept { return *this; }
  ~TraceLink() = default;

  void set(StepTrace* trace) { trace_ = trace; }
  explicit operator bool() const { return trace_ != nullptr; }
  StepTrace* operator->() const { return trace_; }

 private:
  StepTrace* trace_ = nullptr;
};

}  // namespace mvsim
