// What the CSV files of a vehicle hold, and others who tell the same of each step: names of columns, and a
// row's values.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "sim/step_observer.h"

namespace mvsim {

// Of each table of a vehicle, the time first: its pose, then each of its wheels.
using LogColumns = std::vector<std::vector<std::string>>;
LogColumns log_columns(const VehicleModel& vehicle);

// The values of these columns after a step that began at `start`, s; both replace what `values` holds.
void pose_values(const Simulation& simulation, size_t vehicle, double start, std::vector<double>& values);
void wheel_values(const Simulation& simulation, size_t vehicle, size_t wheel, const StepDetails& details,
                  double start, std::vector<double>& values);

// The rows of the last step of all vehicles. It ends before the simulation does; one thread at a time.
class StepLog final : public StepObserver {
 public:
  explicit StepLog(Simulation& simulation);
  ~StepLog() override;
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;

  LogColumns columns(size_t vehicle) const;
  // A table each, as `columns`; empty before the first step.
  const std::vector<std::vector<double>>& rows(size_t vehicle) const { return rows_.at(vehicle); }

  void after_step(const Simulation& simulation, const StepDetails& details, double start) override;

 private:
  Simulation& simulation_;
  std::vector<std::vector<std::vector<double>>> rows_;  // by vehicle and table
};

}  // namespace mvsim
