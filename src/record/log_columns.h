// Columns of a vehicle's log: their names, and the values of one step. CSV files and
// Python share them.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "sim/step_observer.h"

namespace mvsim {

// Names of the columns of each table of a vehicle, time first. The tables are its pose, then each of its
// wheels.
using LogColumns = std::vector<std::vector<std::string>>;
LogColumns log_columns(const VehicleModel& vehicle);

// Compute the values of these columns after a step that began at `start`, s. Both replace the contents of
// `values`.
void pose_values(const Simulation& simulation, size_t vehicle, double start, std::vector<double>& values);
void wheel_values(const Simulation& simulation, size_t vehicle, size_t wheel, const StepDetails& details,
                  double start, std::vector<double>& values);

// Rows of the last step of all vehicles. Destroy it before the simulation; use it from one thread at a time.
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
